"""Properties by name, and a user's own.

A property is a function of a `View` that returns the error as a sentence, or None. It is evaluated in every state
(`at_any_time`), or only in quiet ones (`once_quiet`):

    @once_quiet
    def all_served(view: View) -> str | None:
        waiting = [view.name(node) for node in view.up if view.agents[node].waits]
        return f"{waiting[0]} waits for ever" if waiting else None

*Delivery properties* judge every agent by commands and deliveries alone. *Table properties* judge readable tables: a
broker's, and those with a method `ways(now)`, of the agent or of its `table`, that returns
{destination: (next hop, ...)}; a node's own number as a hop means that the destination is here.

A property without anything to look at holds of anything. So each says whether it `sees` something, and has a text for
never (`blind`).
"""

from __future__ import annotations

import inspect
import re
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from roambus.bridge.agents import AgentCode, Announce, silently
from roambus.bridge.system.errors import UserError
from roambus.bridge.system.imports import import_file
from roambus.extensions.exploring.world import Published, World
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.filters import NotificationId
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.settings import unknown
from roambus.python_protocol.simtime import SimTime


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
        ids = [str(publication.notification.id) for publication in self.world.published]
        if str(identifier) not in ids:
            return str(identifier)
        *before, name = [publication.name for publication in self.world.published][: ids.index(str(identifier)) + 1]
        return f"{name}#{before.count(name) + 1}" if name in before else name

    def published(self) -> tuple[Published, ...]:
        """The published notifications, with the nodes that wanted them then."""
        return self.world.published


Check = Callable[[View], str | None]


@dataclass(frozen=True, eq=False)
class Property:
    """A check with its name, and when it is asked."""

    name: str
    check: Check
    at_any_time: bool = False
    history: bool = False
    """Whether it needs deliveries and acceptances, which then belong to the state."""
    lasts: bool = False
    """Whether it depends on the history alone and violations last: then it is judged in all states."""
    sees: Callable[[View], object] = lambda _: True
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
            place = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == own][-1]
            where = f"at {Path(own).name}:{place.lineno}"
            raise UserError(f"property {self.name!r} raised {type(error).__name__}: {error} {where}") from error
        if found is None or (isinstance(found, str) and found):
            return found
        raise UserError(f"property {self.name!r} returned {found!r}: return what is wrong as a text, or None")

    @property
    def waits_for_quiet(self) -> bool:
        """Whether only quiet states can show it."""
        return not (self.at_any_time or self.lasts)


def _named(check: Any) -> str:
    return str(check.__name__).replace("_", " ")


def once_quiet(check: Check) -> Property:
    """Makes a function a property of quiet states."""
    return Property(_named(check), check, history=True)


def at_any_time(check: Check) -> Property:
    """Makes a function a property of all states."""
    return Property(_named(check), check, at_any_time=True, history=True)


# Tables

Ways = Mapping[NodeId, tuple[NodeId, ...]]
"""The next hops to each destination that is known."""


def _table(agent: Any) -> Any:
    broker = getattr(agent, "broker", None)
    return getattr(agent if broker is None else broker, "table", None)


def ways_of(agent: Any, now: SimTime) -> Ways:
    """The next hops of an agent now; empty without a table by destinations."""
    read = getattr(agent, "ways", None) or getattr(_table(agent), "ways", None)
    found: Ways = {} if read is None else read(now)
    return found


def filters_of(agent: Any, subscriber: NodeId) -> set[Any] | None:
    """A broker's filters for a subscriber; None for an agent without such a table."""
    filters = getattr(_table(agent), "filters", None) if getattr(agent, "broker", None) is not None else None
    return None if filters is None else set(filters(subscriber))


def stored_by(agent: Any) -> set[NodeId]:
    """The subscribers for whom a broker stores something."""
    storage = getattr(getattr(agent, "broker", None), "storage", None)
    return set() if storage is None else set(storage.subscribers())


def no_loops(view: View) -> str | None:
    """No way to a destination comes back to a node that it has passed."""
    ways = {node: ways_of(view.agents[node], view.now) for node in view.up}
    for destination in sorted({destination for known in ways.values() for destination in known}):
        hops = {node: known.get(destination, ()) for node, known in ways.items()}
        loop = next(filter(None, (_loop(node, destination, hops) for node in ways)), None)
        if loop:
            return f"the way to {view.name(destination)} is a loop: {' '.join(map(view.name, loop))}"
    return None


