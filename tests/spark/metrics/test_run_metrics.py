"""Each metric is what docs/guide/sweeps.md says, on traces whose metrics one can count by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from benchmarks.metrics_in_sql import metrics_in_sql
from roambus.bridge.runs.layout import run_name
from roambus.bridge.system.limits import TRACE_LISTED
from roambus.bridge.trace.parquet import DamagedTraceError
from roambus.bridge.trace.schema import AIR_NS
from roambus.spark.aggregation.aggregate import metrics_of
from roambus.spark.aggregation.computation import PROBLEM, SENT, measure
from roambus.spark.aggregation.traces import list_traces
from roambus.spark.metrics import arrays
from roambus.spark.metrics import catalogue as c
from roambus.spark.metrics.extra import NOTHING
from roambus.spark.metrics.run import Run
from tests.spark.synthetic import (
    Row,
    assert_same,
    deliver,
    die,
    energy,
    fault,
    measured,
    migrate,
    on_air,
    publish,
    radio_count,
    random_trace,
    receive,
    role,
    route,
    send,
    write_trace,
)

Metrics = Callable[[str], dict[str, Any]]

TRACES: dict[str, list[Row]] = {
    # Publisher 0, subscribers 1 and 2, broker 3. Notification 0.0 reaches both, 0.1 only subscriber 1, and late.
    "plain": [
        *(role(0, "publisher"), role(1, "subscriber"), role(2, "subscriber"), role(3, "broker")),
        *(publish(1.0, 0, "0.0", [1, 2]), route(1.1, 3, "0.0", [1, 2])),
        *(deliver(1.2, 1, "0.0", 2), deliver(1.4, 2, "0.0", 3)),
        *(publish(2.0, 0, "0.1", [1, 2]), route(2.1, 3, "0.1", [1])),
        deliver(3.5, 1, "0.1", 1),
        *(send(1.0, 0, "PUB"), send(2.0, 0, "PUB"), send(1.1, 3, "PUB"), send(1.2, 3, "HELLO"), send(1.3, 3, "HELLO")),
        *(
            send(1.3, 1, "HELLO"),
            energy(9.0, 0, 10.0),
            energy(9.0, 1, 20.0),
            energy(9.0, 2, 30.0),
            energy(9.0, 3, 44.0),
        ),
    ],
    # The same copy twice, at one time with different hops, then once more.
    "duplicates": [
        *(publish(1.0, 0, "0.0", [1]), route(1.0, 0, "0.0", [1])),
        *(deliver(1.5, 1, "0.0", 4), deliver(1.5, 1, "0.0", 2), deliver(8.0, 1, "0.0", 9)),
    ],
    # Copies at one time, late and early in a run, whose hops differ by one, and some that count none.
    "at-once": [
        *(publish(1.0, 0, "0.0", [1, 2, 3]), route(1.0, 0, "0.0", [1, 2, 3])),
        *(deliver(987654321.123, 1, "0.0", 12), deliver(987654321.123, 1, "0.0", 11)),
        *(deliver(1.1, 2, "0.0", 1000), deliver(1.1, 2, "0.0", 1001), deliver(1.1000000000000003, 2, "0.0", 1)),
        *(deliver(1.2, 3, "0.0", 2**31 - 1), deliver(1.2, 3, "0.0", 0)),
    ],
    # Node 1 hears one notification twice and another once, node 2 one; what carries none is not heard.
    "heard": [
        *({**receive(1.0, 1), "notification_id": ids} for ids in ("0.0", "0.0 0.1")),
        *({**receive(2.0, 2), "notification_id": ids} for ids in ("0.0", None)),
    ],
    # A radio has counted more than packets: retransmissions of node 0, acknowledgements of node 1; node 2 was silent.
    "counted": [
        *(role(node, "broker") for node in range(3)),
        *(send(1.0, 0, "PUB"), send(2.0, 0, "PUB"), send(2.0, 2, "PUB")),
        *(*on_air(9.0, 0, 4, 188), *on_air(9.0, 1, 2, 22), *on_air(9.0, 2, 0, 0)),
    ],
    # Node 1 crashes for good at 2 s, node 2 is back at 3 s, node 3 dies at 2.5 s; all want four notifications.
    "down": [
        *(role(node, "subscriber") for node in range(4)),
        *(publish(at, 0, f"0.{number}", [1, 2, 3]) for number, at in enumerate((1.0, 2.0, 2.5, 4.0))),
        *(fault(1.5, 1, "freeze"), fault(1.7, 1, "recover"), fault(2.0, 1, "crash")),
        *(fault(2.0, 2, "crash"), fault(3.0, 2, "recover"), die(2.5, 3)),
        *(deliver(1.2, node, "0.0", 1) for node in (1, 2, 3)),
        deliver(4.2, 2, "0.3", 1),
    ],
    # Two of three batteries run empty.
    "deaths": [*(role(node, "broker") for node in range(3)), die(7.5, 2), die(8.5, 0), energy(9.0, 1, 20.0)],
    # Stored on the way, replayed from another broker: its hops start again, its delay does not.
    "replay": [
        *(publish(1.0, 0, "0.0", [1]), route(1.1, 2, "0.0", [1]), route(60.0, 3, "0.0", [1])),
        deliver(61.0, 1, "0.0", 1),
    ],
    # Somebody gets, and a broker routes to, what nobody of them wanted.
    "unexpected": [publish(1.0, 0, "0.0", [1]), route(1.1, 2, "0.0", [1, 4]), deliver(1.2, 4, "0.0", 1)],
    # Two of three deliveries that nobody expects are of what the warm-up published, one of them later.
    "late-unexpected": [
        *(publish(1.0, 0, "0.0", [1]), publish(3.0, 0, "0.1", [1])),
        *(deliver(1.5, 4, "0.0", 1), deliver(3.5, 5, "0.0", 1), deliver(3.6, 6, "0.1", 1)),
    ],
    # Every node publishes and wants everything; node 0 hears nobody.
    "own": [
        *(publish(1.0, 0, "0.0", [0, 1, 2]), route(1.0, 0, "0.0", [0, 1, 2]), deliver(1.0, 0, "0.0", 0)),
        *(publish(2.0, 1, "1.0", [0, 1, 2]), deliver(2.0, 1, "1.0", 0), deliver(2.5, 2, "1.0", 1)),
    ],
    "roles": [
        *(role(0, "publisher subscriber"), role(1, "publisher broker"), role(2, ""), role(3, "subscriber")),
        *(send(1.0, 0, "A"), send(1.0, 1, "A"), send(1.1, 1, "a"), send(1.0, 2, "A"), send(1.0, 2, "A")),
    ],
    # Nodes 1 and 2 get parents; 2 is told again to have none, then one, and 1 another one at once.
    "migrations": [
        *(migrate(0.0, 0, None), migrate(0.0, 1, 0), migrate(0.5, 2, 0)),
        *(send(0.6, 2, "SUB", 100), migrate(0.9, 2, None), send(1.9, 0, "BMIG", 100)),
        *(migrate(2.0, 1, 2), send(2.0, 1, "BMIG", 5), send(2.1, 2, "BTAB", 60)),
        *(send(2.2, 1, "PUB", 100), send(2.2, 1, "REP", 100), send(2.2, 1, "ACK", 100), send(2.2, 1, "HEARTBEAT", 100)),
        *(migrate(3.0, 2, 0), send(3.0, 2, "BMIG", 10)),
    ],
    # Two pairs come without anybody having taken them on, as where subscribers pass notifications on to each other.
    "spread": [
        *(publish(1.0, 0, "0.0", [1, 2, 4]), route(1.1, 3, "0.0", [1])),
        *(deliver(1.2, 1, "0.0", 1), deliver(1.3, 2, "0.0", 2), deliver(1.4, 4, "0.0", 3)),
    ],
    "quiet-migration": [migrate(0.0, 1, 0), send(0.5, 1, "SUB"), migrate(1.0, 1, 2)],
    "no-migration": [migrate(0.0, 1, 0), migrate(0.0, 2, 0), send(0.5, 1, "SUB")],
    "nobody-wants-it": [publish(1.0, 0, "0.0", [])],
    "empty": [],
    "random-1": random_trace(1),
    "random-2": random_trace(2, publications=150, subscribers=7),
}


WARM_UPS = {
    "plain": 1.15,
    "down": 2.2,
    "migrations": 1.0,
    "replay": 2.0,
    "unexpected": 5.0,
    "late-unexpected": 2.0,
    "random-1": 17.3,
    "random-2": 75.0,
}
"""Traces that are there a second time, as `NAME-warm`: nothing before these times (s) is to count."""


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    results = tmp_path_factory.mktemp("results é +%20")
    whole = {name: write_trace(results, f"agent={name}/seed=0", rows) for name, rows in TRACES.items()}
    warm = {
        f"{name}-warm": write_trace(results, f"agent={name}-warm/seed=0", TRACES[name], end)
        for name, end in WARM_UPS.items()
    }
    return whole | warm


@pytest.fixture(scope="module")
def rows(traces: dict[str, Path]) -> dict[str, dict[str, Any]]:
    """Without Spark, as a task computes them."""
    return {name: measure(file, 1.0, NOTHING) for name, file in traces.items()}


@pytest.fixture(scope="module")
def metrics(rows: dict[str, dict[str, Any]]) -> Metrics:
    return rows.__getitem__


def test_spark_computes_the_same(
    rows: dict[str, dict[str, Any]], traces: dict[str, Path], session: SparkSession
) -> None:
    """Every trace has its row, also the empty one, under its folders' names whatever the folder above is called."""
    listed, problems = list_traces(list(traces.values()))
    table, _ = metrics_of(traces["plain"].parents[3], listed)
    assert not problems
    assert sorted(table.index) == sorted(run_name(file) for file in traces.values())
    for name, file in traces.items():
        found: dict[str, Any] = {str(key): value for key, value in table.loc[run_name(file)].items()}
        known = {key: None if key != SENT and pd.isna(value) else value for key, value in found.items()}
        assert known == {key: rows[name][key] for key in found}


