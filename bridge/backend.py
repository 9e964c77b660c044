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

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import repeat
from pathlib import Path
from typing import NamedTuple, Protocol

from roambus.bridge.formats.ini.lookup import SimulatorKeys
from roambus.bridge.keys import path_of
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.mac import TunableMacSettings
from roambus.bridge.scenario.nodes import NodeSettings
from roambus.bridge.scenario.propagation import PREFIX as PROPAGATION
from roambus.bridge.scenario.propagation import LogDistance
from roambus.bridge.scenario.radio import LOSSES_FILE, TEMPORAL_FILE, ChannelSettings, RadioSettings
from roambus.bridge.scenario.reception import PREFIX as RECEPTION
from roambus.bridge.system.code import is_ours
from roambus.bridge.system.errors import BackendError, RoambusError
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


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


class Overhearing(NamedTuple):
    """A unicast frame from `sender` to `destination` that `receiver`, a third node, has received."""

    receiver: NodeId
    sender: NodeId
    destination: NodeId
    message: Message
    rssi_dbm: float
    lqi_db: float


NO_ENERGY = "node has no energy left"
"""The reason of a dead node's failures."""


SENT = ""
"""The reason of a Failure that is none: the MAC is done with the frame, as `Hello.report_sent` asked to be told."""


class Failure(NamedTuple):
    """A transmission that the MAC of `node` did not take, or gave up; with the reason SENT it did its work."""

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


class Course(NamedTuple):
    """From `at` on, `node` goes straight from (x, y) metres and is at (to_x, to_y) at `until`, where it stays.

    It replaces the rest of the node's way; a halt has `until` == `at`.
    """

    node: NodeId
    at: SimTime
    x: float
    y: float
    until: SimTime
    to_x: float
    to_y: float


@dataclass(frozen=True, slots=True)
class NodeInfo:
    """A node's boot time, and how many simulator ns one ns of its timers lasts."""

    start: SimTime
    clock_rate: float = 1.0


class LocalNode(NamedTuple):
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

    `take_note(time, node, text)` copies notes and deliveries into the simulator's log. `report_sent(nodes)` asks for a
    Failure with the reason SENT for each frame of these nodes that the MAC is done with; None: its MACs do not tell.
    `overhear(nodes)` asks for an Overhearing of each unicast between others that these nodes receive; None: it cannot.
    Without `own` the host drives all nodes; without `framing` that of the ini's MAC and radio applies.
    """

    simulator: str
    nodes: Sequence[NodeInfo]
    time_limit: SimTime
    processing_delay: SimTime = 0
    take_note: Callable[[SimTime, NodeId, str], None] | None = None
    own: LocalNode | None = None
    framing: Framing | None = None
    report_sent: Callable[[Sequence[NodeId]], None] | None = None
    overhear: Callable[[Sequence[NodeId]], None] | None = None
    steer: Callable[[Course], None] | None = None
    """Moves a node that its agent moves, with the next `advance`, before its transmissions. None: it cannot.

    Courses come in the order of `at`, which is not before now. `Totals.moves` leaves such nodes out.
    """


class Step(NamedTuple):
    """Everything that happens at `now`; timers due then run after the deliveries.

    With `more`, further Steps of this instant follow, and timers wait for the last. `deaths` are the nodes with
    batteries newly empty, `moves` the nodes' further ways, if the simulator alone knows them.
    """

    now: SimTime
    deliveries: Sequence[Delivery] = ()
    failures: Sequence[Failure] = ()
    more: bool = False
    deaths: Sequence[NodeId] = ()
    moves: Sequence[Move] = ()
    overheard: Sequence[Overhearing] = ()


DEATHS = "died_ns"
"""Counts the ns at which each node's battery ran empty, or 0; present if any did."""


@dataclass(frozen=True, slots=True)
class Totals:
    """Counts for cross-checking and for the trace, as `counts[name][node]` and `energy_mj[node]`.

    Metrics take `roambus.bridge.trace.schema.AIR_FRAMES` and `AIR_BYTES`; without them each packet counts as a frame.
    """

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

    An optional `beyond()` returns features beyond the embedded radio
    (`roambus.bridge.formats.ini.lookup.SimulatorKeys`).
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
    return not is_ours(type(factory).__module__)


_SHADOWING = ("sigma_db", "bidirectional_sigma_db")
_CELLS = ("x_cell_m", "y_cell_m", "signal_delivery_threshold_dbm")
_RECEPTION = (
    "cca_threshold_dbm",
    "symbols_for_rssi",
    "buffer_size",
    "rssi_offset_db",
    "rssi_noise_db",
    "collision_model",
)
_ACCESS = (
    "buffer_size", "backoff_base", "backoff_type", "random_tx_offset", "valid_cs_delay", "prob_tx",
    "retransmission_interval", "tries", "persistence", "sends_all", "duty_cycle", "listen_interval", "preamble_share",
    "preamble_bytes", "sleeps_in_backoff",
)  # fmt: skip
_SUPPLY = ("initial_energy_j", "baseline_power_mw")
_RADIO_ALONE = (
    *(path_of(LogDistance, name) for name in _SHADOWING),
    *(path_of(ChannelSettings, name) for name in _CELLS),
    *(path_of(RadioSettings, name) for name in _RECEPTION),
    *(path_of(TunableMacSettings, name) for name in _ACCESS),
    *(path_of(NodeSettings, name) for name in _SUPPLY),
)
"""Keys of signals, access and energy; path loss and power give the range of ideal links, too, and sizes count."""

UNUSED_KEYS: dict[str, tuple[str, ...]] = {
    "radio": ("SN.ideal.", "SN.ns3."),
    "castalia": ("SN.ideal.", "SN.ns3.", "SN.links.", "SN.interference."),
    "ns3": ("SN.ideal.", "SN.links.", "SN.interference."),
    "ideal": (
        "SN.ns3.",
        PROPAGATION,
        RECEPTION,
        "SN.links.",
        "SN.interference.",
        TEMPORAL_FILE.name,
        LOSSES_FILE.name,
        *_RADIO_ALONE,
    ),
}
"""Prefixes of keys that a back-end ignores, by name; others use them."""


def unused_keys(factory: BackendFactory | None) -> tuple[str, ...]:
    """Return prefixes of keys that the back-ends ignore."""
    return UNUSED_KEYS.get(factory.name, ()) if factory else ()


def simulator_keys_of(factory: BackendFactory | None) -> SimulatorKeys | None:
    """Return the back-end's features beyond the embedded radio; raise UserError."""
    ask = getattr(factory, "beyond", None)
    if factory is None or ask is None:
        return None
    with calling(factory, "beyond"):
        found: SimulatorKeys | None = ask()
    return found


@contextmanager
def calling(factory: BackendFactory, method: str) -> Iterator[None]:
    """Name a foreign factory in whatever its method raises in the block, the end of the process included."""
    if not is_foreign(factory):
        yield
        return
    try:
        yield
    except (RoambusError, KeyboardInterrupt):
        raise
    except BaseException as error:
        problem = f"{method} raised {type(error).__name__}: {' '.join(str(error).split())}"
        raise BackendError(f"back-end {factory.name}: {problem}") from error
