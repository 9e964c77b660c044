"""Computes the metrics of every run from its trace rows alone: DataFrame in, DataFrame out.

Traces are read for three summaries, which are small beside them: one has a row for each node, with what a few rows tell
of it; one for each node, event and message type; one for each pair of a notification and a subscriber.
The readings count the same rows, so that a file that one of them could not read to its end is noticed.

What a run does in its warm-up is left out: what it publishes then is not expected, what it sends then is not counted.
Energy is that of the whole run, because a run says it at its end only.

Times and energies are summed as integers (ns, nJ), and means as billionths, so that no result depends on the order in
which Spark adds.

An absence of a client begins with a detachment and ends with the next attachment. Only absences that clients announce
are in a trace.
"""

from __future__ import annotations

from decimal import Decimal
from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812  # the name that every text on Spark uses

from roambus.bridge.trace import schema
from roambus.spark.metrics import catalogue


def billionths(value: Column) -> Column:
    """The nearest integer of billionths (nanoseconds for seconds); null where it does not fit 64 bits."""
    return F.round(value * 1e9).try_cast("long")


def mean_of_billionths(value: Column) -> Column:
    """An aggregate that is the mean of integers of billionths, as a number; null if there are no values."""
    return F.try_divide(F.sum(value), F.count(value)) / 1e9


RUN = "run"
"""The column that tells runs apart."""
EARLY = "is_early"
"""The column that says whether a row is of the run's warm-up; without it no row is."""
SENT = "sent"
"""The column that maps each message type to the number of packets sent."""
ROWS_READ = "rows_read"
"""The column with the number of rows that the metrics are made of."""
NONSENSE = "nonsense"
"""The column with the number of rows that hold something else where the metrics need numbers."""

_OF_PAIRS = (schema.PUBLISH, schema.ROUTE, schema.DELIVER)
_SUBSCRIBER = "subscriber"
_NO_NUMBER = -1
"""It stands for a subscriber in a list that is no number."""
_POSITION, _WORD = "position", "word"
_PUBLISHED_S, _ROUTED, _DELIVERIES, _DELIVERED_S = "published_s", "routed", "deliveries", "delivered_s"
_ATTEMPTED_DELIVERED = "attempted_delivered"
_PAIR_ROWS, _PAIR_ROWS_FOUND, _NONSENSE_LISTED = "pair_rows", "pair_rows_found", "nonsense_listed"
_OF_NODES = (schema.ROLE, schema.ENERGY, schema.MIGRATE, schema.DIE)
_NODE_ROWS, _NODE_ROWS_FOUND, _NONSENSE_ENERGIES = "node_rows", "node_rows_found", "nonsense_energies"
_PARENTS, _FIRST_MIGRATION_S, _DIED_S = "parents", "first_migration_s", "died_s"
_ROWS, _LATEST, _COUNTED = "rows", "latest", "counted"
_ROWS_SINCE, _MESSAGES_SINCE = "rows_since", "messages_since"
_BYTES_SINCE, _LONGEST_SINCE, _SHORTEST_SINCE = "bytes_since", "longest_since", "shortest_since"
"""What was sent from the first migration on."""
_SHORTEST_BEAT, _LONGEST_BEAT = "shortest_beat", "longest_beat"
_HEARTBEAT = "HEARTBEAT"
_NOT_OF_MIGRATIONS = ("PUB", "REP", _HEARTBEAT, "ACK")
"""The message types of notifications, and of what keeps tree and links up whether or not anything moves."""
_ROLES = ("publisher", "subscriber", "broker")
"""A node with several roles counts as the last of them."""


def _is_early(traces: DataFrame) -> Column:
    return F.col(EARLY) if EARLY in traces.columns else F.lit(False)


# Pairs: one row for each pair of a notification and a subscriber


