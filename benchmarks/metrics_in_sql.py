"""The metrics of every run a second time, in SQL, by DuckDB: what the tests compare with, and the benchmark races.

It shares nothing with `roambus.spark.metrics` but the names of the metrics. It reads all traces at once and groups
their rows by run, where Spark's tasks read one run after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq

_METRICS = """
WITH rows AS NOT MATERIALIZED (
  SELECT warm.run, time_s, node, event, coalesce(message_type, '') AS kind, notification_id AS id, peer, bytes, hops,
         detail, time_s < warm_up_s AS early, headers, migrating
  FROM read_parquet($files, filename = true, hive_partitioning = false) JOIN warm ON filename = warm.run
  WHERE event IN ('publish', 'route', 'deliver', 'send', 'role', 'energy', 'die', 'migrate', 'receive', 'radio',
                  'crash', 'freeze', 'recover')
),
publications AS (
  SELECT run, id, arg_min(node, time_s) AS publisher, bool_or(early) AS early
  FROM rows WHERE event = 'publish' GROUP BY ALL
),
listed AS (
  SELECT run, event, id, node, time_s, early, word::INT AS subscriber
  FROM (SELECT *, unnest(string_split(coalesce(detail, ''), ' ')) AS word FROM rows WHERE event IN ('publish', 'route'))
  WHERE word <> ''
),
published AS (
  SELECT run, id, subscriber, min(time_s) AS published_s, bool_or(early) AS early
  FROM listed WHERE event = 'publish' AND subscriber <> node GROUP BY ALL
),
routed AS (SELECT DISTINCT run, id, subscriber FROM listed WHERE event = 'route'),
delivered AS (
  SELECT run, id, node AS subscriber, count(*) AS copies, bool_or(rows.early) AS early,
         bool_or(coalesce(publications.early, false)) AS published_early,
         arg_min({'at': time_s, 'hops': hops}, {'at': time_s, 'hops': coalesce(hops, -1)}) AS first
  FROM rows LEFT JOIN publications USING (run, id)
  WHERE event = 'deliver' AND node IS DISTINCT FROM publisher GROUP BY run, id, node
),
down AS (
  SELECT run, node AS subscriber, min(since) AS since
  FROM (SELECT run, node, CASE WHEN arg_max(event, time_s) <> 'recover' THEN max(time_s) END AS since
        FROM rows WHERE event IN ('crash', 'freeze', 'recover') GROUP BY run, node
        UNION ALL SELECT run, node, min(time_s) FROM rows WHERE event = 'die' GROUP BY run, node)
  GROUP BY ALL
),
wanted AS (
  SELECT published.*, coalesce(published_s >= since, false) AND delivered.run IS NULL AS gone
  FROM published LEFT JOIN down USING (run, subscriber) LEFT JOIN delivered USING (run, id, subscriber)
),
pairs AS (
  SELECT run, gone, routed.run IS NOT NULL AS routed, copies, delivered.first.hops AS hops,
         round(delivered.first.at * 1e9)::HUGEINT - round(published_s * 1e9)::HUGEINT AS delay_ns
  FROM wanted LEFT JOIN routed USING (run, id, subscriber) LEFT JOIN delivered USING (run, id, subscriber)
  WHERE NOT wanted.early AND NOT coalesce(delivered.early, false)
),
deliveries AS (
  SELECT run, count(*) AS expected, count_if(routed) AS attempted, count(copies) AS delivered,
         coalesce(sum(copies - 1), 0) AS duplicates, count(copies) / count(*) AS delivery_rate_all,
         count(copies) FILTER (routed) / nullif(count_if(routed), 0) AS delivery_rate_thesis,
         count(*) FILTER (delay_ns / 1e9 <= 1) / count(*) AS delivery_rate_in_time,
         sum(delay_ns)::DOUBLE / count(delay_ns) / 1e9 AS end_to_end_delay_mean_s,
         quantile_cont(delay_ns / 1e9, 0.5) AS delay_median_s, quantile_cont(delay_ns / 1e9, 0.95) AS delay_p95_s,
         quantile_cont(delay_ns / 1e9, 0.99) AS delay_p99_s, max(delay_ns / 1e9) AS delay_max_s,
         avg(hops) AS hops_mean, max(hops) AS hops_max
  FROM pairs WHERE NOT gone GROUP BY run
),
impossible AS (SELECT run, count(*) AS down_for_good FROM pairs WHERE gone GROUP BY run),
others AS (
  SELECT delivered.run, count(*) AS unexpected
  FROM delivered ANTI JOIN published USING (run, id, subscriber) WHERE NOT early AND NOT published_early GROUP BY ALL
),
nodes AS (
  SELECT run, node, count_if(event = 'send' AND NOT early) AS messages,
         coalesce(sum(bytes + headers) FILTER (event = 'send' AND NOT early), 0) AS packet_bytes,
         sum(try_cast(detail AS BIGINT)) FILTER (event = 'radio' AND kind = 'air_frames') AS counted_frames,
         sum(try_cast(detail AS BIGINT)) FILTER (event = 'radio' AND kind = 'air_bytes') AS counted_bytes,
         sum(round(try_cast(detail AS DOUBLE) * 1e6)::BIGINT) FILTER (event = 'energy') AS energy_nj,
         max(CASE WHEN event <> 'role' THEN NULL WHEN list_contains(string_split(detail, ' '), 'broker') THEN 3
             WHEN list_contains(string_split(detail, ' '), 'subscriber') THEN 2
             WHEN list_contains(string_split(detail, ' '), 'publisher') THEN 1 END) AS role
  FROM rows WHERE event IN ('send', 'role', 'energy', 'radio') GROUP BY ALL
),
efforts AS (
  SELECT run, sum(messages) AS messages, avg(messages) AS messages_per_node,
         avg(messages) FILTER (role = 1) AS messages_per_publisher,
         avg(messages) FILTER (role = 2) AS messages_per_subscriber,
         avg(messages) FILTER (role = 3) AS messages_per_broker,
         coalesce(avg(counted_frames), avg(messages)) AS air_frames_per_node,
         coalesce(avg(counted_bytes), avg(packet_bytes)) AS air_bytes_per_node,
         sum(energy_nj)::DOUBLE / count(energy_nj) / 1e6 AS energy_per_node_mj
  FROM nodes GROUP BY run
),
deaths AS (
  SELECT run, min(time_s) AS lifetime_s, count(DISTINCT node) AS dead_nodes FROM rows WHERE event = 'die' GROUP BY ALL
),
parents AS (
  SELECT *, row_number() OVER (PARTITION BY run, node ORDER BY time_s) AS place
  FROM (SELECT run, node, time_s FROM rows WHERE event = 'migrate' AND peer IS NOT NULL AND NOT early
        UNION ALL SELECT DISTINCT run, node, -1 FROM rows WHERE event = 'migrate' AND peer IS NOT NULL AND early)
),
migrations AS (SELECT run, count(*) AS migrations, min(time_s) AS first_s FROM parents WHERE place > 1 GROUP BY ALL),
costs AS (
  SELECT migrations.run, any_value(migrations.migrations) AS migrations,
         count(bytes) FILTER (list_contains(migrating, kind)) AS sent,
         coalesce(sum(bytes) FILTER (list_contains(migrating, kind)), 0) AS size,
         max(bytes) FILTER (list_contains(migrating, kind)) AS most
  FROM migrations LEFT JOIN rows ON rows.run = migrations.run AND event = 'send' AND time_s >= first_s
  GROUP BY ALL
),
heard AS (
  SELECT run, count(*) / count(DISTINCT {'node': node, 'id': word}) AS copies_heard
  FROM (SELECT run, node, unnest(string_split(id, ' ')) AS word FROM rows WHERE event = 'receive' AND NOT early)
  GROUP BY run
),
sent AS (
  SELECT run, map_from_entries(list({'k': kind, 'v': n})) AS sent
  FROM (SELECT run, kind, count(*) AS n FROM rows WHERE event = 'send' AND NOT early GROUP BY ALL) GROUP BY run
)
SELECT warm.run, coalesce(expected, 0) AS expected, coalesce(down_for_good, 0) AS down_for_good,
       coalesce(attempted, 0) AS attempted,
       coalesce(delivered, 0) AS delivered, coalesce(duplicates, 0) AS duplicates,
       coalesce(unexpected, 0) AS unexpected, delivery_rate_thesis, delivery_rate_all, delivery_rate_in_time,
       end_to_end_delay_mean_s, delay_median_s, delay_p95_s, delay_p99_s, delay_max_s, hops_mean, hops_max,
       coalesce(messages, 0) AS messages, messages_per_node, messages_per_publisher, messages_per_subscriber,
       messages_per_broker, air_frames_per_node, air_bytes_per_node, copies_heard, energy_per_node_mj, lifetime_s,
       coalesce(dead_nodes, 0) AS dead_nodes,
       coalesce(costs.migrations, 0) AS migrations,
       CASE WHEN len(migrating) > 0 THEN costs.sent / costs.migrations END AS messages_per_migration,
       CASE WHEN len(migrating) > 0 THEN size / costs.migrations END AS bytes_per_migration,
       size / nullif(costs.sent, 0) AS migration_message_mean_b,
       most AS migration_message_max_b, coalesce(sent.sent, MAP {}) AS sent
