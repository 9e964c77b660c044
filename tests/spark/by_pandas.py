"""The metrics of one trace a second time, in plain Python and pandas, to compare Spark's with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from spark import catalogue as c
from spark import schema

Pair = tuple[str, int]


def metrics(file: Path) -> dict[str, Any]:
    """Every metric of the catalogue, and `sent` by message type; None where there is nothing to measure."""
    rows = pd.read_parquet(file)
    return {**_delivery(rows), **_effort(rows)}


def _pairs(rows: pd.DataFrame, event: str) -> dict[Pair, float]:
    chosen = rows[rows[schema.EVENT] == event]
    return {
        (row.notification_id, int(word)): row.time_s for row in chosen.itertuples() for word in str(row.detail).split()
    }


def _delivery(rows: pd.DataFrame) -> dict[str, Any]:
    published, routed = _pairs(rows, schema.PUBLISH), _pairs(rows, schema.ROUTE)
    copies: dict[Pair, list[tuple[float, int]]] = {}
    for row in rows[rows[schema.EVENT] == schema.DELIVER].itertuples():
        copies.setdefault((str(row.notification_id), int(str(row.node))), []).append((row.time_s, int(row.hops)))
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
        c.DELIVERY_RATE_THESIS: len(delivered) / len(attempted) if attempted else None,
        c.DELIVERY_RATE_ALL: len(delivered) / len(published) if published else None,
        c.DELAY_MEAN_S: sum(delays) / len(delays) / 1e9 if delays else None,
        c.HOPS_MEAN: sum(hops) / len(hops) if hops else None,
        c.HOPS_MAX: max(hops, default=None),
    }


def _effort(rows: pd.DataFrame) -> dict[str, Any]:
    event = rows[schema.EVENT]
    sends = rows[event == schema.SEND]
    roles = {int(str(row.node)): str(row.detail) for row in rows[event == schema.ROLE].itertuples()}
    sent = {node: int((sends[schema.NODE] == node).sum()) for node in roles}
    kinds = {
        node: next((r for r in ("broker", "subscriber", "publisher") if r in text), "") for node, text in roles.items()
    }
    energies = [round(float(text) * 1e6) for text in rows.loc[event == schema.ENERGY, schema.DETAIL]]

    def per(role: str) -> float | None:
        counts = [sent[node] for node, kind in kinds.items() if kind == role]
        return sum(counts) / len(counts) if counts else None

    return {
        c.MESSAGES: sum(sent.values()),
        c.MESSAGES_PER_NODE: sum(sent.values()) / len(sent) if sent else None,
        c.MESSAGES_PER_PUBLISHER: per("publisher"),
        c.MESSAGES_PER_SUBSCRIBER: per("subscriber"),
        c.MESSAGES_PER_BROKER: per("broker"),
        c.ENERGY_PER_NODE_MJ: sum(energies) / len(energies) / 1e6 if energies else None,
        "sent": sends[schema.MESSAGE_TYPE].value_counts().to_dict(),
    }
