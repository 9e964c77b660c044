"""A run as metrics see it: pandas tables of its trace, without Spark.

A table is made on first use; each caller gets a copy. Rows are in order of time (s); a missing value is NaN, or None
for a text. The warm-up is left out but for absences, energy, and a node's last parent, which counts as its first. A
trace is read once, by batches, at 18 bytes a packet; above WHOLE rows only needed ones are kept. So 50 million rows
take less than 2 GiB.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from functools import cached_property, wraps
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from roambus.bridge.errors import mistakes_at
from roambus.bridge.limits import TRACE_LISTED
from roambus.bridge.trace import schema
from roambus.bridge.trace.parquet import CODED_SCHEMA, GREATEST_NODE, DamagedTraceError, read_coded, read_footer
from roambus.bridge.trace.schema import AIR, MIGRATION_MESSAGES, USUAL_AIR, WARM_UP

Result = TypeVar("Result")
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

WHOLE = 4_000_000
"""The most rows of a trace that keeps all but packets."""
ROLES = ("publisher", "subscriber", "broker")
"""A node with several roles counts as the last of them."""
SUBSCRIBER, ROUTED, DELIVERIES = "subscriber", "routed", "deliveries"
PUBLISHED_S, DELIVERED_S, DELAY_S = "published_s", "delivered_s", "delay_s"
ROLE, MESSAGES, AIR_BYTES, ENERGY_MJ, DIED_S = "role", "messages", "air_bytes", "energy_mj", "died_s"

_OF_TABLES = (
    schema.PUBLISH, schema.ROUTE, schema.DELIVER, schema.ROLE, schema.ENERGY, schema.MIGRATE, schema.DIE,
    schema.DETACH, schema.ATTACH,
)  # fmt: skip


def once(function: Callable[[Run], Result]) -> Callable[[Run], Result]:
    """Compute a function once for each run; callers get copies."""

    @wraps(function)
    def get(run: Run) -> Result:
        if function not in run.known:
            run.known[function] = function(run)
        found: Result = run.known[function]
        return copy(found) if isinstance(found, pd.DataFrame | pd.Series) else found

    return get


class Run:
    """The run of a trace; raises DamagedTraceError, and so do tables of invalid rows."""

    def __init__(self, file: Path, deadline_s: float = 1.0) -> None:
        footer = read_footer(file)
        self.file, self.row_count, self.deadline_s = file, footer.rows, deadline_s
        self.warm_up_s = warm_up_of(file, footer.metadata)
        self.air = _air_of(file, footer.metadata)
        """Bytes of headers of each packet on the air, and bit/s."""
        self.migration_messages = tuple(footer.metadata.get(MIGRATION_MESSAGES, "").split())
        """The message types that migrations cause, as the agent declares them."""
        self.known: dict[Callable[..., Any], Any] = {}
        """Results of functions under `once`."""

    @cached_property
    def _read(self) -> tuple[pa.Table, _Packets]:
        packets, kept = _Packets(self.row_count), []
        for batch in read_coded(self.file):
            is_sent = _is_of(batch, [schema.SEND])
            packets.add(batch.filter(is_sent))
            kept.append(batch.filter(pc.invert(is_sent) if self.row_count <= WHOLE else _of_tables(batch)))
        packets.close()
        return _table(kept), packets

    def rows(self, *events: str) -> pd.DataFrame:
        """The rows of these events, or all."""
        coded = self._coded(events)
        return pd.DataFrame({name: _plain(coded[name]) for name in coded.column_names})

    def _coded(self, events: Sequence[str]) -> pa.Table:
        kept, _ = self._read
        if not events:
            return _table(list(read_coded(self.file)))
        if schema.SEND in events or (self.row_count > WHOLE and not set(events).issubset(_OF_TABLES)):
            return _table([batch.filter(_is_of(batch, events)) for batch in read_coded(self.file)])
        return kept.filter(_is_of(kept, events))

    @cached_property
    def end_s(self) -> float:
        """The time of the last row."""
        return max(self._read[1].end_s, pc.max(self._read[0][schema.TIME_S]).as_py() or 0.0)

    @property
    def counted_s(self) -> float:
        """How long the run was, without its warm-up."""
        return max(self.end_s - self.warm_up_s, 0.0)

    @property
    @once
    def publications(self) -> pd.DataFrame:
        """A row for each publication: `time_s`, `node`, `notification_id`, `detail` (its receivers)."""
        rows = self.rows(schema.PUBLISH)[[schema.TIME_S, schema.NODE, schema.NOTIFICATION_ID, schema.DETAIL]]
        return rows[rows[schema.TIME_S] >= self.warm_up_s].reset_index(drop=True)

    @property
    @once
    def deliveries(self) -> pd.DataFrame:
        """A row for each delivery to others: `time_s`, `node`, `notification_id`, `hops`."""
        rows = self.rows(schema.DELIVER)[[schema.TIME_S, schema.NODE, schema.NOTIFICATION_ID, schema.HOPS]]
        published = self.rows(schema.PUBLISH).drop_duplicates(schema.NOTIFICATION_ID)
        publisher = rows[schema.NOTIFICATION_ID].map(published.set_index(schema.NOTIFICATION_ID)[schema.NODE])
        rows = rows[rows[schema.NODE] != publisher]
        if self.warm_up_s:
            early = published[schema.NOTIFICATION_ID][published[schema.TIME_S] < self.warm_up_s]
            rows = rows[(rows[schema.TIME_S] >= self.warm_up_s) & ~rows[schema.NOTIFICATION_ID].isin(early)]
        return rows.reset_index(drop=True)

    @property
    @once
    def sends(self) -> pd.DataFrame:
        """A row for each packet: `time_s`, `node`, `message_type` (a category), `bytes` (no headers)."""
        return self._read[1].since(self.warm_up_s)

    @property
    def pairs(self) -> pd.DataFrame:
        """A row for each notification and node, other than its publisher, that wanted it.

        `notification_id`, `subscriber`, `published_s`, `routed` (whether the protocol began to deliver it),
        `deliveries`, and of the first delivery `delivered_s`, `delay_s` and `hops`. Fewest hops break ties.
        """
        return self._pairs[0].copy(deep=False)

    @property
    def unexpected(self) -> int:
        """The number of pairs delivered to unintended receivers."""
        return self._pairs[1]

    @cached_property
    def _pairs(self) -> tuple[pd.DataFrame, int]:
        rows = self._coded([schema.PUBLISH, schema.ROUTE, schema.DELIVER]).unify_dictionaries()
        publisher, is_early = self._publishers(rows)
        published, routed = (self._listed(rows, event) for event in (schema.PUBLISH, schema.ROUTE))
        delivered = _delivered(rows.filter(_is_of(rows, [schema.DELIVER])))
        # A publisher's own notification is no delivery.
        published, delivered = (
            one.at(publisher[one.keys >> 16] != one.keys & GREATEST_NODE) for one in (published, delivered)
        )
        keys, where = np.unique(published.keys, return_index=True)
        keys = published.keys[np.sort(where)]
        index = pd.Index(keys)
        of_published, of_routed, of_delivered = (
            index.get_indexer(pd.Index(one.keys)) for one in (published, routed, delivered)
        )
        is_wanted, early = of_delivered >= 0, np.zeros(len(keys), bool)
        at = of_delivered[is_wanted]
        early[of_published[published.time_s < self.warm_up_s]] = True
        early[at[delivered.time_s[is_wanted] < self.warm_up_s]] = True
        columns = {
            schema.NOTIFICATION_ID: _texts(rows[schema.NOTIFICATION_ID])[keys >> 16],
            SUBSCRIBER: keys & GREATEST_NODE,
            PUBLISHED_S: published.time_s[np.sort(where)],
            ROUTED: np.isin(np.arange(len(keys)), of_routed),
            DELIVERIES: np.bincount(at, minlength=len(keys)),
            DELIVERED_S: _firsts(at, delivered.time_s[is_wanted], len(keys)),
            schema.HOPS: _firsts(at, delivered.hops[is_wanted], len(keys)),
        }
        table = pd.DataFrame(columns)
        table[DELAY_S] = difference_s(table[DELIVERED_S], table[PUBLISHED_S])
        others, is_late = delivered.keys[~is_wanted], delivered.time_s[~is_wanted] >= self.warm_up_s
        before = np.isin(others, others[~is_late]) | is_early[others >> 16]
        return table[~early].reset_index(drop=True), len(np.unique(others[~before]))

    def _publishers(self, rows: pa.Table) -> tuple[Integers, npt.NDArray[np.bool_]]:
        published = rows.filter(_is_of(rows, [schema.PUBLISH]))
        codes, count = _codes(published[schema.NOTIFICATION_ID]), len(_texts(rows[schema.NOTIFICATION_ID]))
        publisher, is_early = np.full(count, -1), np.zeros(count, bool)
        publisher[codes[::-1]] = published[schema.NODE].to_numpy()[::-1]  # the first publication stays
        is_early[codes[published[schema.TIME_S].to_numpy() < self.warm_up_s]] = True
        return publisher, is_early

    def _listed(self, rows: pa.Table, event: str) -> _Keyed:
        rows = rows.filter(_is_of(rows, [event])).combine_chunks()
        self._check_lists(rows, schema.DETAIL)
        details = rows[schema.DETAIL].combine_chunks().fill_null("") if len(rows) else pa.array([], pa.string())
        words = pc.split_pattern(details.cast(pa.string()), schema.LIST_SEPARATOR)
        row, word = pc.list_parent_indices(words).to_numpy(), pc.list_flatten(words)
        there = pc.not_equal(word, "")
        row, word = row[there.to_numpy(zero_copy_only=False)], word.filter(there)
        is_node = pc.match_substring_regex(word, r"^[0-9]{1,5}$")
        who = pc.if_else(is_node, word, str(GREATEST_NODE + 1)).cast(pa.int64()).to_numpy()
        if np.any(who > GREATEST_NODE):
            self._refuse(event)
        return _Keyed(_codes(rows[schema.NOTIFICATION_ID])[row] << 16 | who, rows[schema.TIME_S].to_numpy()[row])

    def _check_lists(self, rows: pa.Table, column: str) -> None:
        words = [text.count(schema.LIST_SEPARATOR) + 1 if text else 0 for text in _texts(rows[column])]
        with mistakes_at(self.file):
            TRACE_LISTED.check(int(np.array(words)[_codes(rows[column])].sum()))

    def _refuse(self, event: str) -> None:
        raise NonsenseError(self.file, f"a {event} row whose {schema.DETAIL} holds no numbers: correct its agent")

    @property
    @once
    def nodes(self) -> pd.DataFrame:
        """A row for each node: `role`, `messages`, `air_bytes` (with headers), `energy_mj`, `died_s`."""
        roles, energies, deaths = (self.rows(event) for event in (schema.ROLE, schema.ENERGY, schema.DIE))
        spent = pd.to_numeric(energies[schema.DETAIL], errors="coerce")
        if not np.isfinite(spent).all():
            self._refuse(schema.ENERGY)
        sending = np.flatnonzero(np.bincount(self._read[1].since(0.0)[schema.NODE]))
        known = np.union1d(sending, pd.concat([roles[schema.NODE], energies[schema.NODE]])).astype("int64")
        role = roles[schema.DETAIL].map(_last_role).groupby(roles[schema.NODE]).max().map(dict(enumerate(ROLES)))
        columns = {
            ROLE: role,
            MESSAGES: self._sum_of_sends(known),
            AIR_BYTES: self._sum_of_sends(known, self.sends[schema.BYTES].to_numpy() + self.air[0]),
            ENERGY_MJ: np.rint(spent * 1e6).groupby(energies[schema.NODE]).sum() / 1e6,
            DIED_S: deaths.groupby(schema.NODE)[schema.TIME_S].min(),
        }
        return pd.DataFrame(columns).rename_axis(schema.NODE)

    def _sum_of_sends(self, nodes: Integers, values: Integers | None = None) -> pd.Series[Any]:
        sums = np.bincount(self.sends[schema.NODE], values, minlength=GREATEST_NODE + 1)
        return pd.Series(sums[nodes], nodes)

    @property
    @once
    def migrations(self) -> pd.DataFrame:
        """A row for each further parent of a node: `time_s`, `node`, `peer` (the new parent)."""
        parents = self.rows(schema.MIGRATE)[[schema.TIME_S, schema.NODE, schema.PEER]].dropna()
        is_early = parents[schema.TIME_S] < self.warm_up_s
        first = parents[is_early].drop_duplicates(schema.NODE, keep="last")
        since = pd.concat([first, parents[~is_early]])
        return since[since.duplicated(schema.NODE)].reset_index(drop=True)

    @property
    @once
    def heard(self) -> pd.DataFrame:
        """A row for each reception of a notification, at level full: `node`, `notification_id`."""
        kept, _ = self._read
        rows = kept.filter(_is_of(kept, [schema.RECEIVE]))
        carried = _texts(rows[schema.NOTIFICATION_ID])[_codes(rows[schema.NOTIFICATION_ID])]
        heard = pd.DataFrame({schema.NODE: rows[schema.NODE].to_numpy(), schema.NOTIFICATION_ID: carried})
        self._check_lists(rows, schema.NOTIFICATION_ID)
        late = heard[rows[schema.TIME_S].to_numpy() >= self.warm_up_s].dropna()
        ids = late[schema.NOTIFICATION_ID].str.split(schema.LIST_SEPARATOR)
        each: pd.DataFrame = late.assign(**{schema.NOTIFICATION_ID: ids}).explode(schema.NOTIFICATION_ID)
        return each.reset_index(drop=True)


class NonsenseError(DamagedTraceError):
    """An intact trace has impossible contents."""


# What metrics compute with


def billionths(seconds: Any) -> Any:
    """Return the nearest integers of billionths: nanoseconds for seconds."""
    return np.rint(seconds * 1e9).astype("int64")


def difference_s(later: pd.Series[float], earlier: pd.Series[float]) -> pd.Series[float]:
    """Return the time between both, to the nanosecond; missing if one is."""
    return ((later * 1e9).round() - (earlier * 1e9).round()) / 1e9


def warm_up_of(file: Path, metadata: Mapping[str, str]) -> float:
    """The warm-up in seconds; raises DamagedTraceError."""
    with suppress(ValueError):
        warm_up_s = float(metadata.get(WARM_UP, "0"))
        if 0 <= warm_up_s < math.inf:
            return warm_up_s
    raise DamagedTraceError(file, "damaged (its warm-up is not a time)")


def _air_of(file: Path, metadata: Mapping[str, str]) -> tuple[int, int]:
    """Header bytes and bit/s of a frame; raises DamagedTraceError."""
    if AIR not in metadata:
        return USUAL_AIR
    with suppress(ValueError):
        headers, rate = map(int, metadata[AIR].split())
        if 0 <= headers < 1 << 16 and rate > 0:
            return headers, rate
    raise DamagedTraceError(file, "damaged (it does not say what its headers are)")


# Arrays


class _Packets:
    """A run's packets, in arrays that take memory as they fill."""

    def __init__(self, most: int) -> None:
        self._count, self._types = 0, dict[str, int]()
        self._columns = {
            schema.TIME_S: np.empty(most), schema.NODE: np.empty(most, "uint16"),
            schema.MESSAGE_TYPE: np.empty(most, "int32"), schema.BYTES: np.empty(most, "int32"),
        }  # fmt: skip

    def add(self, batch: pa.RecordBatch) -> None:
        kinds = batch[schema.MESSAGE_TYPE]
        numbers = [self._types.setdefault(text or "", len(self._types)) for text in _texts(kinds)]
        values = {
            **{name: batch[name].fill_null(0).to_numpy() for name in (schema.TIME_S, schema.NODE, schema.BYTES)},
            schema.MESSAGE_TYPE: np.array(numbers)[_codes(kinds)],
        }
        start, self._count = self._count, self._count + len(batch)
        for name, column in self._columns.items():
            column[start : self._count] = values[name]

    def close(self) -> None:
        """Makes a table of them, in the order of time."""
        columns: dict[str, Any] = {name: column[: self._count] for name, column in self._columns.items()}
        if np.any(np.diff(columns[schema.TIME_S]) < 0):
            order = np.argsort(columns[schema.TIME_S], kind="stable")
            columns = {name: column[order] for name, column in columns.items()}
        kinds = pd.Categorical.from_codes(columns[schema.MESSAGE_TYPE], pd.Index(self._types, dtype=object))
        self._table = pd.DataFrame({**columns, schema.MESSAGE_TYPE: kinds}, copy=False)
        self._columns.clear()

    @property
    def end_s(self) -> float:
        """When the last was sent."""
        return float(self._table[schema.TIME_S].max()) if len(self._table) else 0.0

    def since(self, time_s: float) -> pd.DataFrame:
        """Those from that time on."""
        return self._table.iloc[np.searchsorted(self._table[schema.TIME_S], time_s) :]