@pytest.fixture(scope="module")
def in_sql(traces: dict[str, Path]) -> dict[str, dict[str, Any]]:
    found = metrics_in_sql(list(traces.values()))
    return {name: found[file] for name, file in traces.items()}


def test_delivery(metrics: Metrics) -> None:
    """Expected are all wanted pairs, attempted those routed, delivered those that arrived; two rates over them."""
    plain = metrics("plain")
    counts = [plain[name] for name in (c.EXPECTED, c.ATTEMPTED, c.DELIVERED, c.duplicates.column, c.unexpected.column)]
    assert counts == [4, 3, 3, 0, 0]
    assert (plain[c.DELIVERY_RATE_THESIS], plain[c.DELIVERY_RATE_ALL]) == (1.0, 0.75)


def test_both_rates_are_shares(metrics: Metrics, rows: dict[str, dict[str, Any]]) -> None:
    """The thesis' rate counts both over the pairs that were taken on: what comes otherwise is in neither number."""
    spread = metrics("spread")
    assert [spread[name] for name in (c.EXPECTED, c.ATTEMPTED, c.DELIVERED)] == [3, 1, 3]
    assert (spread[c.DELIVERY_RATE_THESIS], spread[c.DELIVERY_RATE_ALL]) == (1.0, 1.0)
    rates = [row[name] for row in rows.values() for name in (c.DELIVERY_RATE_THESIS, c.DELIVERY_RATE_ALL)]
    assert all(0 <= rate <= 1 for rate in rates if rate is not None)


