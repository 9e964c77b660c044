"""One node's election, for tests rule by rule: what it is told, and what comes of it."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from roambus.python_protocol.actions import Action, Send, SetTimer
from roambus.python_protocol.events import Received, Started, TimerFired
from roambus.python_protocol.parts.election import Election, ElectionParameters, ElectionTimer, Heartbeat, Leadership
from roambus.python_protocol.parts.election.algorithm import Change
from roambus.python_protocol.roles import BROADCAST, NodeId
from roambus.python_protocol.simtime import SECOND, SimTime

ME = 1
LEADER = Leadership(1000, 9)
STRONG, WEAK = -50.0, -90.0
LEAD, RELAY, CHOOSE, TIME_OUT = map(ElectionTimer, ("lead", "relay", "choose", "time-out"))
PARAMETERS = ElectionParameters()
Outcome = tuple[list[Action], list[Change]]
NOTHING: Outcome = ([], [])


def election(*, is_broker: bool = True, sticky_parent: bool = True) -> Election:
    return Election(ME, is_broker, ElectionParameters(sticky_parent=sticky_parent), Random(0))


def outcome(made: Election) -> Outcome:
    """What it has asked for, and what has changed in the tree."""
    return made.take(), made.take_changes()


def start(made: Election, now: SimTime) -> Outcome:
    made.dispatch(Started(), now)
    return outcome(made)


def hear(made: Election, sender: NodeId, message: Heartbeat, rssi_dbm: float, now: SimTime) -> Outcome:
    made.dispatch(Received(sender, message, rssi_dbm, 50.0), now)
    return outcome(made)


def fire(made: Election, key: ElectionTimer, now: SimTime) -> Outcome:
    made.dispatch(TimerFired(key), now)
    return outcome(made)


def give_up(made: Election, neighbour: NodeId, now: SimTime) -> Outcome:
    made.give_up(neighbour, now)
    return outcome(made)


def copy(
    number: int,
    hops: int,
    *,
    leadership: Leadership = LEADER,
    parent: NodeId | None = None,
    is_broker: bool = True,
) -> Heartbeat:
    """A copy of the round `number`."""
    return Heartbeat(leadership, number, hops, parent, is_broker)


def one_round(made: Election, number: int, *copies: tuple[NodeId, int, float]) -> list[Change]:
    """Copies (sender, hops, RSSI) of a round in their order, and the choice after them; rounds are a second apart."""
    now = number * SECOND
    changes = [
        change for sender, hops, rssi in copies for change in hear(made, sender, copy(number, hops), rssi, now)[1]
    ]
    return [*changes, *fire(made, CHOOSE, now + PARAMETERS.parent_window)[1]]


def pause(actions: Sequence[Action], key: ElectionTimer) -> SimTime:
    """The time to which a timer is set."""
    (after,) = [action.after for action in actions if isinstance(action, SetTimer) and action.key == key]
    return after


def sent(outcome: Outcome) -> list[Heartbeat]:
    found = []
    for action in outcome[0]:
        if isinstance(action, Send):
            assert action.destination == BROADCAST
            assert isinstance(action.message, Heartbeat)
            found.append(action.message)
    return found