def _loop(start: NodeId, destination: NodeId, hops: dict[NodeId, tuple[NodeId, ...]]) -> list[NodeId]:
    """The way from a node back to it, if any; a broker's hop to itself means its own client."""
    waiting: list[list[NodeId]] = [[start]]
    while waiting:
        way = waiting.pop()
        following = hops.get(way[-1], ()) if way[-1] != destination else ()
        if len(way) > 1 and start in following:
            return [*way, start]
        waiting += ([*way, hop] for hop in following if hop not in way)
    return []


def nothing_stuck(view: View) -> str | None:
    """No broker keeps something for a subscriber that it can reach."""
    stuck = (pair for pair in _pairs(view) if pair[1] in stored_by(view.agents[pair[0]]))
    texts = (f"{view.name(node)} keeps something for {view.name(subscriber)}" for node, subscriber in stuck)
    return next((f"{text}, which it can reach" for text in texts), None)


def no_phantoms(view: View) -> str | None:
    """No broker has filters for a subscriber within its reach other than those that it has."""
    for broker in _brokers(view):
        for subscriber in sorted(view.world.part(broker)):
            filters, wanted = filters_of(view.agents[broker], subscriber), set(view.world.wanted[subscriber])
            if filters is not None and filters != wanted:
                entry = f"a subscription of {view.name(subscriber)}"
                return f"{view.name(broker)} " + (
                    f"has {entry} that it has not" if filters - wanted else f"lacks {entry}"
                )
    return None


def _brokers(view: View) -> list[NodeId]:
    return [node for node in view.up if getattr(view.agents[node], "broker", None) is not None]


def _pairs(view: View) -> Iterator[tuple[NodeId, NodeId]]:
    """Each broker with each subscriber that it can reach."""
    for broker in _brokers(view):
        yield from ((broker, node) for node in sorted(view.world.part(broker)) if view.world.wanted[node])


def one_leader_a_partition(view: View) -> str | None:
    """In each part of the network that hangs together one broker leads, and no more."""
    for part in {view.world.part(node) for node in view.up}:
        overlays = {node: _overlay(view.agents[node]) for node in sorted(part)}
        leaders = [node for node, overlay in overlays.items() if getattr(overlay, "is_leader", False)]
        brokers = [node for node in part if getattr(view.agents[node], "broker", overlays[node]) is not None]
        if brokers and len(leaders) != 1 and any(hasattr(overlay, "is_leader") for overlay in overlays.values()):
            names = " and ".join(map(view.name, leaders)) or "nobody"
            return f"among {' '.join(map(view.name, sorted(part)))} {names} lead"
    return None


def _overlay(agent: Any) -> Any:
    return getattr(agent, "overlay", agent)


# Deliveries


def nothing_lost(view: View) -> str | None:
    """What a node has accepted for a subscriber is delivered, or kept for it, unless its interest has ended."""
    kept = {subscriber for agent in view.agents.values() for subscriber in stored_by(agent)}
    wanting = {
        (str(publication.notification.id), node) for publication in view.published() for node in publication.wanted_by
    }
    for identifier, subscriber in sorted(view.world.taken & wanting):
        if subscriber not in kept and identifier not in map(str, view.world.delivered[subscriber]):
            return f"{view.called(identifier)} was accepted for {view.name(subscriber)}, and is lost"
    return None


def everything_delivered(view: View) -> str | None:
    """Every node subscribed and reachable since publication has received the notification."""
    return _undelivered(view, lambda publication: publication.due)


def everything_delivered_in_the_end(view: View) -> str | None:
    """Who wanted a notification when it was published, wants it still, and is in reach again, has it."""

    def due(publication: Published) -> Iterable[NodeId]:
        reached = view.world.part(publication.notification.id.publisher)
        return (node for node in publication.wanted_by & reached if view.world.wants(node, publication.notification))

    return _undelivered(view, due)


def _undelivered(view: View, due: Callable[[Published], Iterable[NodeId]]) -> str | None:
    every = (
        (publication.notification.id, node) for publication in view.published() for node in sorted(due(publication))
    )
    lacking = ((identifier, node) for identifier, node in every if identifier not in view.world.delivered[node])
    return next(
        (f"{view.called(identifier)} was not delivered to {view.name(node)}" for identifier, node in lacking), None
    )


def nothing_twice(view: View) -> str | None:
    """No notification is delivered to the same subscriber twice."""
    counted = Counter((node, identifier) for node, given in enumerate(view.world.delivered) for identifier in given)
    texts = (
        f"{view.called(identifier)} was delivered to {view.name(node)} {its} times"
        for (node, identifier), its in counted.items()
        if its > 1
    )
    return next(texts, None)


