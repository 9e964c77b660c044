"""Small traces with known contents: rows by name, written where a sweep would write them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from roambus.bridge.runs.layout import TRACE_FILE, TRACES
from roambus.bridge.trace.schema import AIR_BYTES, AIR_FRAMES, END, MIGRATION_MESSAGES, TRACE_SCHEMA, WARM_UP
from roambus.python_protocol.trace_rows import (
    DELIVER,
    DIE,
    ENERGY,
    MIGRATE,
    MOVE,
    PUBLISH,
    RADIO,
    RECEIVE,
    ROLE,
    ROUTE,
    SEND,
)
from roambus.spark.metrics.metric import Metric
from roambus.spark.metrics.run import Run

Row = dict[str, object]
MIGRATING = ("SUB", "BMIG", "BTAB", "MIG")
"""The message types that migrations cause in these traces."""


def _row(time_s: float, node: int, event: str, **fields: object) -> Row:
    return {"time_s": time_s, "node": node, "event": event, **fields}


def role(node: int, roles: str) -> Row:
    """A node starts at 0 s."""
    return _row(0.0, node, ROLE, detail=roles)


def publish(time_s: float, node: int, notification: str, subscribers: Sequence[int]) -> Row:
    """A notification is published, wanted by these subscribers."""
    return _row(time_s, node, PUBLISH, notification_id=notification, detail=" ".join(map(str, subscribers)))


def route(time_s: float, node: int, notification: str, subscribers: Sequence[int]) -> Row:
    """A node takes a notification on for these subscribers."""
    return _row(time_s, node, ROUTE, notification_id=notification, detail=" ".join(map(str, subscribers)))


def deliver(time_s: float, node: int, notification: str, hops: int) -> Row:
    """A notification reaches the application of a node."""
    return _row(time_s, node, DELIVER, notification_id=notification, hops=hops)


def send(time_s: float, node: int, message_type: str, size: int = 20) -> Row:
    """A packet is handed to the network stack."""
    return _row(time_s, node, SEND, message_type=message_type, bytes=size)


def receive(time_s: float, node: int) -> Row:
    """A packet arrives."""
    return _row(time_s, node, RECEIVE, message_type="PUB", peer=0)


def migrate(time_s: float, node: int, parent: int | None) -> Row:
    """A node has a new parent, or none."""
    return _row(time_s, node, MIGRATE, peer=parent)


def die(time_s: float, node: int) -> Row:
    """The node's battery is empty."""
    return _row(time_s, node, DIE)


def fault(time_s: float, node: int, kind: str) -> Row:
    """A node crashes, freezes or recovers."""
    return _row(time_s, node, kind)


def energy(time_s: float, node: int, millijoules: float) -> Row:
    """What a node used, told at the end."""
    return _row(time_s, node, ENERGY, detail=f"{millijoules:.6f}")


def on_air(time_s: float, node: int, frames: int, size: int) -> list[Row]:
    """A radio's count of what a node had on the air, told at the end."""
    counts = {AIR_FRAMES: frames, AIR_BYTES: size}
    return [radio_count(time_s, node, name, count) for name, count in counts.items()]


def radio_count(time_s: float, node: int, name: str, count: int) -> Row:
    """One of a radio's counts."""
    return _row(time_s, node, RADIO, message_type=name, detail=str(count))


def write_trace(
    results: Path,
    run: str,
    rows: Iterable[Row],
    warm_up_s: float = 0,
    *,
    migrating: Sequence[str] = MIGRATING,
    end_s: float | None = None,
) -> Path:
    """Writes the trace of `run` ("agent=mft/speed=2/seed=0") below `results`; returns the file."""
    file = results / TRACES / run / TRACE_FILE
    file.parent.mkdir(parents=True, exist_ok=True)
    ordered = sorted(rows, key=lambda row: float(str(row["time_s"])))
    table = pa.Table.from_pylist(ordered, TRACE_SCHEMA)
    warm_up = {WARM_UP: str(warm_up_s)} if warm_up_s else {}
    migrations = {MIGRATION_MESSAGES: " ".join(migrating)} if migrating else {}
    end = {END: str(end_s)} if end_s else {}
    table = table.replace_schema_metadata({**warm_up, **end, **migrations})
    with file.open("wb") as opened:  # Arrow knows no names that are not UTF-8
        pq.write_table(table, opened, write_page_checksum=True)
    return file


def measured(
    metrics: Iterable[Metric], rows: Iterable[Row], warm_up_s: float = 0, end_s: float | None = None
) -> dict[str, Any]:
    """The values of these metrics of a run with these rows; None where there is nothing to measure."""
    with TemporaryDirectory() as folder:
        run = Run(write_trace(Path(folder), "agent=any/seed=0", rows, warm_up_s, end_s=end_s))
        values = {metric.column: float(metric(run)) for metric in metrics}
    return {column: None if math.isnan(value) else value for column, value in values.items()}


def assert_same(row: Mapping[str, Any], in_sql: Mapping[str, Any]) -> None:
    """To the last bit; only what is interpolated, percentiles, may differ in it."""
    assert in_sql.keys() < row.keys()
    for name, value in in_sql.items():
        is_interpolated = name in {"delay_p95_s", "delay_p99_s"} and value is not None
        assert row[name] == (pytest.approx(value, rel=1e-12) if is_interpolated else value), name


def random_trace(seed: int, *, publications: int = 60, subscribers: int = 4) -> list[Row]:
    """A run with losses, late and repeated deliveries, replays, and a node of several roles; the same for a seed."""
    random = Random(seed)
    clients = range(1, subscribers + 1)
    rows = [role(0, "publisher"), role(subscribers + 1, "broker subscriber"), *(role(n, "subscriber") for n in clients)]
    for number in range(publications):
        rows += _life(random, f"0.{number}", at=number + random.random(), clients=clients)
    for node in range(subscribers + 2):
        rows += [migrate(random.uniform(0, publications), node, random.choice([None, 0, 1])) for _ in range(seed + 1)]
        rows += [send(random.uniform(0, publications), node, random.choice("AB")) for _ in range(random.randrange(50))]
        rows += [energy(publications + 30.0, node, random.uniform(1, 9)), _row(0.0, node, MOVE, detail="1.0 2.0")]
    return rows


def _life(random: Random, notification: str, *, at: float, clients: Sequence[int]) -> list[Row]:
    wanted = [node for node in clients if random.random() < 0.9]
    routed = [node for node in wanted if random.random() < 0.8]
    rows = [publish(at, 0, notification, wanted), route(at, 0, notification, routed)]
    rows += [route(at + 1, 5, notification, routed[:1])] if random.random() < 0.3 else []
    for node in routed:
        copies = random.choices([0, 1, 2], [2, 6, 1])[0]
        rows += [deliver(at + random.expovariate(3), node, notification, random.randrange(1, 6)) for _ in range(copies)]
    return rows
