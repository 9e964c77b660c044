"""Properties by name, and a user's own.

A property is a function of a `View` that returns the error as a sentence, or None. It is evaluated in every state
(`at_any_time`), or only in quiet ones (`once_quiet`):

    @once_quiet
    def all_served(view: View) -> str | None:
        waiting = [view.name(node) for node in view.up if view.agents[node].waits]
        return f"{waiting[0]} waits for ever" if waiting else None

*Delivery properties* judge every agent by commands and deliveries alone. *Table properties* judge readable tables: in
the broker family, in AODV, and in an agent with a method `ways(now)` that returns {destination: (next hop, ...)}; a
node's own number as a hop means that the destination is here.

A property without anything to look at holds of anything. So each says whether it `sees` something, and has a text for
never (`blind`).
"""

from __future__ import annotations

import inspect
import re
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from roambus.bridge.agents import AgentCode, Announce, silently
from roambus.bridge.code import import_file
from roambus.bridge.errors import UserError
from roambus.experiments.exploring.world import Published, World
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.aodv.routing_table import RoutingTable as AodvTable
from roambus.python_protocol.filters import NotificationId
from roambus.python_protocol.mft.messages import RoutingTable as MftTable
from roambus.python_protocol.settings import unknown
from roambus.python_protocol.vocabulary import NodeId, SimTime


@dataclass(frozen=True)
class View:
    """A network in one state. Agents are read-only: calling their handlers spoils the exploration."""

    agents: Mapping[NodeId, Agent]
    world: World
    now: SimTime
    """The time, comparable with the agents' moments."""
    names: tuple[str, ...] = ()
    probe: Callable[[], str | None] | None = None
    """Publish from every publisher in a copy of the network, and return the error."""
    can_probe: Callable[[], bool] = lambda: False
    """Whether a probe has a notification and an interested node."""

    @property
    def up(self) -> list[NodeId]:
        """The nodes that are not down."""
        return [node for node in self.agents if node not in self.world.down]

    def name(self, node: NodeId | None) -> str:
        """What the scenario calls a node."""
        return "nobody" if node is None else self.names[node] if node < len(self.names) else str(node)

    def called(self, identifier: NotificationId | str) -> str:
        """What the scenario calls a notification."""
        names: list[str] = []
        for one in self.world.published:
            names.append(one.name)
            if str(one.notification.id) == str(identifier):
                return one.name if names.count(one.name) == 1 else f"{one.name}#{names.count(one.name)}"
        return str(identifier)

    def published(self) -> tuple[Published, ...]:
        """The published notifications, with the nodes that wanted them then."""
        return self.world.published


Check = Callable[[View], str | None]


@dataclass(frozen=True)
class Property:
    """A check with its name, and when it is asked."""

    name: str
    check: Check
    at_any_time: bool = False
    history: bool = False
    """Whether it needs deliveries and acceptances, which then belong to the state."""
    lasts: bool = False
    """Whether it depends on the history alone and violations last: then it is judged in all states."""
    about: str = field(default="", compare=False)
    sees: Callable[[View], bool] = field(default=lambda _: True, compare=False)
    """Whether there is anything to look at."""
    blind: str = ""
    """What to say if there never was."""
    counts: bool = False
    """Whether it needs the number of messages, which then belongs to the state."""
    lives: bool = False
    """Whether it names what a world still lacks, so that endless runs are judged, too."""

    def evaluate(self, view: View) -> str | None:
        """Return the violation in a view; raises UserError if a check raises or returns anything else."""
        try:
            found: object = self.check(view)
        except (KeyboardInterrupt, UserError):
            raise
        except BaseException as error:
            own = inspect.getfile(self.check)
            place = [one for one in traceback.extract_tb(error.__traceback__) if one.filename == own][-1]
            where = f"at {Path(own).name}:{place.lineno}"
            raise UserError(f"property {self.name!r} raised {type(error).__name__}: {error} {where}") from error
        if found is None or (isinstance(found, str) and found):
            return found
        raise UserError(f"property {self.name!r} returned {found!r}: return what is wrong as a text, or None")

    @property
    def waits_for_quiet(self) -> bool:
        """Whether only quiet states can show it."""
        return not (self.at_any_time or self.lasts)


def once_quiet(check: Check) -> Property:
    """Makes a function a property of quiet states."""
    return _made(check, at_any_time=False)


def at_any_time(check: Check) -> Property:
    """Makes a function a property of all states."""
    return _made(check, at_any_time=True)