FROM warm LEFT JOIN deliveries USING (run) LEFT JOIN impossible USING (run) LEFT JOIN others USING (run)
     LEFT JOIN efforts USING (run)
     LEFT JOIN deaths USING (run) LEFT JOIN costs USING (run) LEFT JOIN sent USING (run) LEFT JOIN heard USING (run)
"""


def metrics_in_sql(files: Sequence[Path], threads: int = 1) -> dict[Path, dict[str, Any]]:
    """Every metric of each trace, and `sent` by message type; None where there is nothing to measure."""
    with duckdb.connect(config={"threads": threads}) as connection:
        connection.execute("CREATE TABLE warm (run VARCHAR, warm_up_s DOUBLE, headers INT, migrating VARCHAR[])")
        connection.executemany("INSERT INTO warm VALUES (?, ?, ?, ?)", [_of_metadata(file) for file in files])
        found = connection.execute(_METRICS, {"files": [str(file) for file in files]})
        names = [name for name, *_ in found.description][1:]
        return {Path(run): dict(zip(names, values, strict=True)) for run, *values in found.fetchall()}


def _of_metadata(file: Path) -> tuple[str, float, int, list[str]]:
    """The trace's warm-up, the bytes of a packet's headers, and the message types that migrations cause."""
    metadata = pq.read_schema(file).metadata or {}
    return (
        str(file),
        float(metadata.get(b"roambus.warm_up_s", b"0")),
        int(metadata.get(b"roambus.air", b"25 250000").split()[0]),
        metadata.get(b"roambus.migration_messages", b"").decode().split(),
    )