def test_delay_and_hops(metrics: Metrics) -> None:
    """Delay is from publication to first delivery (0.2, 0.4 and 1.5 s), hops are those of the deliveries (2, 3, 1)."""
    plain = metrics("plain")
    assert plain[c.DELAY_MEAN_S] == pytest.approx(0.7)
    assert (plain[c.HOPS_MEAN], plain[c.HOPS_MAX]) == (2.0, 3)


def test_lifetime_is_when_the_first_battery_is_empty(metrics: Metrics) -> None:
    """It is unknown where none is."""
    assert (metrics("deaths")[c.lifetime_s.column], metrics("deaths")[c.dead_nodes.column]) == (7.5, 2)
    assert metrics("plain")[c.lifetime_s.column] is None
    assert metrics("plain")[c.dead_nodes.column] == 0


def test_messages_and_energy(metrics: Metrics) -> None:
    """Six packets of four nodes: two by the publisher, one by two subscribers, three by the broker; 104 mJ in all."""
    plain = metrics("plain")
    assert (plain[c.MESSAGES], plain[c.MESSAGES_PER_NODE]) == (6, 1.5)
    by_role = (c.MESSAGES_PER_PUBLISHER, c.MESSAGES_PER_SUBSCRIBER, c.MESSAGES_PER_BROKER)
    assert [plain[name] for name in by_role] == [2.0, 0.5, 3.0]
    assert plain[SENT] == {"PUB": 3, "HELLO": 3}
    assert plain[c.ENERGY_PER_NODE_MJ] == 26.0