def _made(check: Any, *, at_any_time: bool) -> Property:
    name = check.__name__.replace("_", " ")
    return Property(name, check, at_any_time, history=True, about=(check.__doc__ or "").strip().split("\n")[0])


Ways = Mapping[NodeId, tuple[NodeId, ...]]
"""The next hops to each destination that is known."""


def ways_of(agent: Any, now: SimTime) -> Ways:
    """The next hops of an agent now; empty without a table by destinations."""
    table = _table(agent)
    own = getattr(agent, "ways", None) or getattr(table, "ways", None)
    if own is not None:
        found: Ways = own(now)
        return found
    return next((read(table, now) for kind, read in _READ.items() if isinstance(table, kind)), {})


def _table(agent: Any) -> Any:
    broker = getattr(agent, "broker", None)
    return getattr(agent if broker is None else broker, "table", None)


def _can_be_read(agent: Any) -> bool:
    """Whether there is a table by destinations."""
    table = _table(agent)
    return hasattr(agent, "ways") or hasattr(table, "ways") or isinstance(table, tuple(_READ))


def _of_aodv(table: AodvTable, now: SimTime) -> Ways:
    routes = ((route.destination, route) for route in table)
    return {one: (route.next_hop,) for one, route in routes if route.state.value == "valid" and route.lifetime > now}


def _of_mft(table: MftTable, _: SimTime) -> Ways:
    return {s: () if route.next_hop is None else (route.next_hop,) for s, route in table if route.filters}


_READ: dict[type[Any], Callable[[Any, SimTime], Ways]] = {
    AodvTable: _of_aodv,
    MftTable: _of_mft,
}


def filters_of(agent: Any, subscriber: NodeId) -> set[Any] | None:
    """A broker's filters for a subscriber; None for an agent without such a table."""
    broker = getattr(agent, "broker", None)
    filters = getattr(getattr(broker, "table", None), "filters", None)
    return None if filters is None else set(filters(subscriber))


def stored_by(agent: Any) -> set[NodeId]:
    """The subscribers for whom a broker stores something."""
    storage = getattr(getattr(agent, "broker", None), "storage", None)
    return set() if storage is None else set(storage.subscribers())


def nothing_lost(view: View) -> str | None:
    """What a node has accepted for a subscriber is delivered, or kept for it, unless it has unsubscribed."""
    kept = {subscriber for agent in view.agents.values() for subscriber in stored_by(agent)}
    for identifier, subscriber in sorted(view.world.taken):
        given = {str(one) for one in view.world.delivered[subscriber]}
        if identifier not in given and subscriber not in kept and _still_wants(view, identifier, subscriber):
            return f"{view.called(identifier)} was accepted for {view.name(subscriber)}, and is lost"
    return None


def _still_wants(view: View, identifier: str, subscriber: int) -> bool:
    """Whether its interest never ended: after an unsubscription nothing older is due."""
    return any(str(one.notification.id) == identifier and subscriber in one.wanted_by for one in view.published())


def everything_delivered(view: View) -> str | None:
    """Who has wanted a notification ever since it was published, and always was in reach of its publisher, has it."""
    for one in view.published():
        for subscriber in sorted(one.due):
            if one.notification.id not in view.world.delivered[subscriber]:
                return f"{view.called(one.notification.id)} was not delivered to {view.name(subscriber)}"
    return None


def everything_delivered_in_the_end(view: View) -> str | None:
    """Who wanted a notification when it was published, wants it still, and is in reach again, has it."""
    for one in view.published():
        for subscriber in sorted(one.wanted_by & view.world.part(one.notification.id.publisher)):
            has = one.notification.id in view.world.delivered[subscriber]
            if not has and view.world.wants(subscriber, one.notification):
                return f"{view.called(one.notification.id)} was not delivered to {view.name(subscriber)}"
    return None


def nothing_twice(view: View) -> str | None:
    """No notification is delivered to the same subscriber twice."""
    for node, given in enumerate(view.world.delivered):
        for identifier, count in Counter(given).items():
            if count > 1:
                return f"{view.called(identifier)} was delivered to {view.name(node)} {count} times"
    return None


def nothing_unwanted(view: View) -> str | None:
    """Only published content is delivered, and only to nodes that want it at that moment."""
    for node, identifier in sorted(view.world.altered, key=str):
        return f"{view.called(identifier)} was delivered to {view.name(node)} with other content than was published"
    for node, identifier in sorted(view.world.unwanted, key=str):
        why = "which does not want it" if view.world.is_published(identifier) else "and nobody has published it"
        return f"{view.called(identifier)} was delivered to {view.name(node)}, {why}"
    return None


