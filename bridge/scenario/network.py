"""The run and its network: duration, seed, field, and the plans that concern many nodes.

A plan for many nodes has one key (`SN.tree`, `SN.commands`), which shows the order between nodes. OMNeT++ ignores these
keys, so one ini serves both back-ends. `roambus.bridge.limits` guards against typing errors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from roambus.bridge.keys import TEXT, TIME, WHOLE, WORD, key, keys_of, quoted
from roambus.bridge.limits import DURATION, NODES, Limit
from roambus.bridge.scenario import plans
from roambus.bridge.scenario.plans import Order, ParentChange
from roambus.python_protocol.settings import NUMBER, Kind, Range, Setting
from roambus.python_protocol.vocabulary import MILLISECOND, SECOND, SimTime, format_time

DEPARTURE = 100 * MILLISECOND
"""Default time from detachment until a client leaves its place in a given tree."""
MOST_NODES = 65534
"""Higher addresses are not for nodes."""
MOST_SEED = 2**31 - 1
"""OMNeT++'s largest seed."""

_NETWORK = "SN."
_SIDE = Range(above=0, at_most=1e6)


def _limited(kind: Kind, limit: Limit, unit: int = 1) -> Kind:
    """The kind with a limit on its values, against long runs; `unit` converts the limit."""

    def read(text: str) -> Any:
        value = kind.read(text)
        limit.check(value / unit)
        return value

    return replace(kind, read=read)


@dataclass(frozen=True, slots=True)
class RunSettings:
    """OMNeT++ options of a run."""

    time_limit: SimTime = key(
        "sim-time-limit", _limited(TIME, DURATION, SECOND), None, "how long a run lasts", within=Range(at_least=0)
    )
    # OMNeT++'s own option: Castalia's statistics leave that time out, too, and the trace keeps it for the metrics.
    warm_up: SimTime = key("warmup-period", TIME, "0s", "metrics leave out everything before", within=Range(at_least=0))
    seed: int = key("seed-set", WHOLE, "0", "the run's seed", within=Range(0, MOST_SEED))


@dataclass(frozen=True, slots=True)
class NetworkSettings:
    """The field, and plans for many nodes."""

    nodes: int = key(
        _NETWORK + "numNodes", _limited(WHOLE, NODES), None, "number of nodes", "nodes", Range(1, MOST_NODES)
    )
    field_x_m: float = key(_NETWORK + "field_x", NUMBER, "30", "width of the field", "m", _SIDE)
    field_y_m: float = key(_NETWORK + "field_y", NUMBER, "30", "height of the field", "m", _SIDE)
    deployment: str = key(
        _NETWORK + "deployment", TEXT, '""', "where nodes start: uniform, center, 5x5, or by ranges: [0..3]->2x2"
    )
    tree: tuple[ParentChange, ...] = key(
        _NETWORK + "tree",
        quoted("plan of parents", plans.tree),
        '""',
        'parents in a given tree, such as "1:0 2:0 3:1, 12s 2:1, 15s 2:-"; Castalia ignores it',
    )
    commands: tuple[Order, ...] = key(
        _NETWORK + "commands",
        quoted("plan of commands", plans.commands),
        '""',
        'what applications do, such as "12s 7 subscribe, 20s 9 publish, 30s 7 detach"; Castalia ignores it',
    )
    # Long enough for a goodbye over several hops of the ideal links (1 ms each), and short against any heartbeat.
    departure: SimTime = key(
        _NETWORK + "departure",
        TIME,
        format_time(DEPARTURE),
        "from a client's detachment until it leaves its place in a given tree; Castalia ignores it",
        within=Range(above=0),
    )


KEYS = (
    Setting("network", WORD, None, "the network of Castalia", choices=("SN",)),
    *keys_of(RunSettings),
    # Castalia's is ps, with which 64 bits last 106 days; ns last for 292 years, and the wire counts in them.
    Setting("simtime-resolution", WORD, "ps", "OMNeT++'s step of time; the bridge to it needs ns"),
    Setting("num-rngs", WHOLE, "1", "streams of random numbers in OMNeT++, which have no effect here"),
    *keys_of(NetworkSettings),
    Setting(_NETWORK + "field_z", NUMBER, "0", "depth of the field", "m", choices=(0.0,)),
    Setting(_NETWORK + "wirelessChannelName", TEXT, '"WirelessChannel"', "the channel", choices=("WirelessChannel",)),
    Setting(_NETWORK + "numPhysicalProcesses", WHOLE, "1", "what sensors sense, which has no effect here"),
    Setting(
        _NETWORK + "physicalProcessName",
        TEXT,
        '"CustomizablePhysicalProcess"',
        "what sensors sense, which has no effect here",
    ),
    Setting(
        _NETWORK + "debugInfoFileName", TEXT, '"Castalia-Trace.txt"', "Castalia's own trace, which has no effect here"
    ),
)
