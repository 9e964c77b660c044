"""Starts a Spark session quickly, lets it listen only where it has to, and leaves nothing behind.

On this machine Spark binds the loopback address alone; on a cluster it binds the address from which the master is
reached. Its files lie in a temporary folder. What it needs to know of Java and Python it gets by environment variables,
which are set for the start only.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pyspark
from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from roambus.bridge.errors import UserError
from roambus.spark.engine.java import find_java, write_java_home
from roambus.spark.engine.master import check_master, is_cluster, local_address

Settings = dict[str, bool | float | int | str | None]

_LOGGING = Path(__file__).with_name("log4j2.properties")
# The quick compiler alone has 48 MiB for its code, which some twenty aggregations fill; then Java only interprets.
_COMPILER = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"
_LOOPBACK = "127.0.0.1"
_PRIVATE: Settings = {"spark.driver.bindAddress": _LOOPBACK, "spark.driver.host": _LOOPBACK}
_NOT_ACCEPTED = (
    "somebody answers there, but does not accept us: is it the master's port (7077, not that of its web page), "
    f"the same Spark ({pyspark.__version__}), and the same spark.authenticate.secret?"
)
_SHUFFLE_PARTITIONS = 4
"""Metrics are small beside traces: more partitions would only be more tasks to start."""


@contextmanager
def spark_session(master: str = "local[*]") -> Iterator[SparkSession]:
    """A session on `master`, stopped in the end. A session that is active already is used and left running.

    On a cluster, what `spark-defaults.conf` in the folder SPARK_CONF_DIR sets holds, and executors run the Python that
    PYSPARK_PYTHON names, or this one. Raises UserError if there is no Java that fits, or no master at that URL.
    """
    check_master(master)
    if is_cluster(master):
        local_address(master)
    active = SparkSession.getActiveSession()
    if active is not None:
        yield active
        return
    with tempfile.TemporaryDirectory(prefix="roambus-spark-") as folder, _handler_of_ctrl_c_restored():
        session = _start(master, Path(folder))
        try:
            yield session
        finally:
            session.stop()


def _start(master: str, folder: Path) -> SparkSession:
    reached_from = local_address(master) if is_cluster(master) else _LOOPBACK
    address = os.environ.get("SPARK_LOCAL_IP", reached_from)
    home = write_java_home(find_java(), folder / "java")
    surroundings = {
        "JAVA_HOME": str(home),
        "SPARK_HOME": str(Path(pyspark.__file__).parent),  # another Spark on this machine would not fit this PySpark
        "SPARK_LOCAL_IP": address,
        "SPARK_LOCAL_HOSTNAME": os.environ.get("SPARK_LOCAL_HOSTNAME", address),  # no name that others may not know
        "PYSPARK_PYTHON": os.environ.get("PYSPARK_PYTHON", sys.executable),
    }
    settings = _settings(folder) if is_cluster(master) else {**_settings(folder), **_PRIVATE}
    builder = SparkSession.Builder().master(master).appName("roambus").config(map=settings)
    with _environment(surroundings):
        try:
            return builder.getOrCreate()
        except Py4JError:
            if not is_cluster(master):
                raise
            raise UserError(f"{master}: {_NOT_ACCEPTED}") from None


def _settings(folder: Path) -> Settings:
    return {
        "spark.ui.enabled": False,
        "spark.ui.showConsoleProgress": False,
        "spark.driver.memory": "2g",
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={_LOGGING.as_uri()} {_COMPILER}",
        "spark.local.dir": str(folder / "local"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.shuffle.partitions": _SHUFFLE_PARTITIONS,
        # Results have a row a run: starting Arrow takes longer than it saves.
        "spark.sql.execution.arrow.pyspark.enabled": False,
    }


@contextmanager
def _handler_of_ctrl_c_restored() -> Iterator[None]:
    """Puts back the handler of Ctrl-C: PySpark sets one that cancels jobs, and afterwards there are none."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)


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
