"""The comparison of what migrations cost: its figures, its table, and the whole way from the sweep to both."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest
from pyspark.sql import SparkSession

from roambus import command_line as cli
from roambus.experiments.figures.figure import Figure, look_up
from roambus.experiments.measurements import Measurements, point_table, read_measurements
from roambus.experiments.sweeps.sweep_file import read_sweep
from roambus.extensions.first_approach.study.study import TABLE_FILE, migration_plans
from roambus.spark.aggregation.aggregate import mean_points
from roambus.spark.metrics import catalogue as c

pytestmark = pytest.mark.slow

AXES = ("brokers", "subscriptions")
METRICS = (c.messages_per_migration.column, c.bytes_per_migration.column, c.migration_message_mean_b.column)


def measured(brokers: Sequence[str] = ("8", "32"), subscriptions: Sequence[str] = ("1", "2")) -> Measurements:
    """Two agents and two seeds; a migration takes as many messages as brokers, and one more with the second seed."""
    places = itertools.product(("first-approach", "mft"), ("brokers", "clients"), brokers, subscriptions, (0, 1))
    runs = pd.DataFrame(
        {
            "agent": agent,
            "moving": moving,
            "brokers": size,
            "subscriptions": each,
            "seed": seed,
            c.messages_per_migration.column: float(size) + seed,
            c.bytes_per_migration.column: 100.0 * int(each),
            c.migration_message_mean_b.column: 7.0,
        }
        for agent, moving, size, each, seed in places
    )
    return Measurements(runs, mean_points(runs))


def planned(found: Measurements) -> dict[str, Figure]:
    return {plan.name: look_up(found, plan) for plan in migration_plans(found)}


def test_each_metric_over_size_and_over_subscriptions() -> None:
    """For brokers and for clients that move, a line an agent, on a logarithmic axis."""
    figures = planned(measured())
    names = {metric.replace("_", "-") for metric in METRICS}
    assert set(figures) == {f"{n}-of-{m}-by-{x}" for n in names for m in ("brokers", "clients") for x in AXES}
    for figure in figures.values():
        assert [series.label for series in figure.series] == ["first-approach", "mft"]
        assert figure.logarithmic


def test_figures_cut_at_one_subscription_and_at_the_largest_network() -> None:
    """Where these were measured, and their titles say so."""
    by_brokers = planned(measured())["messages-per-migration-of-brokers-by-brokers"]
    assert by_brokers.title == "messages per migration of brokers, subscriptions a subscriber: 1"
    assert (by_brokers.x_values, by_brokers.series[0].mean) == (("8", "32"), (8.5, 32.5))
    by_subscriptions = planned(measured(brokers=["8", "16"]))["bytes-per-migration-of-clients-by-subscriptions"]
    assert by_subscriptions.title == "bytes per migration of clients, brokers: 16"
    assert by_subscriptions.series[1].mean == (100.0, 200.0)


def test_the_table_has_a_row_a_point_and_a_column_an_agent() -> None:
    """Means with intervals, a section a metric; what was not measured is empty."""
    lines = point_table(measured(brokers=["8"]), (*METRICS, c.DELIVERY_RATE_ALL)).splitlines()
    assert lines[:4] == [
        "## Messages per migration",
        "",
        "| moving | brokers | subscriptions | first-approach | mft |",
        "| --- | --- | --- | --- | --- |",
    ]
    assert lines[4] == "| brokers | 8 | 1 | 8.50 (4.03 to 17.99) | 8.50 (4.03 to 17.99) |"
    assert lines[-1] == "| clients | 8 | 2 |  |  |"


def test_all_agents_meet_the_same_parameters() -> None:
    """A given tree, bare messages, and ideal links: what is counted is the protocols' own."""
    sweep = read_sweep("migration-cost")
    assert sweep.backend == "ideal"
    for choice in sweep.agents:
        assert {("link_layer", "false"), ("tree", "given")} <= set(choice.parameters)


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, session: SparkSession) -> Path:
    """The sweep at its smallest, aggregated and drawn by the commands that a user types."""
    small = ["--set", "brokers=4", "--set", "subscriptions=2", "--set", "moving=brokers", "--seeds", "1"]
    for command in (["sweep", "migration-cost", *small, "--out"], ["aggregate"], ["figures"]):
        monkeypatch.setattr("sys.argv", ["roambus", *command, str(tmp_path)])
        with pytest.raises(SystemExit) as done:
            cli.main()
        assert not done.value.code
    return tmp_path


def test_from_the_sweep_to_the_figures(results: Path) -> None:
    """Every agent carries out all migrations, and everybody then gets everything."""
    found = read_measurements(results)
    runs = found.runs.set_index("agent")
    assert set(runs.index) == {choice.label for choice in read_sweep("migration-cost").agents}
    assert set(runs[c.migrations.column]) == {20}
    assert set(runs[c.DELIVERY_RATE_ALL]) == {1.0}
    assert (runs[c.messages_per_migration.column] >= 1).all()
    assert (results / "figures" / "messages-per-migration-of-brokers-by-brokers.png").is_file()
    assert "MFT-PubSub as published" in (results / "figures" / TABLE_FILE).read_text(encoding="utf-8")