def summarise_pairs(traces: DataFrame) -> DataFrame:
    """When each pair was published, whether it was taken on, its first delivery, and its number of deliveries.

    `traces` has the columns of `roambus.bridge.trace.schema` and `run`. Rows that list subscribers count in a row
    without a subscriber; a delivery counts in its pair's. Every aggregate is a plain number: those of other types are
    computed by sorting, which takes several times as long.
    """
    event, time_s, unlisted = F.col(schema.EVENT), F.col(schema.TIME_S), F.col(_SUBSCRIBER).isNull()
    publish, route, deliver = (~unlisted & (event == name) for name in _OF_PAIRS)
    notification = F.when(~unlisted, F.col(schema.NOTIFICATION_ID)).alias(schema.NOTIFICATION_ID)
    rows = _with_subscribers(traces.where(event.isin(*_OF_PAIRS)))
    return rows.groupBy(RUN, notification, _SUBSCRIBER).agg(
        F.min(F.when(publish, time_s)).alias(_PUBLISHED_S),
        (F.count_if(route) > 0).alias(_ROUTED),
        (F.count_if((publish | deliver) & _is_early(traces)) > 0).alias(EARLY),
        F.count_if(deliver).alias(_DELIVERIES),
        F.min(F.when(deliver, time_s)).alias(_DELIVERED_S),
        F.min_by(schema.HOPS, F.when(deliver, _time_then_hops())).alias(schema.HOPS),
        # A delivery without a node is damage, and counts as not found.
        F.count_if((event == schema.DELIVER) != unlisted).alias(_PAIR_ROWS_FOUND),
        F.count_if(F.col(_SUBSCRIBER) == _NO_NUMBER).alias(_NONSENSE_LISTED),
    )


def _with_subscribers(rows: DataFrame) -> DataFrame:
    """A row for each subscriber that a row is about: a delivery for its node, any other for itself (null) and its list.

    Lists are split into rows of text before anything else is done to them: what is done to the elements of an array
    is not compiled.
    """
    is_delivery, position, word = F.col(schema.EVENT) == schema.DELIVER, F.col(_POSITION), F.col(_WORD)
    # The separator before the list makes its first word an empty one: it stands for the row itself.
    listed = F.concat(F.lit(schema.LIST_SEPARATOR), F.coalesce(schema.DETAIL, F.lit("")))
    words = F.when(is_delivery, F.array(F.lit(""))).otherwise(F.split(listed, schema.LIST_SEPARATOR))
    apart = rows.select("*", F.posexplode(words).alias(_POSITION, _WORD)).where((position == 0) | (word != ""))
    number = F.coalesce(word.try_cast("int"), F.lit(_NO_NUMBER))
    return apart.withColumn(_SUBSCRIBER, F.when(is_delivery, F.col(schema.NODE)).when(position > 0, number))


def _time_then_hops() -> Column:
    """A decimal that is in the order of times, and of hops at one time, where none is less than any number.

    All times from 10 ms on have no more than 18 digits after the point. A decimal is a plain number; a struct is not.
    """
    hops = F.least(F.greatest(schema.HOPS, F.lit(-1)), F.lit(10**9 - 2)) + 1
    small = hops.cast("decimal(9,0)") * F.lit(Decimal("1e-28"))
    # As narrow as can be: of a sum of more than 38 digits Spark would drop the last.
    return F.col(schema.TIME_S).try_cast("decimal(27,18)") + small.cast("decimal(28,28)")


# Rows: how many of each node, event and message type


def summarise_rows(traces: DataFrame, first_migrations: DataFrame) -> DataFrame:
    """How many rows of each node, event and message type there are, and what they come to from the first migration on.

    `first_migrations` has `run` and `first_migration_s`. This is the one reading that every row goes through, so it
    only counts; what the rows mean is left to those who read the summary.
    """
    is_early = _is_early(traces)
    since = (F.col(schema.TIME_S) >= F.col(_FIRST_MIGRATION_S)) & ~is_early
    size = F.when(since, F.col(schema.BYTES))
    rows = traces.join(F.broadcast(first_migrations), RUN, "left")
    return rows.groupBy(RUN, schema.NODE, schema.EVENT, schema.MESSAGE_TYPE).agg(
        F.count("*").alias(_ROWS),
        F.count_if(~is_early).alias(_COUNTED),
        F.max(F.abs(schema.TIME_S)).alias(_LATEST),
        F.count_if(since).alias(_ROWS_SINCE),
        F.sum(size).alias(_BYTES_SINCE),
        F.max(size).alias(_LONGEST_SINCE),
        F.min(size).alias(_SHORTEST_SINCE),
    )


# Nodes: one row for each, from the few rows whose contents count


