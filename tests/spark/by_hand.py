"""The metrics of one trace a second time, row by row in plain Python, to compare Spark's with."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from spark import catalogue as c
from spark import schema

UPKEEP = ("PUB", "REP", "HEARTBEAT", "ACK")
Rows = list[dict[str, Any]]
Pair = tuple[str, int]


def metrics(file: Path) -> dict[str, Any]:
    """Every metric of the catalogue, and `sent` by message type; None where there is nothing to measure."""
    rows: Rows = pq.read_table(file).to_pylist()
    return {**_delivery(rows), **_effort(rows), **_migrations(rows)}


def _of(rows: Rows, event: str) -> Rows:
    return [row for row in rows if row[schema.EVENT] == event]


def _listed(rows: Rows) -> dict[Pair, float]:
    """When each pair of a notification and a listed subscriber was noted."""
    return {
        (row[schema.NOTIFICATION_ID], int(word)): row[schema.TIME_S]
        for row in rows
        for word in row[schema.DETAIL].split()
    }


def _delivery(rows: Rows) -> dict[str, Any]:
    published, routed = _listed(_of(rows, schema.PUBLISH)), _listed(_of(rows, schema.ROUTE))
    copies: dict[Pair, list[tuple[float, int]]] = {}
    for row in _of(rows, schema.DELIVER):
        pair = (row[schema.NOTIFICATION_ID], row[schema.NODE])
        copies.setdefault(pair, []).append((row[schema.TIME_S], row[schema.HOPS]))
    delivered = {pair: min(found) for pair, found in copies.items() if pair in published}
    attempted = routed.keys() & published.keys()
    delays = [round(time * 1e9) - round(published[pair] * 1e9) for pair, (time, _) in delivered.items()]
    hops = [count for _, count in delivered.values()]
    return {
        c.EXPECTED: len(published),
        c.ATTEMPTED: len(attempted),
        c.DELIVERED: len(delivered),
        c.DUPLICATES: sum(len(copies[pair]) - 1 for pair in delivered),
        c.UNEXPECTED: len(copies.keys() - published.keys()),
        c.DELIVERY_RATE_THESIS: _share(len(delivered), len(attempted)),
        c.DELIVERY_RATE_ALL: _share(len(delivered), len(published)),
        c.DELAY_MEAN_S: sum(delays) / len(delays) / 1e9 if delays else None,
        c.HOPS_MEAN: _share(sum(hops), len(hops)),
        c.HOPS_MAX: max(hops, default=None),
    }


def _effort(rows: Rows) -> dict[str, Any]:
    sent_by = Counter(row[schema.NODE] for row in _of(rows, schema.SEND))
    roles = {row[schema.NODE]: row[schema.DETAIL] for row in _of(rows, schema.ROLE)}
    energies = {row[schema.NODE]: round(float(row[schema.DETAIL]) * 1e6) for row in _of(rows, schema.ENERGY)}
    nodes = sent_by.keys() | roles.keys() | energies.keys()
    kinds = {node: _kind(text) for node, text in roles.items()}

    def per(role: str) -> float | None:
        counts = [sent_by[node] for node, kind in kinds.items() if kind == role]
        return _share(sum(counts), len(counts))

    return {
        c.MESSAGES: sent_by.total(),
        c.MESSAGES_PER_NODE: _share(sent_by.total(), len(nodes)),
        c.MESSAGES_PER_PUBLISHER: per("publisher"),
        c.MESSAGES_PER_SUBSCRIBER: per("subscriber"),
        c.MESSAGES_PER_BROKER: per("broker"),
        c.ENERGY_PER_NODE_MJ: sum(energies.values()) / len(energies) / 1e6 if energies else None,
        "sent": dict(Counter(row[schema.MESSAGE_TYPE] for row in _of(rows, schema.SEND))),
    }


def _migrations(rows: Rows) -> dict[str, Any]:
    parents, migrations = set(), []
    for row in _of(rows, schema.MIGRATE):
        if row[schema.PEER] is not None:
            if row[schema.NODE] in parents:
                migrations.append(row[schema.TIME_S])
            parents.add(row[schema.NODE])
    sizes = [
        row[schema.BYTES]
        for row in _of(rows, schema.SEND)
        if migrations and row[schema.TIME_S] >= migrations[0] and row[schema.MESSAGE_TYPE] not in UPKEEP
    ]
    return {
        c.MIGRATIONS: len(migrations),
        c.MESSAGES_PER_MIGRATION: _share(len(sizes), len(migrations)),
        c.BYTES_PER_MIGRATION: _share(sum(sizes), len(migrations)),
        c.MIGRATION_MESSAGE_MEAN_B: _share(sum(sizes), len(sizes)),
        c.MIGRATION_MESSAGE_MAX_B: max(sizes, default=None),
    }


def _kind(roles: str) -> str:
    return next((role for role in ("broker", "subscriber", "publisher") if role in roles.split()), "")


def _share(part: float, whole: int) -> float | None:
    return part / whole if whole else None
