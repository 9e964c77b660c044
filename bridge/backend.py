"""The interface of every back-end, which has the phases of the bridge.

| phase     | back-end -> host                         | host -> back-end                              |
|-----------|------------------------------------------|-----------------------------------------------|
| handshake | `open() -> Hello`                        |                                               |
| running   | `advance(...) -> Step`                   | transmissions, each with its time; next wake-up |
| end       | `advance(...) -> None`, `close() -> Totals` |                                            |

The back-end owns the clock. It advances to the next arrival or the wake-up, and reports that instant in one `Step`, or
in several, of which all but the last have `more` set.
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
    """A message of `size` bytes that `node` gives its MAC at `at`, not before now."""

    node: NodeId
    at: SimTime
    destination: NodeId
    message: Message
    size: int


def sent_before(transmission: Transmission, now: SimTime) -> ValueError:
    """Return the error for a transmission before `now`."""
    return ValueError(f"node {transmission.node} sends at {transmission.at}, which is before {now}")


class Delivery(NamedTuple):
    """A message that arrives at `receiver`."""

    receiver: NodeId
    sender: NodeId
    message: Message
    rssi_dbm: float
    lqi_db: float


def make_deliveries(rows: Iterable[tuple[NodeId, NodeId, Message, float, float]]) -> list[Delivery]:
    """Return Deliveries, three times faster than by constructor: a hot path."""
    return list(map(tuple.__new__, repeat(Delivery), rows))


class Failure(NamedTuple):
    """A transmission that the MAC of `node` did not take."""

    node: NodeId
    destination: NodeId
    message: Message
    reason: str


class Move(NamedTuple):
    """`node` is at (x, y) metres at `time` and goes straight to its next move's place."""

    time: SimTime
    node: NodeId
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class NodeInfo:
    """A node's boot time, and how many simulator ns one ns of its timers lasts."""

    start: SimTime
    clock_rate: float = 1.0


class Own(NamedTuple):
    """The one node of this host, started at `since`, if each node has its own host."""

    node: NodeId
    since: SimTime


class Framing(NamedTuple):
    """How the simulator's network stack frames a message."""

    most_bytes: int
    """The longest message in a frame."""
    header_bytes: int
    """Bytes that network, MAC and radio add."""
    queue: int
    """A node's MAC queue in packets; 0 if none."""
    bits_per_second: int
    """The whole frame's rate; 0: the radio parameters file's."""


@dataclass(frozen=True, slots=True)
class Hello:
    """The simulator's facts before the first step; `nodes[i]` is node i.

    `take_note(time, node, text)` copies notes and deliveries into the simulator's log. Without `own` the host drives
    all nodes; without `framing` the ini's embedded radio applies.
    """

    simulator: str
    nodes: Sequence[NodeInfo]
    time_limit: SimTime
    processing_delay: SimTime = 0
    take_note: Callable[[SimTime, NodeId, str], None] | None = None
    own: Own | None = None
    framing: Framing | None = None


class Step(NamedTuple):
    """Everything that happens at `now`; timers due then run after the deliveries.

    With `more`, further Steps of this instant follow, and timers wait for the last. `deaths` are the nodes with
    batteries newly empty.
    """

    now: SimTime
    deliveries: Sequence[Delivery] = ()
    failures: Sequence[Failure] = ()
    more: bool = False
    deaths: Sequence[NodeId] = ()


DEATHS = "died_us"
"""Counts the us at which each node's battery ran empty, or 0; present if any did."""


@dataclass(frozen=True, slots=True)
class Totals:
    """Counts for cross-checking and for the trace, as `counts[name][node]` and `energy_mj[node]`."""

    counts: dict[str, Sequence[int]] = field(default_factory=dict)
    energy_mj: Sequence[float] = ()
    moves: Sequence[Move] = ()


class Backend(Protocol):
    """Carries messages between nodes and owns the clock."""

    def open(self) -> Hello:
        """Set the run up; called once, first."""

    def advance(self, transmissions: Sequence[Transmission], wake_up: SimTime | None) -> Step | None:
        """Take the host's transmissions (none at first) and run to the next instant of concern.

        Returns a Step at the wake-up at the latest; None at the time limit, where nothing happens. Raises BackendError
        if the simulator fails, ValueError for a past transmission.
        """

    def fail(self, error: BaseException) -> None:
        """Report the run's fatal `error`; called at most once, before `close`."""

    def close(self) -> Totals:
        """End the run in any state and free everything; called once, last."""


class BackendFactory(Protocol):
    """Makes back-ends of one kind; picklable.

    An optional `beyond()` returns features beyond the embedded radio (`roambus.bridge.ini.lookup.Beyond`).
    """

    @property
    def name(self) -> str:
        """The kind of back-end, which determines a run's keys."""

    def prepare(self, scenario: Scenario) -> None:
        """Compile or check prerequisites once before many runs; raise UserError."""

    def make(self, scenario: Scenario, agent: type[Agent], folder: Path) -> Backend:
        """Return a back-end for the ini and radio file in `folder`; raise UserError."""


def is_foreign(factory: BackendFactory) -> bool:
    """Return whether another package brings the factory; its back-ends need checks."""
    return not type(factory).__module__.startswith("roambus.")


UNUSED_KEYS: dict[str, tuple[str, ...]] = {
    "radio": ("SN.ideal.", "SN.ns3."),
    "castalia": ("SN.ideal.", "SN.ns3.", "SN.links.", "SN.interference."),
    "ns3": ("SN.ideal.", "SN.links.", "SN.interference."),
    "ideal": ("SN.ns3.", "SN.links.", "SN.interference.", TEMPORAL_FILE.name, LOSSES_FILE.name),
}
"""Prefixes of keys that a back-end ignores, by name; others use them."""


def unused_keys(factory: BackendFactory | None) -> tuple[str, ...]:
    """Return prefixes of keys that the back-ends ignore."""
    return UNUSED_KEYS.get(factory.name, ()) if factory else ()


def beyond_of(factory: BackendFactory | None) -> Beyond | None:
    """Return the back-end's features beyond the embedded radio; raise UserError."""
    ask = getattr(factory, "beyond", None)
    return ask() if ask else None