def summarise_nodes(traces: DataFrame) -> DataFrame:
    """Role, energy (nJ), number of parents, and the time (s) of the second one: that of the first migration."""
    event, parent = F.col(schema.EVENT), (F.col(schema.EVENT) == schema.MIGRATE) & F.col(schema.PEER).isNotNull()
    rows, is_early = traces.where(event.isin(*_OF_NODES)), _is_early(traces)
    # Of the warm-up one parent counts, as the first: to get another one later is a migration.
    had_one = F.least(F.count_if(parent & is_early), F.lit(1))
    later = F.array_sort(F.collect_list(F.when(parent & ~is_early, F.col(schema.TIME_S))))
    return rows.groupBy(RUN, schema.NODE).agg(
        F.max(F.when(event == schema.ROLE, _role(F.col(schema.DETAIL)))).alias("role"),
        F.try_sum(F.when(event == schema.ENERGY, _energy_nj())).alias("energy_nj"),
        F.count_if((event == schema.ENERGY) & _energy_nj().isNull()).alias(_NONSENSE_ENERGIES),
        F.min(F.when(event == schema.DIE, F.col(schema.TIME_S))).alias(_DIED_S),
        (F.count_if(parent & ~is_early) + had_one).alias(_PARENTS),
        F.get(later, (1 - had_one).cast("int")).alias(_FIRST_MIGRATION_S),
        F.count("*").alias(_NODE_ROWS_FOUND),
    )


def first_migrations(nodes: DataFrame) -> DataFrame:
    """When a node gets a parent after its first one, for the first time in each run: `run`, `first_migration_s`."""
    return nodes.groupBy(RUN).agg(F.min(_FIRST_MIGRATION_S).alias(_FIRST_MIGRATION_S))


def _energy_nj() -> Column:
    return F.round(F.col(schema.DETAIL).try_cast("double") * 1e6).try_cast("long")


def _role(roles: Column) -> Column:
    """The position in _ROLES of the last role that is named; null for a node without any."""
    words = F.split(roles, schema.LIST_SEPARATOR)
    return F.greatest(*(F.when(F.array_contains(words, role), F.lit(position)) for position, role in enumerate(_ROLES)))


# Metrics: one row a run


def run_metrics(rows: DataFrame, nodes: DataFrame, pairs: DataFrame) -> DataFrame:
    """One row for each run that has any: the metrics of the catalogue, `sent`, `rows_read` and `nonsense`.

    They are made of the summaries; `rows` and `nodes` are read several times, so let Spark keep them. A metric without
    anything to measure is null. `rows_read` is null if not every reading of a trace found the same rows.
    """
    parts = (
        _delivery_metrics(pairs),
        _node_metrics(_efforts(rows).join(nodes, [RUN, schema.NODE], "full")),
        _sent(rows),
        _reading(rows),
    )
    return _checked(reduce(lambda whole, part: whole.join(part, RUN, "full"), parts)).na.fill(0, list(catalogue.COUNTS))


def _reading(rows: DataFrame) -> DataFrame:
    """How many rows there are, and how many of them the other readings should have found."""
    event, count = F.col(schema.EVENT), F.col(_ROWS)
    return rows.groupBy(RUN).agg(
        F.sum(count).alias(ROWS_READ),
        F.sum(F.when(event.isin(*_OF_PAIRS), count)).alias(_PAIR_ROWS),
        F.sum(F.when(event.isin(*_OF_NODES), count)).alias(_NODE_ROWS),
        F.count_if(F.col(_LATEST) > schema.LATEST_S).alias(NONSENSE),
    )


def _checked(joined: DataFrame) -> DataFrame:
    """The metrics, without the columns that were counted for comparison only."""
    found = {_NODE_ROWS: _NODE_ROWS_FOUND, _PAIR_ROWS: _PAIR_ROWS_FOUND}
    alike = reduce(Column.__and__, (_or_0(counted) == _or_0(again) for counted, again in found.items()))
    checks = {
        ROWS_READ: F.when(alike, F.col(ROWS_READ)),
        NONSENSE: reduce(Column.__add__, (_or_0(name) for name in (NONSENSE, _NONSENSE_LISTED, _NONSENSE_ENERGIES))),
    }
    return joined.withColumns(checks).drop(*found, *found.values(), _NONSENSE_LISTED, _NONSENSE_ENERGIES)


def _or_0(count: str) -> Column:
    return F.coalesce(count, F.lit(0))


