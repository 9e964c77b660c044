"""What a command does: how it changes the world, and which nodes are told of it, as the host of a run would.

The order is that of a run at one instant (`bridge.host.event_loop`): a fault is told first, then what links have lost,
then new places in a given tree, then the application's command.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from roambus.bridge.scenario.happenings import FaultKind
from roambus.bridge.transcript.commands import Apply, Command, Fail, Move, PublishEvent, Relink
from roambus.experiments.exploring.world import Published, World
from roambus.python_protocol.events import Crashed, Event, Publish, Recovered, Subscribe
from roambus.python_protocol.filters import Notification, NotificationId
from roambus.python_protocol.roles import NodeId


class Told(NamedTuple):
    """What is told to whom after a command: first `before` what links have lost is told, then `after` it."""

    world: World
    before: tuple[tuple[NodeId, Event], ...] = ()
    after: tuple[tuple[NodeId, Event], ...] = ()


def do(command: Command, world: World, brokers: frozenset[NodeId]) -> Told:
    """What follows at once from a command that is possible."""
    match command:
        case Apply(node, event):
            wanted = world.wanted[node]
            given = frozenset({event.filter})
            now = wanted | given if isinstance(event, Subscribe) else wanted - given
            return Told(world.with_wanted(node, now), after=((node, event),))
        case PublishEvent():
            return _publish(command, world)
        case Move(node, parent):
            return _retold(world, world.with_parent(node, parent), brokers)
        case Relink(a, b, up):
            return Told(world.with_link(a, b, up=up))
        case Fail():
            return _fail(command, world, brokers)
    raise ValueError(f"{command} is nothing that an explorer does")


def _publish(command: PublishEvent, world: World) -> Told:
    node = command.node
    notification = Notification(NotificationId(node, world.numbers[node]), command.attributes)
    wanting = [one for one in range(world.nodes) if any(it.matches(notification) for it in world.wanted[one])]
    numbers = (*world.numbers[:node], world.numbers[node] + 1, *world.numbers[node + 1 :])
    published = (*world.published, Published(notification, command.name, frozenset(wanting)))
    event: Any = Publish(notification, tuple(wanting))
    return Told(replace(world, numbers=numbers, published=published), after=((node, event),))


def _fail(fail: Fail, world: World, brokers: frozenset[NodeId]) -> Told:
    crashes = fail.kind is FaultKind.CRASH
    down = world.down | {fail.node} if crashes else world.down - {fail.node}
    told = _retold(world, replace(world, down=down), brokers)
    event: Any = Crashed() if crashes else Recovered()
    return told._replace(before=((fail.node, event),))


def _retold(old: World, new: World, brokers: frozenset[NodeId]) -> Told:
    return Told(new, after=tuple(_places(old, new, brokers)) if new.parents else ())


def _places(old: World, new: World, brokers: frozenset[NodeId]) -> Iterator[tuple[NodeId, Event]]:
    """The places of the nodes that are up and have another one than before, or do not know theirs any more."""
    for node in range(new.nodes):
        if node in new.down:
            continue
        place = new.place(node, brokers)
        if node in old.down or place != old.place(node, brokers):
            yield node, place
