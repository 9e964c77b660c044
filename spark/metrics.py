"""The metrics of a run, computed from its trace rows alone (the design, section 9): DataFrame in, DataFrame out.

Times and energies are summed as integers (ns, nJ), so that no result depends on the order in which Spark adds.
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812  # the name that every text on Spark uses

from spark import catalogue, schema

RUN = "run"
"""The column that tells runs apart."""
SENT = "sent"
"""The column that maps each message type to the number of packets sent."""

_SUBSCRIBER = "subscriber"
_FIRST_MIGRATION_S = "first_migration_s"
_BYTES = "bytes_sent"
_NOT_OF_MIGRATIONS = ("PUB", "REP", "HEARTBEAT", "ACK")
"""Message types of notifications, and of what keeps tree and links up whether or not anything moves."""
_ROLES = ("publisher", "subscriber", "broker")
"""A node with several roles counts as the last of them."""


def run_metrics(traces: DataFrame) -> DataFrame:
    """One row for each run that has any, with the metrics of `spark.catalogue` and the map `sent`.

    `traces` has the columns of `spark.schema` and `run`. A metric without anything to measure is null.
    """
    parts = (
        _delivery_metrics(_pairs(traces)),
        _node_metrics(_nodes(traces)),
        _migration_metrics(traces),
        _sent(traces),
    )
    joined = reduce(lambda whole, part: whole.join(part, RUN, "full"), parts)
    return joined.na.fill(0, list(catalogue.COUNTS))


# Delivery: one row for each pair of a notification and a subscriber


def _pairs(traces: DataFrame) -> DataFrame:
    """When each pair was published, whether it was taken on, its first delivery, and its number of deliveries."""
    event, first = F.col(schema.EVENT), F.struct(schema.TIME_S, schema.HOPS)
    rows = traces.where(event.isin(schema.PUBLISH, schema.ROUTE, schema.DELIVER))
    return (
        rows.withColumn(_SUBSCRIBER, F.explode(_subscribers()))
        .groupBy(RUN, schema.NOTIFICATION_ID, _SUBSCRIBER)
        .agg(
            F.min(F.when(event == schema.PUBLISH, F.col(schema.TIME_S))).alias("published_s"),
            F.bool_or(event == schema.ROUTE).alias("routed"),
            F.min(F.when(event == schema.DELIVER, first)).alias("first"),
            F.count_if(event == schema.DELIVER).alias("deliveries"),
        )
    )


def _subscribers() -> Column:
    """The subscribers that a row is about: the node of a delivery, the list of the others."""
    words = F.filter(F.split(F.col(schema.DETAIL), schema.LIST_SEPARATOR), lambda word: word != "")
    listed = words.cast("array<int>")
    return F.when(F.col(schema.EVENT) == schema.DELIVER, F.array(schema.NODE)).otherwise(listed)


def _delivery_metrics(pairs: DataFrame) -> DataFrame:
    expected, delivered = F.col("published_s").isNotNull(), F.col("first").isNotNull()
    wanted = pairs.withColumn("wanted", expected & delivered)
    delay = F.when(F.col("wanted"), _billionths(F.col("first.time_s")) - _billionths(F.col("published_s")))
    hops = F.when(F.col("wanted"), F.col("first.hops"))
    counted = wanted.groupBy(RUN).agg(
        F.count_if(expected).alias(catalogue.EXPECTED),
        F.count_if(expected & F.col("routed")).alias(catalogue.ATTEMPTED),
        F.count_if("wanted").alias(catalogue.DELIVERED),
        F.sum(F.when(F.col("wanted"), F.col("deliveries") - 1)).alias(catalogue.DUPLICATES),
        F.count_if(delivered & ~expected).alias(catalogue.UNEXPECTED),
        _mean_of_billionths(delay).alias(catalogue.DELAY_MEAN_S),
        F.avg(hops).alias(catalogue.HOPS_MEAN),
        F.max(hops).alias(catalogue.HOPS_MAX),
    )
    return _with_rates(counted)


def _with_rates(counted: DataFrame) -> DataFrame:
    """The same deliveries over both denominators; null where there is nothing to deliver."""
    delivered = F.col(catalogue.DELIVERED)
    rates = {
        catalogue.DELIVERY_RATE_THESIS: F.try_divide(delivered, F.col(catalogue.ATTEMPTED)),
        catalogue.DELIVERY_RATE_ALL: F.try_divide(delivered, F.col(catalogue.EXPECTED)),
    }
    return counted.withColumns(rates)


# Effort: one row for each node


def _nodes(traces: DataFrame) -> DataFrame:
    """Role, packets sent and energy (nJ) of each node that started, sent or used energy."""
    event, detail = F.col(schema.EVENT), F.col(schema.DETAIL)
    rows = traces.where(event.isin(schema.ROLE, schema.SEND, schema.ENERGY))
    energy_mj = F.when(event == schema.ENERGY, detail).cast("double")
    return rows.groupBy(RUN, schema.NODE).agg(
        F.max(F.when(event == schema.ROLE, _role(detail))).alias("role"),
        F.count_if(event == schema.SEND).alias("messages"),
        F.sum(F.round(energy_mj * 1e6).cast("long")).alias("energy_nj"),
    )


def _role(roles: Column) -> Column:
    """The position in _ROLES of the last role that is named; null for a node without any."""
    words = F.split(roles, schema.LIST_SEPARATOR)
    return F.greatest(*(F.when(F.array_contains(words, role), F.lit(position)) for position, role in enumerate(_ROLES)))


def _node_metrics(nodes: DataFrame) -> DataFrame:
    sent, energy = F.col("messages"), F.col("energy_nj")
    by_role = (F.avg(F.when(F.col("role") == position, sent)) for position, _ in enumerate(_ROLES))
    columns = (
        catalogue.MESSAGES_PER_PUBLISHER,
        catalogue.MESSAGES_PER_SUBSCRIBER,
        catalogue.MESSAGES_PER_BROKER,
    )
    return nodes.groupBy(RUN).agg(
        F.sum(sent).alias(catalogue.MESSAGES),
        F.avg(sent).alias(catalogue.MESSAGES_PER_NODE),
        *(average.alias(column) for average, column in zip(by_role, columns, strict=True)),
        (F.sum(energy) / F.count(energy) / 1e6).alias(catalogue.ENERGY_PER_NODE_MJ),
    )


def _sent(traces: DataFrame) -> DataFrame:
    """The packets of each message type, as a map: types are the protocol's, so they cannot be columns of a plan."""
    kind = F.coalesce(F.col(schema.MESSAGE_TYPE), F.lit(""))
    counts = traces.where(F.col(schema.EVENT) == schema.SEND).groupBy(RUN, kind.alias("kind")).count()
    entries = F.array_sort(F.collect_list(F.struct("kind", "count")))
    return counts.groupBy(RUN).agg(F.map_from_entries(entries).alias(SENT))