def _delivery_metrics(pairs: DataFrame) -> DataFrame:
    published, delivered = F.col(_PUBLISHED_S).isNotNull(), F.col(_DELIVERIES) > 0
    expected = published & ~F.col(EARLY)
    wanted = pairs.withColumn("wanted", expected & delivered)
    delay = F.when(F.col("wanted"), billionths(F.col(_DELIVERED_S)) - billionths(F.col(_PUBLISHED_S)))
    hops = F.when(F.col("wanted"), F.col(schema.HOPS))
    counted = wanted.groupBy(RUN).agg(
        F.count_if(expected).alias(catalogue.EXPECTED),
        F.count_if(expected & F.col(_ROUTED)).alias(catalogue.ATTEMPTED),
        F.count_if("wanted").alias(catalogue.DELIVERED),
        F.count_if(F.col("wanted") & F.col(_ROUTED)).alias(_ATTEMPTED_DELIVERED),
        F.sum(F.when(F.col("wanted"), F.col(_DELIVERIES) - 1)).alias(catalogue.DUPLICATES),
        F.count_if(delivered & ~published & ~F.col(EARLY)).alias(catalogue.UNEXPECTED),
        mean_of_billionths(delay).alias(catalogue.DELAY_MEAN_S),
        F.avg(hops).alias(catalogue.HOPS_MEAN),
        F.max(hops).alias(catalogue.HOPS_MAX),
        *(F.sum(name).alias(name) for name in (_PAIR_ROWS_FOUND, _NONSENSE_LISTED)),
    )
    # Each is a share, so both its numbers are over the same pairs; null where there are none. A pair can be delivered
    # though nobody took it on: where subscribers pass notifications on to each other (MFT-PubSub's `spreads`).
    rates = {
        catalogue.DELIVERY_RATE_THESIS: F.try_divide(_ATTEMPTED_DELIVERED, catalogue.ATTEMPTED),
        catalogue.DELIVERY_RATE_ALL: F.try_divide(catalogue.DELIVERED, catalogue.EXPECTED),
    }
    return counted.withColumns(rates).drop(_ATTEMPTED_DELIVERED)


def _efforts(rows: DataFrame) -> DataFrame:
    """What each node sent, in all, and since the first migration without notifications and upkeep.

    `messages` is null for a node of which the trace tells nothing but that it migrated.
    """
    event, kind = F.col(schema.EVENT), F.coalesce(schema.MESSAGE_TYPE, F.lit(""))
    sent, known = event == schema.SEND, event.isin(schema.ROLE, schema.SEND, schema.ENERGY)
    of_migrations, is_beat = sent & ~kind.isin(*_NOT_OF_MIGRATIONS), sent & (kind == _HEARTBEAT)
    return rows.groupBy(RUN, schema.NODE).agg(
        F.sum(F.when(sent, F.col(_COUNTED)).when(known, F.lit(0))).alias("messages"),
        F.sum(F.when(of_migrations, F.col(_ROWS_SINCE)).otherwise(0)).alias(_MESSAGES_SINCE),
        F.sum(F.when(of_migrations, F.col(_BYTES_SINCE))).alias(_BYTES_SINCE),
        F.max(F.when(of_migrations, F.col(_LONGEST_SINCE))).alias(_LONGEST_SINCE),
        F.min(F.when(is_beat, F.col(_SHORTEST_SINCE))).alias(_SHORTEST_BEAT),
        F.max(F.when(is_beat, F.col(_LONGEST_SINCE))).alias(_LONGEST_BEAT),
    )


def _node_metrics(nodes: DataFrame) -> DataFrame:
    """Packets and energy over nodes, and the costs of migrations."""
    sent, energy, migrations = F.col("messages"), F.col("energy_nj"), F.col(_PARENTS) - 1
    by_role = (F.avg(F.when(F.col("role") == position, sent)) for position, _ in enumerate(_ROLES))
    columns = (
        catalogue.MESSAGES_PER_PUBLISHER,
        catalogue.MESSAGES_PER_SUBSCRIBER,
        catalogue.MESSAGES_PER_BROKER,
    )
    measured = nodes.groupBy(RUN).agg(
        F.sum(sent).alias(catalogue.MESSAGES),
        F.avg(sent).alias(catalogue.MESSAGES_PER_NODE),
        *(average.alias(column) for average, column in zip(by_role, columns, strict=True)),
        (F.try_sum(energy) / F.count(energy) / 1e6).alias(catalogue.ENERGY_PER_NODE_MJ),
        F.min(_DIED_S).alias(catalogue.LIFETIME_S),
        F.count(_DIED_S).alias(catalogue.DEAD_NODES),
        F.sum(F.greatest(migrations, F.lit(0))).alias(catalogue.MIGRATIONS),
        F.sum(_MESSAGES_SINCE).alias(_MESSAGES_SINCE),
        F.sum(_BYTES_SINCE).alias(_BYTES_SINCE),
        F.max(_LONGEST_SINCE).alias(_LONGEST_SINCE),
        F.min(_SHORTEST_BEAT).alias(_SHORTEST_BEAT),
        F.max(_LONGEST_BEAT).alias(_LONGEST_BEAT),
        *(F.sum(name).alias(name) for name in (_NODE_ROWS_FOUND, _NONSENSE_ENERGIES)),
    )
    return _with_costs(measured)


