"""A Spark session that starts quickly, stays on this machine and leaves nothing behind."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession

from spark.java import find_java, write_java_home

_LOGGING = Path(__file__).with_name("log4j2.properties")
_LOOPBACK = "127.0.0.1"
_SHUFFLE_PARTITIONS = 4
"""Metrics are small beside traces: more partitions would only be more tasks to start."""


@contextmanager
def spark_session(master: str = "local[*]") -> Iterator[SparkSession]:
    """A session on `master`, stopped in the end. A session that is active already is used and left running.

    Raises UserError if there is no Java that fits.
    """
    active = SparkSession.getActiveSession()
    if active is not None:
        yield active
        return
    with tempfile.TemporaryDirectory(prefix="roambus-spark-") as folder:
        session = _start(master, Path(folder))
        try:
            yield session
        finally:
            session.stop()


def _start(master: str, folder: Path) -> SparkSession:
    home = write_java_home(find_java(), folder / "java")
    # Another Spark on this machine would not fit this PySpark.
    spark_home = str(Path(pyspark.__file__).parent)
    with _environment({"JAVA_HOME": str(home), "SPARK_HOME": spark_home}):
        builder = SparkSession.Builder().master(master).appName("roambus")
        return builder.config(map=_settings(folder)).getOrCreate()


def _settings(folder: Path) -> dict[str, bool | float | int | str | None]:
    return {
        "spark.ui.enabled": False,
        "spark.ui.showConsoleProgress": False,
        "spark.driver.bindAddress": _LOOPBACK,
        "spark.driver.host": _LOOPBACK,
        "spark.driver.memory": "2g",
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={_LOGGING.as_uri()} -XX:TieredStopAtLevel=1",
        "spark.local.dir": str(folder / "local"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.shuffle.partitions": _SHUFFLE_PARTITIONS,
        # Results have a row a run: starting Arrow takes longer than it saves.
        "spark.sql.execution.arrow.pyspark.enabled": False,
    }


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    """Sets environment variables for the start of the JVM only."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