class _Keyed(NamedTuple):
    """Rows about pairs: key (notification's number and subscriber) and time."""

    keys: Integers
    time_s: Floats
    hops: Floats = np.empty(0)

    def at(self, chosen: npt.NDArray[np.bool_]) -> _Keyed:
        """Return the chosen rows."""
        return _Keyed(self.keys[chosen], self.time_s[chosen], self.hops[chosen] if len(self.hops) else self.hops)


def _delivered(rows: pa.Table) -> _Keyed:
    time_s, hops = rows[schema.TIME_S].to_numpy(), rows[schema.HOPS].to_numpy().astype(float)
    order = np.lexsort((np.nan_to_num(hops, nan=-1.0), time_s))
    keys = _codes(rows[schema.NOTIFICATION_ID]) << 16 | rows[schema.NODE].to_numpy()
    return _Keyed(keys[order], time_s[order], hops[order])


def _firsts(at: Integers, values: Floats, size: int) -> Floats:
    found = np.full(size, np.nan)
    found[at[::-1]] = values[::-1]  # of several values for one place the last that is written stays
    return found


def _table(batches: list[pa.RecordBatch]) -> pa.Table:
    table = pa.Table.from_batches(batches, CODED_SCHEMA).unify_dictionaries().combine_chunks()
    time_s = table[schema.TIME_S].to_numpy()
    return table.take(np.argsort(time_s, kind="stable")) if np.any(np.diff(time_s) < 0) else table