def test_a_pair_counts_once(metrics: Metrics) -> None:
    """Further copies are duplicates; of copies at one time the one of fewest hops is the first."""
    repeated = metrics("duplicates")
    assert (repeated[c.DELIVERED], repeated[c.duplicates.column]) == (1, 2)
    assert (repeated[c.DELAY_MEAN_S], repeated[c.HOPS_MEAN], repeated[c.HOPS_MAX]) == (0.5, 2.0, 2)


def test_of_copies_at_one_time_the_one_of_fewest_hops_is_first(metrics: Metrics) -> None:
    """Of 12 and 11, of 1000 and 1001 (1 is that of a time later by two of the last places), and of many and none."""
    found = metrics("at-once")
    assert (found[c.DELIVERED], found[c.duplicates.column], found[c.HOPS_MAX]) == (3, 4, 1000)
    assert found[c.HOPS_MEAN] == (11 + 1000 + 0) / 3


def test_replay(metrics: Metrics) -> None:
    """A pair that two brokers take on is attempted once, and a replay's delay counts from the publication."""
    replayed = metrics("replay")
    assert (replayed[c.ATTEMPTED], replayed[c.DELIVERED]) == (1, 1)
    assert (replayed[c.DELAY_MEAN_S], replayed[c.HOPS_MAX]) == (60.0, 1)


def test_what_nobody_wanted_is_no_delivery(metrics: Metrics) -> None:
    """Pairs that do not match count neither as attempted nor as delivered, but are told apart."""
    wrong = metrics("unexpected")
    assert [wrong[name] for name in (c.EXPECTED, c.ATTEMPTED, c.DELIVERED, c.unexpected.column)] == [1, 1, 0, 1]
    assert wrong[c.DELAY_MEAN_S] is None


def test_unexpected_counts_nothing_of_the_warm_up(metrics: Metrics) -> None:
    """Neither what is delivered then, nor what is published then and delivered later."""
    assert metrics("late-unexpected")[c.unexpected.column] == 3
    assert metrics("late-unexpected-warm")[c.unexpected.column] == 1


def test_a_publishers_own_notification_is_no_delivery(metrics: Metrics) -> None:
    """Of two notifications to two others each, one of four pairs is delivered, after 0.5 s and one hop."""
    found = metrics("own")
    assert [found[name] for name in (c.EXPECTED, c.ATTEMPTED, c.DELIVERED, c.unexpected.column)] == [4, 2, 1, 0]
    assert [found[name] for name in (c.DELIVERY_RATE_ALL, c.DELAY_MEAN_S, c.HOPS_MEAN)] == [0.25, 0.5, 1.0]


def test_a_node_of_several_roles_counts_once(metrics: Metrics) -> None:
    """Broker comes before subscriber, subscriber before publisher; a node without role counts among all nodes only."""
    mixed = metrics("roles")
    assert (mixed[c.MESSAGES_PER_BROKER], mixed[c.MESSAGES_PER_SUBSCRIBER]) == (2.0, 0.5)
    assert mixed[c.MESSAGES_PER_PUBLISHER] is None
    assert mixed[c.MESSAGES_PER_NODE] == 1.25
    assert mixed[SENT] == {"A": 4, "a": 1}


MIGRATION_MESSAGES = (
    c.messages_per_migration.column,
    c.bytes_per_migration.column,
    c.migration_message_mean_b.column,
    c.migration_message_max_b.column,
)


def test_migrations(metrics: Metrics) -> None:
    """Two nodes get a second parent; from the first time on three messages of 75 bytes, the largest of 60."""
    found = metrics("migrations")
    assert found[c.migrations.column] == 2
    assert [found[name] for name in MIGRATION_MESSAGES] == [1.5, 37.5, 25.0, 60]


def test_migrations_that_cost_nothing(metrics: Metrics) -> None:
    """Where nothing follows a migration its cost is 0, but there is no message to have a size."""
    found = metrics("quiet-migration")
    assert found[c.migrations.column] == 1
    assert [found[name] for name in MIGRATION_MESSAGES] == [0.0, 0.0, None, None]


