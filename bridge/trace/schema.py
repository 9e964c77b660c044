"""The schema of a trace, one Parquet file per run with one row per event.

Runs and their analysis share nothing else, so a new metric needs no new run. A row has a time, a node and an event;
unused columns are empty.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, get_args, get_type_hints

import pyarrow as pa

from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime
from roambus.python_protocol.trace_rows import (
    ATTACH,
    CRASH,
    DELIVER,
    DETACH,
    DIE,
    DROP,
    ENERGY,
    FREEZE,
    KEEP,
    LIST_SEPARATOR,
    MIGRATE,
    MOVE,
    PUBLISH,
    RADIO,
    RECEIVE,
    RECOVER,
    RELEASE,
    REPLAY,
    ROLE,
    ROUTE,
    SEND,
    STORE,
    SUBSCRIBE,
    UNSUBSCRIBE,
)

__all__ = [
    "AIR",
    "AIR_BYTES",
    "AIR_FRAMES",
    "AIR_NS",
    "ATTACH",
    "BYTES",
    "CRASH",
    "DATA_READ",
    "DELIVER",
    "DETACH",
    "DETAIL",
    "DIE",
    "DROP",
    "END",
    "ENERGY",
    "EVENT",
    "FREEZE",
    "HOPS",
    "KEEP",
    "LATEST_S",
    "LIST_SEPARATOR",
    "LONGEST",
    "MESSAGE_TYPE",
    "MIGRATE",
    "MIGRATION_MESSAGES",
    "MOVE",
    "NODE",
    "NOTIFICATION_ID",
    "NO_TEMPLATE",
    "PEER",
    "PUBLISH",
    "RADIO",
    "RECEIVE",
    "RECOVER",
    "RELEASE",
    "REPLAY",
    "ROLE",
    "ROUTE",
    "RUN_KEY",
    "SEND",
    "STORE",
    "SUBSCRIBE",
    "TIME_S",
    "TRACE_SCHEMA",
    "UNSUBSCRIBE",
    "USUAL_AIR",
    "WARM_UP",
    "About",
    "TraceRow",
    "read_metadata",
]  # fmt: skip

LATEST_S = 1e9
"""Rows and way-points end here: up to it times are exact to a microsecond."""


class TraceRow(NamedTuple):
    """A row of a trace; fields but the first have the file's name and type."""

    time: SimTime
    """In ns; the file has seconds."""
    node: NodeId
    event: str
    message_type: str | None = None
    notification_id: str | None = None
    peer: NodeId | None = None
    bytes: int | None = None
    hops: int | None = None
    detail: str | None = None


def _columns() -> Iterator[pa.Field]:
    for name, kind in get_type_hints(TraceRow).items():
        if name == "time":
            yield pa.field("time_s", pa.float64(), nullable=False)
        else:
            is_text = str in (kind, *get_args(kind))
            yield pa.field(name, pa.string() if is_text else pa.int32(), nullable=type(None) in get_args(kind))


TRACE_SCHEMA = pa.schema(list(_columns()))
"""The columns of every trace, in order; rows are sorted by time, then occurrence."""
TIME_S, NODE, EVENT, MESSAGE_TYPE, NOTIFICATION_ID, PEER, BYTES, HOPS, DETAIL = list[str](TRACE_SCHEMA.names)

# What a trace says of itself

RUN_KEY = "roambus.run_key"
"""The name of the run's key (`roambus.bridge.runs.run`)."""
END = "roambus.end_s"
"""Names the run's time limit (s)."""
WARM_UP = "roambus.warm_up_s"
"""Names the time (s) before which nothing counts in metrics; optional."""
AIR = "roambus.air"
"""Names a frame's header bytes and bit/s; without it the usual ones apply."""
USUAL_AIR = 25, 250_000
"""The network, MAC and radio headers of roambus' templates, and their radio's rate."""
AIR_FRAMES, AIR_BYTES = "air_frames", "air_bytes"
"""Names the counts of all that a node had on the air since the warm-up: headers, acknowledgements, retransmissions."""
AIR_NS = "air_ns"
"""Names the count of the time (ns) that it was on the air, of radios whose rate is not that of the file."""
MIGRATION_MESSAGES = "roambus.migration_messages"
"""Names the message types caused by migrations, separated by blanks; optional."""
DATA_READ = "roambus.data_read"
"""Names the files that the agent read beside its code, with their SHA-256, as JSON; optional."""
NO_TEMPLATE = "none: made from an ini"
"""Stands in place of the template's name."""
LIVE_RUNS = "live"
"""Replaces the back-end's name in traces of live runs."""
LONGEST = 65536
"""A value of more characters is omitted with a note."""
_PREFIX = "roambus."


@dataclass(frozen=True, slots=True)
class About:
    """A trace's metadata; each field is a key, with its JSON type."""

    agent: str
    """As given to the run; for an agent in a file, the file's name."""
    parameters: dict[str, str]
    """Every parameter of the agent, as in an ini."""
    node_parameters: dict[str, dict[str, str]]
    """By number, the nodes that have other values, and these."""
    template: str
    settings: dict[str, Any]
    """Every template variable; files by name."""
    seed: int
    level: str
    backend: str
    simulator: str
    """The back-end's own name; for Castalia with OMNeT++'s release."""
    version: str
    """roambus' version, and its commit if run from a repository."""

    def metadata(self) -> dict[str, str]:
        """What the file holds."""
        return {f"{_PREFIX}{field.name}": _bounded(getattr(self, field.name)) for field in fields(self)}

    def describe(self) -> str:
        """Return three lines of printable text: a trace can be foreign."""
        others = f"; {len(self.node_parameters)} nodes have others" if self.node_parameters else ""
        simulator = "" if self.simulator == self.backend else f" ({self.simulator})"
        lines = (
            f"agent {self.agent}: {_listed(self.parameters)}{others}",
            f"template {self.template}: {_listed(self.settings)}",
            f"seed {self.seed}, level {self.level}, back-end {self.backend}{simulator}, made by {self.version}",
        )
        return "\n".join(line if line.isprintable() else ascii(line) for line in lines)


def _listed(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items()) or "nothing to set"


def _bounded(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    if len(text) <= LONGEST:
        return text
    left_out = f"{len(text)} characters"
    return f"left out: {left_out}" if isinstance(value, str) else json.dumps({"left out": left_out})


def read_metadata(metadata: Mapping[str, str]) -> About | None:
    """Return a file's metadata, None in an earlier version's; raise ValueError if invalid."""
    values: dict[str, Any] = {}
    for field in fields(About):
        text = metadata.get(f"{_PREFIX}{field.name}")
        if text is None:
            return None
        if len(text) > LONGEST:
            raise ValueError(f"its {field.name} is longer than any")
        values[field.name] = (
            text if field.type == "str" else _parsed(field.name, text, int if field.type == "int" else dict)
        )
    return About(**values)


def _parsed(name: str, text: str, kind: type[Any]) -> Any:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if type(value) is not kind:
        raise ValueError(f"its {name} is none")
    return value
