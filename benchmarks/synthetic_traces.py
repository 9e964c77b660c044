"""Synthetic traces of any size: the schema and the mix of events of real ones, the same for a seed.

The mixes are those of the thesis' runs at C32 and 8 m/s, and one that is rich in deliveries: they are half of all rows,
and the others are what a run of the caching agent writes. Rows depend on each other as in a real trace: a
notification is routed after it is published, and then delivered to subscribers that it is routed for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roambus.bridge.runs.layout import AGENT, SEED, TRACE_FILE, TRACES
from roambus.bridge.system.errors import UserError
from roambus.bridge.trace import schema
from roambus.bridge.trace.parquet import write_trace
from roambus.bridge.trace.schema import RUN_KEY
from roambus.extensions.caching.cache import CACHE, FORGET

SECONDS, PUBLISHING_S = 700.0, 500.0
"""How long a run takes and how long its publishers publish (the thesis, section 4.5.2)."""
SPEEDS = (2, 4, 6, 8, 10)
RADIO_COUNTS = ("offered", "transmitted", "received", "fail_interf", "fail_no_interf", "fail_sens", "mac_overflown")
_DELIVERED, _REPEATED = 0.6, 0.02
"""The shares of the routed pairs that are delivered, and of deliveries that come twice."""
_MOST_OF_NOTIFICATIONS = 0.7
"""The share of rows for notifications' lives, at most: in a small network each of them has few deliveries."""
_DELAY_S = 0.2
_PLACES = 4096

Numbers = npt.NDArray[np.float64] | npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Kind:
    """Rows of one event and message type: their share, and the mean of `bytes`; `addressed` rows have a peer."""

    share: float
    event: str
    message_type: str | None = None
    size: int | None = None
    addressed: bool = True


@dataclass(frozen=True, slots=True)
class Mix:
    """An agent's traces: the share of deliveries, and the kinds of all that is no notification's life."""

    deliveries: float
    kinds: tuple[Kind, ...]


MIXES = {
    "mft": Mix(
        0.024,
        (
            Kind(0.230, schema.STORE),
            Kind(0.209, schema.REPLAY),
            Kind(0.197, schema.SEND, "ACK", 4),
            Kind(0.097, schema.SEND, "BSUB", 28),
            Kind(0.069, schema.SEND, "REP", 84),
            Kind(0.063, schema.SEND, "HEARTBEAT", 15, addressed=False),
            Kind(0.046, schema.SEND, "BQUERY", 12),
            Kind(0.028, schema.SEND, "BMIG", 194),
            Kind(0.022, schema.SEND, "MIG", 14),
            Kind(0.013, schema.SEND, "FILTERS", 19),
            Kind(0.011, schema.SEND, "PUB", 47),
            Kind(0.004, schema.SEND, "SUB", 26),
            Kind(0.023, schema.MIGRATE),
            Kind(0.010, schema.MOVE, addressed=False),
        ),
    ),
    "aodv": Mix(
        0.005,
        (
            Kind(0.338, schema.SEND, "RREQ", 20, addressed=False),
            Kind(0.234, schema.SEND, "RREP", 20),
            Kind(0.107, schema.SEND, "ACK", 4),
            Kind(0.102, schema.SEND, "RERR", 11),
            Kind(0.054, schema.SEND, "HELLO", 16, addressed=False),
            Kind(0.029, schema.SEND, "PACKET", 52),
            Kind(0.042, schema.DROP, "RREQ"),
            Kind(0.033, schema.DROP, "PACKET"),
            Kind(0.028, schema.DROP, "RREP"),
            Kind(0.012, schema.DROP, "RERR"),
            Kind(0.007, schema.MOVE, addressed=False),
        ),
    ),
    "caching": Mix(
        0.5,
        (
            Kind(0.470, schema.SEND, "HEARTBEAT", 15, addressed=False),
            Kind(0.150, schema.SEND, "ACK", 4),
            Kind(0.125, schema.SEND, "PUB", 47),
            Kind(0.0127, schema.SEND, "RESPONSE", 60),
            Kind(0.0045, schema.SEND, "REQUEST", 30),
            Kind(0.020, schema.STORE),
            Kind(0.0137, CACHE, addressed=False),
            Kind(0.0137, FORGET, addressed=False),
            Kind(0.0126, schema.REPLAY),
        ),
    ),
}
THESIS, RICH = "thesis", "rich"
AGENTS = {THESIS: ("mft", "aodv"), RICH: ("caching",)}
"""The agents of a sweep whose traces have the thesis' mix, and of one whose traces are rich in deliveries."""
_OF_NOTIFICATIONS = (schema.STORE, schema.REPLAY, CACHE, FORGET)
"""The events among a mix's kinds whose rows name a notification."""


