"""The metrics of one trace a second time, in plain pandas, to compare Spark's with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

from roambus.bridge.trace.schema import WARM_UP
from roambus.spark.metrics import catalogue as c

UPKEEP = ["PUB", "REP", "HEARTBEAT", "ACK"]
PAIR = ["notification_id", "subscriber"]


def metrics(file: Path) -> dict[str, Any]:
    """Every metric of the catalogue, and `sent` by message type; None where there is nothing to measure."""
    rows = pd.read_parquet(file, partitioning=None)
    warm_up_s = float((pq.read_schema(file).metadata or {}).get(WARM_UP.encode(), b"0"))
    if warm_up_s:
        rows = without_warm_up(rows, warm_up_s)
    found = {**delivery(rows), **effort(rows), **migrations(rows)}
    return {name: None if name != "sent" and pd.isna(value) else value for name, value in found.items()}


def without_warm_up(rows: pd.DataFrame, end_s: float) -> pd.DataFrame:
    """What is left: not what was sent or published before, and of the parents before the last of each node only."""
    is_early = rows.time_s < end_s
    published = rows[(rows.event == "publish") & is_early].notification_id
    is_pair = rows.event.isin(["publish", "route", "deliver"])
    parents = rows[(rows.event == "migrate") & rows.peer.notna() & is_early]
    replaced = parents.index.difference(parents.drop_duplicates("node", keep="last").index)
    out = (is_early & rows.event.isin(["send", "deliver"])) | (is_pair & rows.notification_id.isin(published))
    return rows[~out].drop(index=replaced)


def listed(rows: pd.DataFrame, event: str) -> pd.DataFrame:
    """A row for each pair of a notification and a subscriber that a row of this event lists."""
    chosen = rows[rows.event == event]
    pairs = (
        chosen.assign(subscriber=chosen.detail.fillna("").str.split()).explode("subscriber").dropna(subset="subscriber")
    )
    return pairs.astype({"subscriber": int})


def nanoseconds(seconds: pd.Series[float]) -> pd.Series[int]:
    return (seconds * 1e9).round().astype("int64")


def ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def delivery(rows: pd.DataFrame) -> dict[str, Any]:
    published = listed(rows, "publish").groupby(PAIR, as_index=False).time_s.min()
    attempted = published.merge(listed(rows, "route")[PAIR].drop_duplicates(), on=PAIR)
    copies = rows[rows.event == "deliver"].rename(columns={"node": "subscriber"}).sort_values(["time_s", "hops"])
    first = copies.drop_duplicates(PAIR)
    delivered = first.merge(published, on=PAIR, suffixes=("", "_published"))
    delays = nanoseconds(delivered.time_s) - nanoseconds(delivered.time_s_published)
    return {
        c.EXPECTED: len(published),
        c.ATTEMPTED: len(attempted),
        c.DELIVERED: len(delivered),
        c.DUPLICATES: len(copies.merge(published[PAIR], on=PAIR)) - len(delivered),
        c.UNEXPECTED: len(first) - len(delivered),
        c.DELIVERY_RATE_THESIS: ratio(len(attempted.merge(first[PAIR], on=PAIR)), len(attempted)),
        c.DELIVERY_RATE_ALL: ratio(len(delivered), len(published)),
        c.DELAY_MEAN_S: int(delays.sum()) / len(delays) / 1e9 if len(delays) else None,
        c.HOPS_MEAN: ratio(int(delivered.hops.sum()), len(delivered)),
        c.HOPS_MAX: delivered.hops.max(),
    }


def effort(rows: pd.DataFrame) -> dict[str, Any]:
    sends = rows[rows.event == "send"]
    nodes = rows[rows.event.isin(["role", "send", "energy"])].node.unique()
    sent = sends.groupby("node").size().reindex(nodes, fill_value=0)
    roles = rows[rows.event == "role"].set_index("node").detail.map(last_role)
    deaths = rows[rows.event == "die"].time_s
    energy = (rows[rows.event == "energy"].detail.astype(float) * 1e6).round().astype("int64")
    by_role = {role: sent[roles.index[roles == role]] for role in ("publisher", "subscriber", "broker")}
    return {
        c.MESSAGES: len(sends),
        c.MESSAGES_PER_NODE: ratio(len(sends), len(nodes)),
        c.MESSAGES_PER_PUBLISHER: ratio(int(by_role["publisher"].sum()), len(by_role["publisher"])),
        c.MESSAGES_PER_SUBSCRIBER: ratio(int(by_role["subscriber"].sum()), len(by_role["subscriber"])),
        c.MESSAGES_PER_BROKER: ratio(int(by_role["broker"].sum()), len(by_role["broker"])),
        c.LIFETIME_S: float(deaths.min()) if len(deaths) else None,
        c.DEAD_NODES: len(deaths),
        c.ENERGY_PER_NODE_MJ: int(energy.sum()) / len(energy) / 1e6 if len(energy) else None,
        "sent": sends.groupby("message_type").size().to_dict(),
    }


def last_role(roles: str) -> str:
    return next((role for role in ("broker", "subscriber", "publisher") if role in roles.split()), "")


def migrations(rows: pd.DataFrame) -> dict[str, Any]:
    parents = rows[(rows.event == "migrate") & rows.peer.notna()].sort_values("time_s", kind="stable")
    again = parents[parents.duplicated("node")]
    since = rows[(rows.event == "send") & (rows.time_s >= again.time_s.min())]
    later = since[~since.message_type.isin(UPKEEP)]
    if since[since.message_type == "HEARTBEAT"].bytes.nunique() > 1:
        costs = (c.MESSAGES_PER_MIGRATION, c.BYTES_PER_MIGRATION, c.MIGRATION_MESSAGE_MEAN_B, c.MIGRATION_MESSAGE_MAX_B)
        return {c.MIGRATIONS: len(again), **dict.fromkeys(costs)}
    return {
        c.MIGRATIONS: len(again),
        c.MESSAGES_PER_MIGRATION: ratio(len(later), len(again)),
        c.BYTES_PER_MIGRATION: ratio(int(later.bytes.sum()), len(again)),
        c.MIGRATION_MESSAGE_MEAN_B: ratio(int(later.bytes.sum()), len(later)),
        c.MIGRATION_MESSAGE_MAX_B: later.bytes.max(),
    }