def order_kept(view: View) -> str | None:
    """What one publisher has published comes in that order."""
    for node, given in enumerate(view.world.delivered):
        greatest: dict[NodeId, NotificationId] = {}
        for one in given:
            earlier = greatest.setdefault(one.publisher, one)
            if earlier.sequence > one.sequence:
                return f"{view.called(earlier)} came to {view.name(node)} before {view.called(one)}"
            greatest[one.publisher] = one
    return None


def probes_arrive(view: View) -> str | None:
    """What anybody publishes now comes once to everybody in reach who wants it, and to nobody else."""
    return None if view.probe is None else view.probe()


def no_loops(view: View) -> str | None:
    """No way to a destination comes back to a node that it has passed."""
    ways = {node: ways_of(view.agents[node], view.now) for node in view.up}
    for destination in sorted({one for known in ways.values() for one in known}):
        for node in ways:
            loop = _loop(node, destination, {one: known.get(destination, ()) for one, known in ways.items()})
            if loop:
                return f"the way to {view.name(destination)} is a loop: {' '.join(map(view.name, loop))}"
    return None


def _loop(start: NodeId, destination: NodeId, hops: dict[NodeId, tuple[NodeId, ...]]) -> list[NodeId]:
    """The way from a node back to it, if any; a broker's hop to itself means its own client."""
    waiting: list[list[NodeId]] = [[start]]
    while waiting:
        way = waiting.pop()
        if way[-1] == destination:
            continue
        for hop in hops.get(way[-1], ()):
            if hop == start and len(way) > 1:
                return [*way, hop]
            if hop not in way:
                waiting.append([*way, hop])
    return []


def tables_lead_to_subscribers(view: View) -> str | None:
    """Every broker that reaches a subscriber's broker has a way that ends at the subscriber."""
    for broker, subscriber in _pairs(view):
        if not _can_be_read(view.agents[broker]):
            continue
        way = [broker]
        while way[-1] != subscriber and len(way) <= view.world.nodes:
            hops = ways_of(view.agents[way[-1]], view.now).get(subscriber, ())
            if not hops or (hops[0] == way[-1] and hops[0] != subscriber):
                break
            way.append(hops[0])
        if way[-1] != subscriber or not _stands(way, view):
            told = " ".join(map(view.name, way))
            return f"the way of {view.name(broker)} to {view.name(subscriber)} is {told}, and does not lead there"
    return None


def _stands(way: list[NodeId], view: View) -> bool:
    return all(b in view.world.neighbours(a) for a, b in pairwise(way))


def nothing_stuck(view: View) -> str | None:
    """No broker keeps something for a subscriber that it can reach."""
    for broker, subscriber in _pairs(view):
        if subscriber in stored_by(view.agents[broker]):
            return f"{view.name(broker)} keeps something for {view.name(subscriber)}, which it can reach"
    return None


def no_phantoms(view: View) -> str | None:
    """No broker has filters for a subscriber within its reach other than those that it has."""
    for broker in _brokers(view):
        for subscriber in sorted(view.world.part(broker)):
            filters = filters_of(view.agents[broker], subscriber)
            if filters is None:
                continue
            wanted = set(view.world.wanted[subscriber])
            if filters - wanted:
                return f"{view.name(broker)} has a subscription of {view.name(subscriber)} that it has not"
            if wanted - filters:
                return f"{view.name(broker)} lacks a subscription of {view.name(subscriber)}"
    return None


def _brokers(view: View) -> list[NodeId]:
    return [node for node in view.up if getattr(view.agents[node], "broker", None) is not None]


def _pairs(view: View) -> Iterator[tuple[NodeId, NodeId]]:
    """Each broker with each subscriber that it can reach."""
    for broker in _brokers(view):
        for subscriber in sorted(view.world.part(broker)):
            if view.world.wanted[subscriber]:
                yield broker, subscriber


def _sees_ways(view: View) -> bool:
    return any(ways_of(agent, view.now) for agent in view.agents.values())


def _sees_filters(view: View) -> bool:
    return any(filters_of(agent, 0) is not None for agent in view.agents.values())


def _sees_storage(view: View) -> bool:
    return any(hasattr(getattr(agent, "broker", None), "storage") for agent in view.agents.values())