def test_an_agent_without_messages_of_migrations_has_no_cost_of_them(tmp_path: Path) -> None:
    """The migrations are counted; what they cost cannot be known from the trace."""
    file = write_trace(tmp_path, "agent=any/seed=0", TRACES["migrations"], migrating=())
    (found,) = metrics_in_sql([file]).values()
    for row in (measure(file, 1.0, NOTHING), found):
        assert row[c.migrations.column] == 2
        assert all(row[name] is None for name in MIGRATION_MESSAGES)


def test_a_first_parent_is_no_migration(metrics: Metrics) -> None:
    """A tree that only comes to be has no migrations, and so no cost of any."""
    found = metrics("no-migration")
    assert found[c.migrations.column] == 0
    assert all(found[name] is None for name in MIGRATION_MESSAGES)


@pytest.mark.parametrize("name", ["nobody-wants-it", "empty"])
def test_nothing_to_measure(metrics: Metrics, name: str) -> None:
    """Where nothing happened counts are 0, and rates and means unknown."""
    nothing = metrics(name)
    assert all(nothing[count] == 0 for count in c.COUNTS)
    assert all(nothing[metric.column] is None for metric in c.METRICS if metric.column not in c.COUNTS)


def test_what_is_published_in_the_warm_up_is_not_expected(metrics: Metrics) -> None:
    """Nor are its deliveries counted, whenever they come: only notification 0.1 is left, which one of two gets."""
    warm = metrics("plain-warm")
    counts = [warm[name] for name in (c.EXPECTED, c.ATTEMPTED, c.DELIVERED, c.unexpected.column)]
    assert counts == [2, 1, 1, 0]
    assert (warm[c.DELAY_MEAN_S], warm[c.HOPS_MAX]) == (1.5, 1)
    late = metrics("replay-warm")
    assert [late[name] for name in (c.EXPECTED, c.DELIVERED, c.unexpected.column)] == [0, 0, 0]
    assert metrics("unexpected-warm")[c.unexpected.column] == 0


def test_what_is_sent_in_the_warm_up_is_not_counted(metrics: Metrics) -> None:
    """Four of six packets are left, of the same four nodes; energy is that of the whole run."""
    warm = metrics("plain-warm")
    assert (warm[c.MESSAGES], warm[c.MESSAGES_PER_NODE], warm[c.ENERGY_PER_NODE_MJ]) == (4, 1.0, 26.0)
    assert (warm[c.MESSAGES_PER_PUBLISHER], warm[c.MESSAGES_PER_BROKER]) == (1.0, 2.0)
    assert warm[SENT] == {"PUB": 1, "HELLO": 3}


def test_a_parent_of_the_warm_up_is_the_first(metrics: Metrics) -> None:
    """Nodes 1 and 2 had one before: each gets another one later, which is a migration."""
    warm = metrics("migrations-warm")
    assert warm[c.migrations.column] == 2
    assert warm[c.migration_message_max_b.column] == 60


def test_delays_have_a_median_a_tail_and_a_longest(metrics: Metrics) -> None:
    """Of 0.2, 0.4 and 1.5 s; two thirds of what was delivered, and half of what was expected, came within a second."""
    plain = metrics("plain")
    assert plain["delay_median_s"] == pytest.approx(0.4)
    assert plain["delay_p95_s"] == pytest.approx(0.4 + 0.9 * 1.1)
    assert plain["delay_p99_s"] == pytest.approx(0.4 + 0.98 * 1.1)
    assert plain["delay_max_s"] == 1.5
    assert plain["delivery_rate_in_time"] == 0.5


def test_a_deadline_is_a_setting(traces: dict[str, Path]) -> None:
    """With 0.3 s only one of four pairs came in time."""
    assert measure(traces["plain"], 0.3, NOTHING)["delivery_rate_in_time"] == 0.25


def test_copies_heard_are_counted_at_each_node(metrics: Metrics) -> None:
    """Four of three pairs of a node and a notification; nobody knows where a trace does not say what was received."""
    assert metrics("heard")["copies_heard"] == pytest.approx(4 / 3)
    assert metrics("plain")["copies_heard"] is None