def _with_costs(measured: DataFrame) -> DataFrame:
    """What a migration costs: all that was sent from the first one on, but for notifications and upkeep.

    Heartbeats are upkeep as long as each says the same, and so is equally long. Where their lengths differ they carry
    more, such as the places of subscribers (MFT-PubSub's `beats_migrate`), or whole messages in bundles. Nobody can
    tell from a trace which of them are of a migration, so the cost is unknown: without them it would look cheap.
    """
    migrations, messages = F.col(catalogue.MIGRATIONS), F.col(_MESSAGES_SINCE)
    size = F.when(messages > 0, F.coalesce(_BYTES_SINCE, F.lit(0)))
    costs = {
        catalogue.MESSAGES_PER_MIGRATION: F.try_divide(messages, migrations),
        catalogue.BYTES_PER_MIGRATION: F.try_divide(F.coalesce(size, F.lit(0)), migrations),
        catalogue.MIGRATION_MESSAGE_MEAN_B: F.try_divide(size, messages),
        catalogue.MIGRATION_MESSAGE_MAX_B: F.col(_LONGEST_SINCE),
    }
    is_known = F.coalesce(F.col(_SHORTEST_BEAT) == F.col(_LONGEST_BEAT), F.lit(True))
    known = {name: F.when(is_known, cost) for name, cost in costs.items()}
    return measured.withColumns(known).drop(
        _MESSAGES_SINCE, _BYTES_SINCE, _LONGEST_SINCE, _SHORTEST_BEAT, _LONGEST_BEAT
    )


def _sent(rows: DataFrame) -> DataFrame:
    """The packets of each message type, as a map: types are the protocol's, so they cannot be columns of a plan."""
    kind = F.coalesce(schema.MESSAGE_TYPE, F.lit("")).alias("kind")
    sends = rows.where((F.col(schema.EVENT) == schema.SEND) & (F.col(_COUNTED) > 0))
    counts = sends.groupBy(RUN, kind).agg(F.sum(_COUNTED).alias("count"))
    entries = F.array_sort(F.collect_list(F.struct("kind", "count")))
    return counts.groupBy(RUN).agg(F.map_from_entries(entries).alias(SENT))


LEFT_NS, BACK_NS, PUBLISHED_NS, DELIVERED_NS = "left_ns", "back_ns", "published_ns", "delivered_ns"


def time_ns() -> Column:
    """The time of a row, as an integer."""
    return billionths(F.col(schema.TIME_S))


def absences(traces: DataFrame) -> DataFrame:
    """A row for each announced absence that ends: run, node, `left_ns`, `back_ns`."""
    event = F.col(schema.EVENT)
    back = F.lead(time_ns()).over(Window.partitionBy(RUN, schema.NODE).orderBy(schema.TIME_S))
    moves = traces.where(event.isin(schema.DETACH, schema.ATTACH))
    timed = moves.select(RUN, schema.NODE, schema.EVENT, time_ns().alias(LEFT_NS), back.alias(BACK_NS))
    return timed.where(event == schema.DETACH).select(RUN, schema.NODE, LEFT_NS, BACK_NS).dropna()


def missed(traces: DataFrame, of: DataFrame) -> DataFrame:
    """A row for each notification published during an absence `of` somebody who wants it, with its first delivery.

    The columns are those of `of`, the notification's id, `published_ns` and `delivered_ns`, which is null if it was
    never delivered. An absence begins with the instant of detachment; the instant of return does not belong to it.
    """
    event, pair = F.col(schema.EVENT), [RUN, schema.NODE, schema.NOTIFICATION_ID]
    words = F.split(schema.DETAIL, schema.LIST_SEPARATOR)
    who = F.explode(F.transform(words, lambda word: word.try_cast("int"))).alias(schema.NODE)
    published = traces.where((event == schema.PUBLISH) & (F.length(schema.DETAIL) > 0))
    wanted = published.select(RUN, schema.NOTIFICATION_ID, who, time_ns().alias(PUBLISHED_NS))
    delivered = traces.where(event == schema.DELIVER).groupBy(*pair).agg(F.min(time_ns()).alias(DELIVERED_NS))
    is_away = (F.col(LEFT_NS) <= F.col(PUBLISHED_NS)) & (F.col(PUBLISHED_NS) < F.col(BACK_NS))
    return wanted.join(of, [RUN, schema.NODE]).where(is_away).join(delivered, pair, "left")
