"""The interface of every back-end, which has the phases of the bridge.

| phase     | back-end -> host                         | host -> back-end                              |
|-----------|------------------------------------------|-----------------------------------------------|
| handshake | `open() -> Hello`                        |                                               |
| running   | `advance(...) -> Step`                   | transmissions, each with its time; next wake-up |
| end       | `advance(...) -> None`, `close() -> Totals` |                                            |

The back-end owns the clock. It advances to the earliest instant at which something arrives, or to the wake-up, and
reports everything of that instant in one `Step`, or in several of which all but the last have `more` set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from pathlib import Path
from typing import NamedTuple, Protocol

from roambus.bridge.ini.lookup import Beyond
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.radio import LOSSES_FILE, TEMPORAL_FILE
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.vocabulary import NodeId, SimTime


class Transmission(NamedTuple):
    """A message that `node` hands to its MAC at time `at` (not before now); `size` is its length in bytes."""

    node: NodeId
    at: SimTime
    destination: NodeId
    message: Message
    size: int


def sent_before(transmission: Transmission, now: SimTime) -> ValueError:
    """The error for a transmission before `now`, the last Step's."""
    return ValueError(f"node {transmission.node} sends at {transmission.at}, which is before {now}")


class Delivery(NamedTuple):
    """A message that arrives at `receiver`."""

    receiver: NodeId
    sender: NodeId
    message: Message
    rssi_dbm: float
    lqi_db: float


def make_deliveries(rows: Iterable[tuple[NodeId, NodeId, Message, float, float]]) -> list[Delivery]:
    """The rows as Deliveries, in a third of the time that their constructor takes: much of a run passes here."""
    return list(map(tuple.__new__, repeat(Delivery), rows))


class Failure(NamedTuple):
    """A transmission that the MAC of `node` did not take."""

    node: NodeId
    destination: NodeId
    message: Message
    reason: str


class Move(NamedTuple):
    """`node` is at (x, y) metres at `time` and goes straight on to its next move's place."""

    time: SimTime
    node: NodeId
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class NodeInfo:
    """A node as the simulator made it: when it boots, and how many ns of simulator time its timers' ns last."""

    start: SimTime
    clock_rate: float = 1.0


class Own(NamedTuple):
    """The one node that this host drives, where each node has a host of its own; `since` is when it was started."""

    node: NodeId
    since: SimTime


class Framing(NamedTuple):
    """What the network stack makes of a message, as the simulator says."""

    most_bytes: int
    """The longest message that a frame has room for."""
    header_bytes: int
    """Bytes that network, MAC and radio add."""
    queue: int
    """Packets that wait in a node's MAC at most; 0 if it has no queue."""
    bits_per_second: int
    """The rate at which all of it is sent; 0 means that of the radio parameters file."""


@dataclass(frozen=True, slots=True)
class Hello:
    """What the host must know before the first step. `nodes[i]` is node i.

    If the simulator's own log is to hold what the agents note and deliver, `take_note(time, node, text)` is called for
    each. Without `own` the host drives all nodes. Without `framing` it is what the ini says of the embedded radio.
    """

    simulator: str
    nodes: Sequence[NodeInfo]
    time_limit: SimTime
    processing_delay: SimTime = 0
    take_note: Callable[[SimTime, NodeId, str], None] | None = None
    own: Own | None = None
    framing: Framing | None = None


class Step(NamedTuple):
    """What happens at `now`. Agents whose timers are due at `now` run after the deliveries.

    If there is `more`, further Steps of this instant follow, and what is due waits for the last of them. `deaths` are
    the nodes whose batteries were found empty since the last Step.
    """

    now: SimTime
    deliveries: Sequence[Delivery] = ()
    failures: Sequence[Failure] = ()
    more: bool = False
    deaths: Sequence[NodeId] = ()


DEATHS = "died_us"
"""The count that says when each node's battery was empty, in us; 0 if it was not. It is there if any was."""


@dataclass(frozen=True, slots=True)
class Totals:
    """Counts for cross-checking and for the trace, as `counts[name][node]` and `energy_mj[node]`."""

    counts: dict[str, Sequence[int]] = field(default_factory=dict)
    energy_mj: Sequence[float] = ()
    moves: Sequence[Move] = ()


class Backend(Protocol):
    """Carries messages between nodes and owns the clock."""

    def open(self) -> Hello:
        """Sets the run up; it is called once, before anything else."""

    def advance(self, transmissions: Sequence[Transmission], wake_up: SimTime | None) -> Step | None:
        """Takes the host's transmissions (none in the first call) and runs to the next instant that concerns it.

        Returns a Step at the wake-up at the latest; None once the time limit is reached (nothing happens at the
        limit itself). It raises BackendError if the simulator fails, ValueError for a transmission in the past.
        """

    def fail(self, error: BaseException) -> None:
        """The run ends here because of `error`, whoever raised it; it is called at most once, before `close`."""

    def close(self) -> Totals:
        """Ends the run, finished or not, opened or not, and frees everything; it is called once, last."""


class BackendFactory(Protocol):
    """Makes back-ends of one kind; it can be pickled.

    One that takes more than the embedded radio has a method `beyond()`, too, which returns a
    `roambus.bridge.ini.lookup.Beyond`.
    """

    @property
    def name(self) -> str:
        """The kind of back-end; runs over different kinds have different keys."""

    def prepare(self, scenario: Scenario) -> None:
        """Compiles what must be compiled, or sees that everything is there; it is called once before many runs.

        Raises UserError.
        """

    def make(self, scenario: Scenario, agent: type[Agent], folder: Path) -> Backend:
        """The back-end of one run, whose ini and radio parameters file lie in `folder`; raises UserError."""


def is_foreign(factory: BackendFactory) -> bool:
    """Whether another package brings the factory, whose back-ends are checked while they run."""
    return not type(factory).__module__.startswith("roambus.")


UNUSED_KEYS: dict[str, tuple[str, ...]] = {
    "radio": ("SN.ideal.", "SN.ns3."),
    "castalia": ("SN.ideal.", "SN.ns3.", "SN.links.", "SN.interference."),
    "ns3": ("SN.ideal.", "SN.links.", "SN.interference."),
    "ideal": ("SN.ns3.", "SN.links.", "SN.interference.", TEMPORAL_FILE.name, LOSSES_FILE.name),
}
"""Beginnings of the keys that a back-end does not read, by its name: others have them for it to be compared."""


def unused_keys(factory: BackendFactory | None) -> tuple[str, ...]:
    """Beginnings of the keys that the factory's back-ends do not read."""
    return UNUSED_KEYS.get(factory.name, ()) if factory else ()


def beyond_of(factory: BackendFactory | None) -> Beyond | None:
    """What the factory's back-end takes beyond the embedded radio; raises UserError."""
    ask = getattr(factory, "beyond", None)
    return ask() if ask else None