def test_bytes_on_the_air_have_headers(metrics: Metrics) -> None:
    """Six packets of 20 and 25 bytes, of four nodes, in 9 s."""
    plain = metrics("plain")
    assert plain["air_bytes_per_node"] == 6 * 45 / 4
    assert plain["airtime"] == pytest.approx(6 * 45 * 8 / 250_000 / 9)


def test_nothing_is_expected_of_a_node_that_is_down_for_good(metrics: Metrics) -> None:
    """Of the pairs of node 1 three, of node 3 two are impossible; what node 2 misses while it is down is lost."""
    down = metrics("down")
    assert down["down_for_good"] == 5
    assert down["expected"] == 7
    assert down["delivery_rate_all"] == 4 / 7


def test_what_a_radio_counted_replaces_packets(metrics: Metrics) -> None:
    """Frames and bytes on the air are those of the radio, where it counted them: what a queue refuses is not sent."""
    counted = metrics("counted")
    assert counted["air_frames_per_node"] == 2
    assert counted["air_bytes_per_node"] == 70
    assert counted["airtime"] == pytest.approx(210 * 8 / 250_000 / 9)
    assert counted["messages"] == 3


def test_airtimes_of_a_reception_replace_the_rate() -> None:
    """A radio that counts how long its frames last knows better than the rate of its file."""
    rows = [*on_air(9.0, 0, 2, 100), *on_air(9.0, 1, 1, 50)]
    rows += [radio_count(9.0, 0, AIR_NS, 700), radio_count(9.0, 1, AIR_NS, 200)]
    lasting = measured([c.airtime], rows, end_s=9.0)["airtime"]
    assert lasting == pytest.approx(900e-9 / 9)


def test_without_counts_each_packet_is_a_frame(metrics: Metrics) -> None:
    """As on ideal links."""
    assert metrics("plain")["air_frames_per_node"] == 6 / 4


def test_a_run_ends_at_its_time_limit(tmp_path: Path) -> None:
    """Airtime is a share of the whole run, also where nothing happens at its end."""
    rows = [publish(1.0, 0, "0.0", [1]), send(1.0, 0, "PUB", 100)]
    file = write_trace(tmp_path, "agent=any/seed=0", rows, end_s=300.0)
    assert Run(file).end_s == 300
    assert measure(file, 1.0, NOTHING)["airtime"] == pytest.approx(125 * 8 / 250_000 / 300)
    short = write_trace(tmp_path, "agent=any/seed=1", rows, warm_up_s=0.5, end_s=300.0)
    assert measure(short, 1.0, NOTHING)["airtime"] == pytest.approx(125 * 8 / 250_000 / 299.5)


@pytest.mark.parametrize("end", ["never", "-1", "nan", "inf"])
def test_an_end_that_cannot_be_is_damage(tmp_path: Path, end: str) -> None:
    """A run ends at a time."""
    file = write_trace(tmp_path, "agent=any/seed=0", [send(1.0, 0, "PUB")])
    table = pq.read_table(file)
    pq.write_table(table.replace_schema_metadata({"roambus.end_s": end}), file, write_page_checksum=True)
    with pytest.raises(DamagedTraceError, match="when it ends"):
        _ = Run(file).end_s


@pytest.mark.parametrize("name", [*sorted(TRACES), *(f"{name}-warm" for name in WARM_UPS)])
def test_same_as_in_sql(rows: dict[str, dict[str, Any]], in_sql: dict[str, dict[str, Any]], name: str) -> None:
    """To the last bit, but for percentiles between two values, whose interpolation rounds in another order."""
    assert_same(rows[name], in_sql[name])


@pytest.mark.parametrize(
    "rows",
    [[publish(1.0, 0, "0.0", [1, 2, 3])], [receive(1.0, 1) | {"notification_id": "0.0 0.1 0.2"}]],
    ids=["nodes", "notifications"],
)
def test_lists_that_are_longer_than_a_trace_may_be_are_refused(
    rows: list[Row], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One long list in many rows takes few bytes of a file, and each thing that it lists a row in memory."""
    file = write_trace(tmp_path, "agent=any/seed=0", rows)
    assert measure(file, 1.0, NOTHING).get(PROBLEM) is None
    monkeypatch.setattr(arrays, "TRACE_LISTED", replace(TRACE_LISTED, usual=2))
    assert "3, above the limit of 2 nodes and notifications" in measure(file, 1.0, NOTHING)[PROBLEM]
