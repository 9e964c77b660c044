"""Starts a Spark session quickly, with only the necessary ports, and leaves no files behind.

Locally Spark binds the loopback address; on a cluster, the address that reaches the master. Its files lie in a private
folder.
"""

from __future__ import annotations

import logging
import os
import re
import signal
import socket
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import pyspark
from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark import SparkContext
from pyspark.sql import SparkSession

from roambus.bridge.system.errors import RoambusError, UserError
from roambus.spark.engine.java import ENDS_S, LOOPBACK, Jvm, forget, silence_losses

Result = TypeVar("Result")


def is_local(session: SparkSession) -> bool:
    """Whether all of it is on this machine."""
    return (session.sparkContext.master or "").startswith("local")


def interruptible(session: SparkSession, compute: Callable[[], Result]) -> Result:
    """Return `compute()` of another thread; Ctrl-C and SIGTERM cancel Spark's jobs."""
    with ThreadPoolExecutor(1) as waiting:
        answer = waiting.submit(compute)
        try:
            return answer.result()
        except KeyboardInterrupt:
            session.sparkContext.cancelAllJobs()
            raise


CLUSTER = "spark://"
MASTER_ANSWER_S = 5.0
"""How long a master may take to answer."""

_MASTERS = re.compile(r"spark://[^/\s,]+:\d+(,[^/\s,]+:\d+)*")


def check_master(url: str) -> None:
    """Raise UserError unless local or a standalone master's URL."""
    if not (re.fullmatch(r"local(\[(\d+|\*)\])?", url) or _MASTERS.fullmatch(url)):
        raise UserError(f"{url}: this is not a Spark master: write spark://HOST:PORT")


def is_cluster(url: str) -> bool:
    """Whether executors and driver are different processes."""
    return url.startswith(CLUSTER)


def local_address(url: str) -> str:
    """Return the address towards the master; raise UserError without an answer."""
    problems = []
    for place in url.removeprefix(CLUSTER).split(","):
        host, _, port = place.rpartition(":")
        try:
            with socket.create_connection((host, int(port)), MASTER_ANSWER_S) as connection:
                return str(connection.getsockname()[0])
        except (OSError, OverflowError) as error:
            problems.append(f"{place}: {error}")
    raise UserError(f"no Spark master answers at {'; '.join(problems)}: start one, or correct the URL {url}")


Settings = dict[str, bool | float | int | str | None]

SPARK_HOME = Path(pyspark.__file__).parent
"""PySpark's own: another Spark on this machine would not fit it."""
_LOGGING = Path(__file__).with_name("log4j2.properties")
# The quick compiler alone has 48 MiB for its code, which some twenty aggregations fill; then Java only interprets.
_COMPILER = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"
_OTHERS = (
    "HADOOP_CONF_DIR",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "PYSPARK_DRIVER_PYTHON",
    "PYSPARK_PYTHON",
    "PYSPARK_SUBMIT_ARGS",
    "SPARK_CONF_DIR",
    "SPARK_HOME",
    "YARN_CONF_DIR",
    "_JAVA_OPTIONS",
)
"""Variables of another installation, which a local session ignores."""
_log = logging.getLogger(__name__)
_PRIVATE: Settings = {"spark.driver.bindAddress": LOOPBACK, "spark.driver.host": LOOPBACK}
_NOT_ACCEPTED = (
    "a program answers there, but refuses the connection: is it the master's port (7077, not that of its web page), "
    f"the same Spark ({pyspark.__version__}), and the same spark.authenticate.secret?"
)


@contextmanager
def spark_session(master: str = "local[*]", *, java_options: str | None = None) -> Iterator[SparkSession]:
    """Yield a session on `master`, then stop it; an active one is used and left running.

    On a cluster, spark-defaults.conf holds and executors run PYSPARK_PYTHON. Raise UserError without Java or a master,
    RoambusError if Java ends.
    """
    check_master(master)
    if is_cluster(master):
        local_address(master)
    # It may turn up at any call. Of pandas Spark's own code uses nothing here.
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    with _death_named():
        active = SparkSession.getActiveSession()
        if active is not None:
            yield active
            return
        with _handler_of_ctrl_c_restored():
            silence_losses()
            session = _start(master, java_options)
            try:
                yield session
            finally:
                _stop(session)


_jvms: list[Jvm] = []
"""The Java of this process, if there is one."""


@contextmanager
def _death_named() -> Iterator[None]:
    """Replace the block's errors by Java's end, if it ended."""
    try:
        yield
    except Exception as error:
        death = _death(error)
        if death is None:
            raise
        forget()
        _jvms.pop().end()
        raise RoambusError(f"Spark is gone: {death}") from error