def _sees_deliveries(view: View) -> bool:
    return any(view.world.delivered)


def _sees_dues(view: View) -> bool:
    return any(one.wanted_by for one in view.published())


def _sees_elections(view: View) -> bool:
    return _elect(getattr(agent, "overlay", agent) for agent in view.agents.values())


def _elect(overlays: Iterable[Any]) -> bool:
    return any(hasattr(one, "is_leader") for one in overlays)


def one_leader_a_partition(view: View) -> str | None:
    """In each part of the network that hangs together one broker leads, and no more."""
    for part in {view.world.part(node) for node in view.up}:
        overlays = {node: getattr(view.agents[node], "overlay", view.agents[node]) for node in sorted(part)}
        leaders = [node for node, overlay in overlays.items() if getattr(overlay, "is_leader", False)]
        brokers = [node for node in part if getattr(view.agents[node], "broker", overlays[node]) is not None]
        if _elect(overlays.values()) and brokers and len(leaders) != 1:
            names = " and ".join(map(view.name, leaders)) or "nobody"
            return f"among {' '.join(map(view.name, sorted(part)))} {names} lead"
    return None


EVENTUALLY_QUIET = "eventually quiet"


def _never_asked(_: View) -> str | None:
    """Whatever happens, a time comes when nothing is under way (looked for in the graph of all states)."""
    return None


def _property(check: Check, sees: Callable[[View], bool], blind: str, name: str = "", **others: Any) -> Property:
    about = (check.__doc__ or "").strip().split("\n")[0]
    return Property(name or check.__name__.replace("_", " "), check, about=about, sees=sees, blind=blind, **others)


_NO_WAYS = "no agent had a way to anybody that can be read"
_NO_DELIVERY = "nothing was delivered"


PROPERTIES = {
    one.name: one
    for one in (
        _property(no_loops, _sees_ways, _NO_WAYS, at_any_time=True),
        _property(no_loops, _sees_ways, _NO_WAYS, "no lasting loops"),
        _property(tables_lead_to_subscribers, _sees_ways, _NO_WAYS),
        _property(nothing_stuck, _sees_storage, "no broker stores anything that can be read"),
        _property(no_phantoms, _sees_filters, "no broker has a table of filters by subscriber"),
        _property(nothing_lost, lambda view: bool(view.world.taken), "no node noted ROUTE", history=True),
        *(
            _property(check, _sees_dues, "nothing was published that anybody wanted", history=True, lives=True)
            for check in (everything_delivered, everything_delivered_in_the_end)
        ),
        *(
            _property(check, _sees_deliveries, _NO_DELIVERY, history=True, lasts=True)
            for check in (nothing_twice, nothing_unwanted, order_kept)
        ),
        _property(probes_arrive, lambda view: view.can_probe(), "nobody could publish what anybody wants"),
        _property(one_leader_a_partition, _sees_elections, "no agent has an election that can be read"),
        _property(_never_asked, lambda _: True, "", EVENTUALLY_QUIET),
    )
}
"""The properties that come with roambus, by name."""

_LOAD = re.compile(r"at most (\d{1,6}) messages a command")


def _load(name: str, most: int) -> Property:
    """So many messages, each broadcast counted once, and those that timers send not at all."""

    def check(view: View) -> str | None:
        world = view.world
        if world.messages <= most * world.commands:
            return None
        return f"{world.messages} messages were sent for {world.commands} commands"

    return Property(
        name, check, lasts=True, counts=True, sees=lambda view: bool(view.world.commands), blind=_NO_COMMAND
    )


_NO_COMMAND = "no command was given"


def find_property(text: str, folder: Path, announce: Announce = silently) -> Property:
    """The property of that name, or of `file.py:function` relative to `folder`; `announce` gets the file.

    Raises ValueError, UserError, OSError.
    """
    file, colon, name = text.rpartition(":")
    if not colon:
        if load := _LOAD.fullmatch(text):
            return _load(text, int(load[1]))
        if text not in PROPERTIES:
            raise ValueError(unknown("property", text, PROPERTIES))
        return PROPERTIES[text]
    if (folder / file).is_file():
        announce(AgentCode(f"property {text}", "", ((folder / file).resolve(),)).announce())
    found = getattr(import_file(f"property {text!r}", folder / file), name, None)
    if not isinstance(found, Property):
        raise UserError(f"property {text!r}: {name} is not a function under @once_quiet or @at_any_time")
    return found