def nothing_unwanted(view: View) -> str | None:
    """Only published content is delivered, and only to nodes that want it at that moment."""
    wrong = sorted(view.world.unwanted, key=str)
    return next(
        (f"{view.called(identifier)} was delivered to {view.name(node)}{why}" for node, identifier, why in wrong), None
    )


def order_kept(view: View) -> str | None:
    """What one publisher has published comes in that order."""
    for node, given in enumerate(view.world.delivered):
        greatest: dict[NodeId, NotificationId] = {}
        for identifier in given:
            earlier = greatest.setdefault(identifier.publisher, identifier)
            if earlier.sequence > identifier.sequence:
                return f"{view.called(earlier)} came to {view.name(node)} before {view.called(identifier)}"
            greatest[identifier.publisher] = identifier
    return None


EVENTUALLY_QUIET = "eventually quiet"
_GROUPS: tuple[tuple[str, Callable[[View], object], dict[str, Any], dict[str, Check]], ...] = (
    (
        "no agent had a way to anybody that can be read",
        lambda view: any(ways_of(agent, view.now) for agent in view.agents.values()),
        {},
        {"no loops": no_loops},
    ),
    (
        "no broker stores anything that can be read",
        lambda view: any(hasattr(getattr(agent, "broker", None), "storage") for agent in view.agents.values()),
        {},
        {"nothing stuck": nothing_stuck},
    ),
    (
        "no broker has a table of filters by subscriber",
        lambda view: any(filters_of(agent, 0) is not None for agent in view.agents.values()),
        {},
        {"no phantoms": no_phantoms},
    ),
    ("no node noted ROUTE", lambda view: view.world.taken, {"history": True}, {"nothing lost": nothing_lost}),
    (
        "nothing was published that anybody wanted",
        lambda view: any(publication.wanted_by for publication in view.published()),
        {"history": True, "lives": True},
        {
            "everything delivered": everything_delivered,
            "everything delivered in the end": everything_delivered_in_the_end,
        },
    ),
    (
        "nothing was delivered",
        lambda view: any(view.world.delivered),
        {"history": True, "lasts": True},
        {"nothing twice": nothing_twice, "nothing unwanted": nothing_unwanted, "order kept": order_kept},
    ),
    (
        "nobody could publish what anybody wants",
        lambda view: view.can_probe(),
        {},
        {"probes arrive": lambda view: None if view.probe is None else view.probe()},
    ),
    (
        "no agent has an election that can be read",
        lambda view: any(hasattr(_overlay(agent), "is_leader") for agent in view.agents.values()),
        {},
        {"one leader a partition": one_leader_a_partition},
    ),
    ("", lambda _: True, {}, {EVENTUALLY_QUIET: lambda _: None}),  # looked for in the graph of all states
)
"""What to say if there was nothing to look at, whether there is, flags, and properties."""

PROPERTIES = {
    name: Property(name, check, at_any_time=name == "no loops", sees=sees, blind=blind, **flags)
    for blind, sees, flags, its in _GROUPS
    for name, check in its.items()
}
"""The properties that come with roambus, by name."""


def _load(name: str, most: int) -> Property:
    """The number of messages; broadcasts count once, messages sent by timers do not."""

    def check(view: View) -> str | None:
        messages, commands = view.world.messages, view.world.commands
        return f"{messages} messages were sent for {commands} commands" if messages > most * commands else None

    said = "no command was given"
    return Property(name, check, lasts=True, counts=True, sees=lambda view: view.world.commands, blind=said)


def find_property(text: str, folder: Path, announce: Announce = silently) -> Property:
    """The property of that name, or of `file.py:function` relative to `folder`; `announce` gets the file.

    Raises ValueError, UserError, OSError.
    """
    file, colon, name = text.rpartition(":")
    if not colon:
        load = re.fullmatch(r"at most (\d{1,6}) messages a command", text)
        if load is None and text not in PROPERTIES:
            raise ValueError(unknown("property", text, PROPERTIES))
        return PROPERTIES[text] if load is None else _load(text, int(load[1]))
    if (folder / file).is_file():
        announcement = AgentCode(f"property {text}", "", ((folder / file).resolve(),)).announce()
        announce(announcement.replace("runs agent ", "runs ", 1))
    found = getattr(import_file(f"property {text!r}", folder / file), name, None)
    if not isinstance(found, Property):
        raise UserError(f"property {text!r}: {name} is not a function under @once_quiet or @at_any_time")
    return found