@dataclass(frozen=True, slots=True)
class Nodes:
    """The roles in a network of `count` nodes (>= 3): publishers first, then subscribers, then brokers."""

    count: int

    @property
    def publishers(self) -> range:
        """Two, as in the thesis, or one in a very small network."""
        return range(2 if self.count >= 6 else 1)

    @property
    def subscribers(self) -> range:
        """Half of the others."""
        start = len(self.publishers)
        return range(start, start + (self.count - start) // 2)

    def role(self, node: int) -> str:
        """As `role` rows have it."""
        if node in self.publishers:
            return "publisher"
        return "subscriber" if node in self.subscribers else "broker"


# Traces of a whole sweep


def write_traces(  # noqa: PLR0913  # what makes up a sweep, each with its name
    results: Path, rows: int, runs: int, *, mix: str = THESIS, nodes: int = 66, seed: int = 0, workers: int = 1
) -> list[Path]:
    """Writes `runs` traces of `rows` rows together where a sweep would; returns the files. Raises UserError, OSError.

    The agents that `mix` names in AGENTS and speeds take turns; every further seed of all of them is a new round.
    """
    smallest = min(len(share) for share in np.array_split(range(rows), runs))
    if smallest < 100 * nodes or nodes < 3:
        raise UserError(f"{rows} rows, {runs} runs, {nodes} nodes: give at least 3 nodes, and 100 rows a node and run")
    asked = [
        (results / TRACES / place / TRACE_FILE, len(share), nodes, seed + number)
        for number, (place, share) in enumerate(zip(places(runs, mix), np.array_split(range(rows), runs), strict=True))
    ]
    with ProcessPoolExecutor(workers, get_context("spawn")) as processes:
        return list(processes.map(_write, *zip(*asked, strict=True)))


def places(runs: int, mix: str = THESIS) -> Iterator[str]:
    """The folders of that many runs below `traces`."""
    points = [(agent, speed) for speed in SPEEDS for agent in AGENTS[mix]]
    for number in range(runs):
        agent, speed = points[number % len(points)]
        yield f"{AGENT}={agent}/speed={speed}/{SEED}={number // len(points)}"


def _write(file: Path, rows: int, nodes: int, seed: int) -> Path:
    agent = next(part.partition("=")[2] for part in file.parts if part.startswith(f"{AGENT}="))
    file.parent.mkdir(parents=True, exist_ok=True)
    key = sha256(f"synthetic {agent} {rows} {nodes} {seed}".encode()).hexdigest()
    write_trace(synthetic_trace(MIXES[agent], rows, nodes, seed), file, {RUN_KEY: key})
    return file


# One trace


def synthetic_trace(mix: Mix, rows: int, nodes: int, seed: int) -> pa.Table:
    """A trace of exactly that many rows, sorted by time; `rows` is at least 100 a node."""
    random, network = np.random.default_rng(seed), Nodes(nodes)
    pairs = len(network.subscribers) * _DELIVERED
    count = min(rows * mix.deliveries / pairs, rows * _MOST_OF_NOTIFICATIONS / (2 + pairs))
    published = _Published(random, network, max(1, round(count)))
    parts = [_starts(network), *_lives(random, network, published), _ends(random, network)]
    parts.append(_others(random, network, published, mix, rows - sum(len(part) for part in parts)))
    return pa.concat_tables(parts).sort_by(schema.TIME_S)


class _Published:
    """The notifications of a run: when (s), by whom, and under which identifiers."""

    def __init__(self, random: np.random.Generator, network: Nodes, count: int) -> None:
        self.times = np.sort(random.uniform(1, PUBLISHING_S, count))
        self.nodes = random.choice(network.publishers, count)
        self.ids = pa.array([f"{node}.{number}" for number, node in enumerate(self.nodes)])


def _table(times: Numbers, nodes: Numbers, event: str | pa.Array, **columns: pa.Array) -> pa.Table:
    """Rows at `times` (s, rounded to ns), with nulls in the columns that are not given."""
    events = pa.repeat(event, len(times)) if isinstance(event, str) else event
    known = {
        schema.TIME_S: pa.array(np.round(times * 1e9) / 1e9),
        schema.NODE: pa.array(nodes, pa.int32()),
        schema.EVENT: events,
        **columns,
    }
    arrays = [known.get(field.name, pa.nulls(len(times), field.type)) for field in schema.TRACE_SCHEMA]
    return pa.table(arrays, schema=schema.TRACE_SCHEMA)


def _starts(network: Nodes) -> pa.Table:
    nodes = np.arange(network.count)
    roles = [network.role(node) for node in range(network.count)]
    return _table(np.zeros(network.count), nodes, schema.ROLE, detail=pa.array(roles))


def _ends(random: np.random.Generator, network: Nodes) -> pa.Table:
    """The energy of each node, and its radio's counts."""
    nodes = np.arange(network.count)
    millijoules = [f"{used:.6f}" for used in random.normal(9500, 20, network.count)]
    end = np.full(network.count, SECONDS)
    counted = [
        _table(end, nodes, schema.RADIO, message_type=pa.repeat(name, len(nodes)), detail=_numbers(random, len(nodes)))
        for name in RADIO_COUNTS
    ]
    return pa.concat_tables([*counted, _table(end, nodes, schema.ENERGY, detail=pa.array(millijoules))])


def _numbers(random: np.random.Generator, count: int) -> pa.Array:
    return pa.array(random.integers(0, 5000, count)).cast(pa.string())


def _lives(random: np.random.Generator, network: Nodes, published: _Published) -> Sequence[pa.Table]:
    """The rows of the notifications: each is published for all, routed for the first few, delivered to some."""
    count, subscribers = len(published.times), np.array(network.subscribers)
    lists = pa.array([schema.LIST_SEPARATOR.join(map(str, subscribers[:few])) for few in range(len(subscribers) + 1)])
    routed = random.integers((len(subscribers) + 1) // 2, len(subscribers) + 1, count)
    wanted = lists.take(pa.array(np.full(count, len(subscribers))))
    return (
        _table(published.times, published.nodes, schema.PUBLISH, notification_id=published.ids, detail=wanted),
        _table(
            published.times + 0.01,
            random.integers(0, network.count, count),
            schema.ROUTE,
            notification_id=published.ids,
            detail=lists.take(pa.array(routed)),
        ),
        _deliveries(random, subscribers, published, routed),
    )


def _deliveries(
    random: np.random.Generator, subscribers: Numbers, published: _Published, routed: npt.NDArray[np.int64]
) -> pa.Table:
    """First copies, and a few second ones, some of them earlier: at random times after the routing."""
    shape = (len(routed), len(subscribers))
    chosen = (np.arange(len(subscribers)) < routed[:, None]) & (random.random(shape) < _DELIVERED * 4 / 3)
    notifications, places = np.nonzero(chosen)
    again = random.random(len(places)) < _REPEATED
    notifications, places = np.append(notifications, notifications[again]), np.append(places, places[again])
    return _table(
        published.times[notifications] + 0.02 + random.exponential(_DELAY_S, len(places)),
        subscribers[places],
        schema.DELIVER,
        notification_id=published.ids.take(pa.array(notifications)),
        hops=pa.array(random.geometric(0.6, len(places)), pa.int32()),
    )


def _others(random: np.random.Generator, network: Nodes, published: _Published, mix: Mix, count: int) -> pa.Table:
    """That many rows of the mix's kinds, at any time."""
    shares = np.array([kind.share for kind in mix.kinds])
    chosen = random.choice(len(mix.kinds), count, p=shares / shares.sum())
    codes, events = pa.array(chosen), np.array([kind.event for kind in mix.kinds])[chosen]
    sizes = np.array([kind.size or 0 for kind in mix.kinds])[chosen]
    return _table(
        random.uniform(0.1, SECONDS, count),
        random.integers(0, network.count, count),
        pa.array([kind.event for kind in mix.kinds]).take(codes),
        message_type=pa.array([kind.message_type for kind in mix.kinds], pa.string()).take(codes),
        notification_id=_some(published.ids, np.isin(events, _OF_NOTIFICATIONS), random),
        peer=_peers(random, network, np.array([kind.addressed for kind in mix.kinds])[chosen]),
        bytes=pa.array(sizes + random.integers(0, 3, count), pa.int32(), mask=events != schema.SEND),
        detail=_some(_places(random), events == schema.MOVE, random),
    )


def _peers(random: np.random.Generator, network: Nodes, addressed: npt.NDArray[np.bool_]) -> pa.Array:
    return pa.array(random.integers(0, network.count, len(addressed)), pa.int32(), mask=~addressed)


def _some(texts: pa.Array, where: npt.NDArray[np.bool_], random: np.random.Generator) -> pa.Array:
    """One of the texts at random in each place that has one, else null."""
    return texts.take(pa.array(random.integers(0, len(texts), len(where)), mask=~where))


def _places(random: np.random.Generator) -> pa.Array:
    return pa.array([f"{x:.3f} {y:.3f}" for x, y in random.uniform(0, 110, (_PLACES, 2))])