def _death(error: BaseException | None) -> str | None:
    causes = []
    while error is not None and error not in causes:
        causes.append(error)
        error = error.__cause__ or error.__context__
    is_loss = any(isinstance(cause, Py4JError | ConnectionError | EOFError) for cause in causes)
    return _jvms[0].death(ENDS_S if is_loss else 0.0) if _jvms else None


def end_java() -> None:
    """Let Java end by itself, which writes its archive, and wait."""
    forget()
    _jvms.pop().finish()


def _start(master: str, java_options: str | None) -> SparkSession:
    if not _jvms:
        _jvms.append(Jvm(java_options))
    settings, surroundings = _settings_on(master), _surroundings(master)
    builder = SparkSession.Builder().master(master).appName("roambus").config(map=settings)
    if not is_cluster(master):
        _check_loopback()
        _say_ignored(surroundings)
    with _environment(surroundings):
        gateway = _gateway(master, settings)
        try:
            with _environment(gateway):
                return builder.getOrCreate()
        except Py4JError as error:
            if not is_cluster(master) or isinstance(error, Py4JNetworkError):
                raise
            raise UserError(f"{master}: {_NOT_ACCEPTED}") from None


def begin_java(master: str = "local[*]") -> None:
    """Start the Java of local sessions in the background; sessions raise its errors."""
    if is_cluster(master) or _jvms or SparkContext._gateway is not None:
        return
    _jvms.append(Jvm())
    with suppress(UserError), _environment(_surroundings(master)):
        _jvms[0].begin(SPARK_HOME, _words(master, _settings_on(master)), is_loud=False)


def _settings_on(master: str) -> Settings:
    return {**_settings(_jvms[0].folder), **({} if is_cluster(master) else _PRIVATE)}


def _surroundings(master: str) -> dict[str, str | None]:
    ours = {"SPARK_HOME": str(SPARK_HOME), "PYSPARK_PYTHON": sys.executable}
    if not is_cluster(master):
        return {**dict.fromkeys(_OTHERS), **ours, "SPARK_LOCAL_IP": LOOPBACK, "SPARK_LOCAL_HOSTNAME": LOOPBACK}
    address = os.environ.get("SPARK_LOCAL_IP", local_address(master))
    given = {name: os.environ[name] for name in ("PYSPARK_PYTHON", "SPARK_LOCAL_HOSTNAME") if name in os.environ}
    return {**ours, "SPARK_LOCAL_IP": address, "SPARK_LOCAL_HOSTNAME": address, **given}  # no name that others miss


def _check_loopback() -> None:
    """Raise UserError where the loopback address does not work, instead of Java's stack trace."""
    try:
        with socket.create_server((LOOPBACK, 0)) as server:
            socket.create_connection(server.getsockname()).close()
    except OSError:
        remedy = "bring the loopback interface up (as root: ip link set lo up)"
        raise UserError(f"Spark needs the address {LOOPBACK}, which fails on this machine: {remedy}") from None


def _say_ignored(surroundings: Mapping[str, str | None]) -> None:
    names = [name for name in _OTHERS if os.environ.get(name, surroundings.get(name)) != surroundings.get(name)]
    if names:
        _log.warning("Spark on this machine ignores %s; --spark spark://HOST:PORT heeds them", ", ".join(names))


def _gateway(master: str, settings: Settings) -> Mapping[str, str]:
    if SparkContext._gateway is not None:  # PySpark has no other way to tell
        return {}
    return _jvms[0].start(SPARK_HOME, _words(master, settings), is_loud=is_cluster(master))


def _words(master: str, settings: Settings) -> dict[str, str]:
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in {**settings, "spark.master": master}.items()
    }


def _stop(session: SparkSession) -> None:
    try:
        with warnings.catch_warnings(action="ignore"):  # PySpark warns if Java ends meanwhile
            session.stop()
    except (Py4JError, OSError) as error:
        if _death(error) is None:
            raise


def _settings(folder: Path) -> Settings:
    return {
        "spark.ui.enabled": False,
        "spark.ui.showConsoleProgress": False,
        "spark.driver.memory": "2g",
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={_LOGGING.as_uri()} {_COMPILER}",
        "spark.local.dir": str(folder / "local"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        # A plan is a list of tasks: to compile it, and to think it over, would take longer than to interpret it.
        "spark.sql.codegen.wholeStage": False,
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.adaptive.enabled": False,
    }


@contextmanager
def _handler_of_ctrl_c_restored() -> Iterator[None]:
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)


@contextmanager
def _environment(values: Mapping[str, str | None]) -> Iterator[None]:
    before = {name: os.environ.pop(name) for name in values if name in os.environ}
    os.environ.update({name: value for name, value in values.items() if value is not None})
    try:
        yield
    finally:
        for name in values:
            os.environ.pop(name, None)
        os.environ.update(before)