def _is_of(rows: pa.Table | pa.RecordBatch, events: Sequence[str]) -> pa.BooleanArray:
    column = rows[schema.EVENT]
    wanted = np.array([text in events for text in _texts(column)], bool)
    return pa.array(wanted[_codes(column)])


def _codes(texts: Any) -> Integers:
    flat = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
    codes: Integers = flat.indices.fill_null(len(flat.dictionary)).to_numpy(zero_copy_only=False).astype("int64")
    return codes


def _of_tables(rows: pa.RecordBatch) -> pa.BooleanArray:
    heard = pc.and_(_is_of(rows, [schema.RECEIVE]), pc.is_valid(rows[schema.NOTIFICATION_ID]))
    return pc.or_(_is_of(rows, _OF_TABLES), heard)


def _texts(coded: Any) -> npt.NDArray[np.object_]:
    flat = coded.combine_chunks() if isinstance(coded, pa.ChunkedArray) else coded
    return np.array([*flat.dictionary.to_pylist(), None], dtype=object)


def _plain(column: pa.ChunkedArray) -> Any:
    return _texts(column)[_codes(column)] if pa.types.is_dictionary(column.type) else column.to_numpy()


def _last_role(roles: str | None) -> float:
    named = (roles or "").split(schema.LIST_SEPARATOR)
    return max((place for place, role in enumerate(ROLES) if role in named), default=math.nan)