# Migrations: one row for each run in which anybody has a parent


def _migration_metrics(traces: DataFrame) -> DataFrame:
    """What they cost: all that was sent from the first one on, but for notifications and upkeep."""
    migrations = F.broadcast(_migrations(traces))
    messages, size = F.col(catalogue.MESSAGES_PER_MIGRATION), F.col(_BYTES)
    return migrations.join(_sent_since(traces, migrations), RUN, "left").select(
        RUN,
        catalogue.MIGRATIONS,
        F.try_divide(F.coalesce(messages, F.lit(0)), catalogue.MIGRATIONS).alias(catalogue.MESSAGES_PER_MIGRATION),
        F.try_divide(F.coalesce(size, F.lit(0)), catalogue.MIGRATIONS).alias(catalogue.BYTES_PER_MIGRATION),
        F.try_divide(size, messages).alias(catalogue.MIGRATION_MESSAGE_MEAN_B),
        catalogue.MIGRATION_MESSAGE_MAX_B,
    )


def _migrations(traces: DataFrame) -> DataFrame:
    """How often a node gets a parent after its first one, and when that happens first."""
    rows = traces.where((F.col(schema.EVENT) == schema.MIGRATE) & F.col(schema.PEER).isNotNull())
    nodes = rows.groupBy(RUN, schema.NODE).agg(F.array_sort(F.collect_list(schema.TIME_S)).alias("times"))
    return nodes.groupBy(RUN).agg(
        F.sum(F.size("times") - 1).alias(catalogue.MIGRATIONS),
        F.min(F.get("times", 1)).alias(_FIRST_MIGRATION_S),
    )


def _sent_since(traces: DataFrame, migrations: DataFrame) -> DataFrame:
    kind = F.coalesce(F.col(schema.MESSAGE_TYPE), F.lit(""))
    sent = traces.where((F.col(schema.EVENT) == schema.SEND) & ~kind.isin(*_NOT_OF_MIGRATIONS))
    since = sent.join(migrations, RUN).where(F.col(schema.TIME_S) >= F.col(_FIRST_MIGRATION_S))
    return since.groupBy(RUN).agg(
        F.count("*").alias(catalogue.MESSAGES_PER_MIGRATION),
        F.sum(schema.BYTES).alias(_BYTES),
        F.max(schema.BYTES).alias(catalogue.MIGRATION_MESSAGE_MAX_B),
    )


def _billionths(value: Column) -> Column:
    return F.round(value * 1e9).cast("long")


def _mean_of_billionths(value: Column) -> Column:
    return F.try_divide(F.sum(value), F.count(value)) / 1e9
