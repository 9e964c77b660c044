"""What a study measures beside the catalogue: in the tables, kept like all metrics, and wrong only with a message."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # the name that every text on Spark uses

from roambus.bridge.errors import RoambusError, UserError
from roambus.bridge.trace import schema
from roambus.spark.aggregation.aggregate import aggregate
from roambus.spark.metrics.catalogue import Metric
from roambus.spark.metrics.extra import Extra, ExtraMetrics, ExtraTable
from roambus.spark.metrics.run_metrics import RUN
from tests.spark.synthetic import deliver, publish, write_trace

LAST = Metric("last_s", "last (s)", "When the last delivery came.")
COUNT = Metric("count", "deliveries", "How many there were.")
CALLS: list[str] = []


def deliveries(traces: DataFrame) -> DataFrame:
    """A row a delivery."""
    CALLS.append("deliveries")
    rows = traces.where(F.col(schema.EVENT) == schema.DELIVER)
    return rows.select(RUN, F.col(schema.TIME_S).alias("at_s"), schema.NODE)


def last(traces: DataFrame) -> DataFrame:
    """A row a run with any delivery."""
    return deliveries(traces).groupBy(RUN).agg(F.max("at_s").alias("last_s"), F.count("*").alias("count"))


EXTRA = Extra((ExtraMetrics((LAST, COUNT), last),), (ExtraTable("deliveries", ("at_s", "node"), deliveries),))


@pytest.fixture
def results(tmp_path: Path, session: SparkSession) -> Path:
    """Two deliveries with seed 0, none with seed 1."""
    published = [publish(1.0, 0, "0.0", [3, 2])]
    write_trace(tmp_path, "agent=a/nodes=9/seed=0", [*published, deliver(2.5, 3, "0.0", 2), deliver(1.5, 2, "0.0", 1)])
    write_trace(tmp_path, "agent=a/nodes=9/seed=1", published)
    return tmp_path


def table(results: Path, name: str) -> pd.DataFrame:
    return pd.read_csv(results / "metrics" / f"{name}.csv")


def test_metrics_stand_beside_the_others(results: Path) -> None:
    """In runs behind those of the catalogue, in points as means; a run without one counts in no mean."""
    assert aggregate(results, extra=EXTRA) == []
    runs = table(results, "runs")
    np.testing.assert_equal(runs["last_s"].tolist(), [2.5, np.nan])
    assert list(runs.columns)[list(runs.columns).index("last_s") + 1] == "count"
    point = table(results, "points").set_index("metric").loc["count"]
    assert (point["mean"], point["n"]) == (2, 1)


def test_tables_have_a_row_an_observation(results: Path) -> None:
    """With agent, axes and seed in front, in an order that depends on the numbers alone."""
    aggregate(results, extra=EXTRA)
    found = table(results, "deliveries")
    assert list(found.columns) == ["agent", "nodes", "seed", "at_s", "node"]
    assert found.to_numpy().tolist() == [["a", 9, 0, 1.5, 2.0], ["a", 9, 0, 2.5, 3.0]]


@pytest.mark.slow
def test_what_is_known_is_not_read_again(results: Path) -> None:
    """Nothing is computed for traces as they were; without the study, or with another, everything is."""
    aggregate(results, extra=EXTRA)
    before = {file.name: file.read_bytes() for file in (results / "metrics").iterdir()}
    CALLS.clear()
    aggregate(results, extra=EXTRA)
    assert CALLS == []
    assert {file.name: file.read_bytes() for file in (results / "metrics").iterdir()} == before
    aggregate(results, extra=replace(EXTRA, tables=()))
    assert CALLS == ["deliveries"]
    aggregate(results)
    assert "last_s" not in table(results, "runs").columns


def test_a_table_without_observations_has_its_columns(results: Path) -> None:
    """So that what reads it finds them."""
    nothing = ExtraTable("nothing", ("at_s",), lambda traces: deliveries(traces).where(F.lit(False)))
    aggregate(results, extra=Extra(tables=(nothing,)))
    assert list(table(results, "nothing").columns) == ["agent", "nodes", "seed", "at_s"]
    assert table(results, "nothing").empty


def test_two_rows_a_run_are_a_mistake(results: Path) -> None:
    """The message names the function."""
    twice = ExtraMetrics((Metric("at_s", "", ""),), deliveries)
    with pytest.raises(UserError, match="deliveries gives a run two rows: group by run"):
        aggregate(results, extra=Extra((twice,)))


def test_a_column_that_is_missing_is_named(results: Path) -> None:
    """By Spark's message."""
    missing = ExtraMetrics((Metric("latest_s", "", ""),), last)
    with pytest.raises(RoambusError, match="latest_s"):
        aggregate(results, extra=Extra((missing,)))
