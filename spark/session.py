"""A Spark session that starts quickly, listens only where it has to and leaves nothing behind."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession

from spark.java import find_java, write_java_home
from spark.master import check_master, is_cluster, local_address

Settings = dict[str, bool | float | int | str | None]

_LOGGING = Path(__file__).with_name("log4j2.properties")
_LOOPBACK = "127.0.0.1"
_PRIVATE: Settings = {"spark.driver.bindAddress": _LOOPBACK, "spark.driver.host": _LOOPBACK}
_SHUFFLE_PARTITIONS = 4
"""Metrics are small beside traces: more partitions would only be more tasks to start."""


@contextmanager
def spark_session(master: str = "local[*]") -> Iterator[SparkSession]:
    """A session on `master`, stopped in the end. A session that is active already is used and left running.

    On a cluster, what `spark-defaults.conf` in the folder SPARK_CONF_DIR sets holds, and executors run the Python that
    PYSPARK_PYTHON names, or this one. Raises UserError if there is no Java that fits, or no master at that URL.
    """
    active = SparkSession.getActiveSession()
    if active is not None:
        yield active
        return
    check_master(master)
    with tempfile.TemporaryDirectory(prefix="roambus-spark-") as folder:
        session = _start(master, Path(folder))
        try:
            yield session
        finally:
            session.stop()


def _start(master: str, folder: Path) -> SparkSession:
    address = local_address(master) if is_cluster(master) else _LOOPBACK
    home = write_java_home(find_java(), folder / "java")
    surroundings = {
        "JAVA_HOME": str(home),
        "SPARK_HOME": str(Path(pyspark.__file__).parent),  # another Spark on this machine would not fit this PySpark
        "SPARK_LOCAL_IP": os.environ.get("SPARK_LOCAL_IP", address),
        "PYSPARK_PYTHON": os.environ.get("PYSPARK_PYTHON", sys.executable),
    }
    settings = _settings(folder) if is_cluster(master) else {**_settings(folder), **_PRIVATE}
    with _environment(surroundings):
        builder = SparkSession.Builder().master(master).appName("roambus")
        return builder.config(map=settings).getOrCreate()


def _settings(folder: Path) -> Settings:
    return {
        "spark.ui.enabled": False,
        "spark.ui.showConsoleProgress": False,
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
