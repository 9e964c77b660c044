"""Aggregation on a cluster of two workers: the same tables, with a metric of one's own, whatever happens to them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from roambus.extensions.cluster.tests.clusters import ROAMBUS, descendants, running_cluster
from roambus.spark.aggregation.aggregate import aggregate
from roambus.spark.metrics.extra import own_metrics
from tests.spark.synthetic import random_trace, write_trace
from tests.support.waiting import until

SLOW = """\
import os
import time

from roambus import metric


@metric("deliveries")
def slowly_counted(run):
    \"\"\"How many there are, counted with breaks.\"\"\"
    with open({begun!r}, "a") as begun:
        begun.write(f"{{os.getpid()}}\\n")
    time.sleep(0.2)
    return len(run.deliveries)
"""
RUNS = 40


def _lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.is_file() else []


@pytest.mark.slow
def test_a_worker_that_is_killed_costs_time_and_nothing_else(tmp_path: Path, session: SparkSession) -> None:
    """Its runs are measured elsewhere; every table is that of one machine, byte for byte."""
    here, there, begun = tmp_path / "here", tmp_path / "there", tmp_path / "begun"
    for folder in (here, there):
        for seed in range(RUNS):
            write_trace(folder, f"agent=a/seed={seed}", random_trace(seed, publications=10))
    metrics = tmp_path / "slow.py"
    metrics.write_text(SLOW.format(begun=str(begun)))
    (tmp_path / "cluster").mkdir()
    with running_cluster(tmp_path / "cluster", 2) as cluster:
        command = [*ROAMBUS, "aggregate", str(there), "--spark", cluster.url, "--measure", str(metrics)]
        environment = cluster.environment(cluster.settings())
        with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
            first = cluster.workers[0].pid
            until(lambda: {*_lines(begun)} & {*map(str, descendants(first))} or process.poll() is not None)
            cluster.kill_worker()
            _, errors = process.communicate()
        assert process.returncode == 0, errors
    assert len(_lines(begun)) > RUNS, "the worker had begun nothing that was lost"
    assert aggregate(here, extra=own_metrics(str(metrics))) == []
    tables = [sorted((folder / "metrics").glob("*.parquet")) for folder in (here, there)]
    assert [file.read_bytes() for file in tables[0]] == [file.read_bytes() for file in tables[1]]
    assert len(tables[0]) == 2
