"""How Spark's Java ended is told, and nothing of it is left."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from pyspark.accumulators import AccumulatorTCPServer, UpdateRequestHandler

from roambus.bridge.system.errors import RoambusError, UserError
from roambus.spark.engine import session as engine
from roambus.spark.engine.java import Jvm, silence_losses
from tests.support.waiting import until

SETTINGS = {"spark.driver.extraJavaOptions": ""}

# Spark's script asks a first Java for the command of the second.
FAKE = """#!/bin/sh
case "$*" in
-version) echo 'openjdk version "17.0.1"' >&2; exit 0 ;;
*launcher.Main*) printf '\\0\\n%s\\0run\\0' "$0"; exit 0 ;;
esac
echo 'no room for the heap' >&2
{end}
"""

AGGREGATION = """
import os, signal, sys
from roambus.spark.engine import session as engine
from roambus.bridge.system.errors import RoambusError, UserError
for attempt in range(2):
    try:
        with engine.spark_session("local[1]") as session:
            if attempt == 0:
                os.kill(engine._jvms[0]._process.pid, signal.SIGKILL)
            print(session.range(10).count())
    except RoambusError as error:
        print(error)
"""


LONG_TASK = """
import sys, time
from pathlib import Path
from roambus.bridge.system.interrupts import termination_interrupts
from roambus.spark.engine.session import interruptible, spark_session

def work(batches, begun=sys.argv[1]):
    Path(begun).touch()
    time.sleep(50)
    yield from batches

with termination_interrupts(), spark_session("local[1]") as session:
    interruptible(session, session.range(0, 1, 1, 1).mapInArrow(work, "id long").toArrow)
"""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ("exit 3", "ended with exit status 3; its last output:\n  no room for the heap"),
        ("kill -9 $$", "was killed by SIGKILL"),
        ("exit 143", "was ended by SIGTERM (exit status 143)"),
    ],
)
def test_a_java_that_ends_while_it_starts(
    end: str, said: str, tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error says how, with what it said last; its folder is gone."""
    java = tmp_path / "home" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(FAKE.format(end=end))
    java.chmod(0o700)
    monkeypatch.setenv("JAVA_HOME", str(java.parents[1]))
    jvm = Jvm()
    with pytest.raises(RoambusError) as caught:
        jvm.start(engine.SPARK_HOME, SETTINGS, is_loud=False)
    jvm.end()
    assert str(caught.value).startswith("Spark could not start: its Java ")
    assert said in str(caught.value)
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("error", [ConnectionRefusedError(111, "Connection refused"), ValueError("of anything")])
def test_whatever_a_dead_java_causes_is_reported_as_its_death(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And with a Java that lives, every error stays what it is."""

    class Dead:
        def death(self, within_s: float) -> str | None:
            return "its Java was killed by SIGKILL" if self.is_dead else None

        is_dead = False

        def end(self) -> None:
            """There is nothing to be ended."""

    monkeypatch.setattr(engine, "_jvms", [Dead()])
    monkeypatch.setattr(engine, "forget", lambda: None)
    with pytest.raises(type(error)), engine._death_named():
        raise error
    Dead.is_dead = True
    with pytest.raises(RoambusError, match="Spark is gone: its Java was killed by SIGKILL"), engine._death_named():
        raise error


@pytest.mark.slow
def test_a_java_that_is_killed_is_named_and_the_next_session_starts_another(tmp_path: Path) -> None:
    """Without a traceback, and nothing is left in the folder for temporary files, whatever its name is."""
    temporary = tmp_path / "with a \"blank\" and 'quotes'"
    temporary.mkdir()
    environment = {**os.environ, "TMPDIR": str(temporary)}
    done = subprocess.run(
        [sys.executable, "-c", AGGREGATION], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines()[0].startswith(f"Spark is gone: its Java was killed by {signal.SIGKILL.name}")
    assert done.stdout.splitlines()[-1] == "10"
    assert done.stderr == ""
    assert list(temporary.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_does_not_wait_for_a_task_that_takes_long(tmp_path: Path, number: int) -> None:
    """PySpark would wait until the task has ended."""
    begun, folder = tmp_path / "begun", tmp_path / "tmp"
    folder.mkdir()
    running = subprocess.Popen(
        [sys.executable, "-c", LONG_TASK, str(begun)], env={**os.environ, "TMPDIR": str(folder)}, stderr=subprocess.PIPE
    )
    until(begun.exists)
    running.send_signal(number)
    _, errors = running.communicate(timeout=25)
    assert b"KeyboardInterrupt" in errors
    assert list(folder.iterdir()) == []


def test_pyspark_says_nothing_of_the_end_of_a_killed_java(capfd: pytest.CaptureFixture[str]) -> None:
    """Java is also connected to a server of PySpark's, which else prints a traceback after the message of Ctrl-C.

    This server needs no `localhost` in `/etc/hosts`, for which an unknown name stands.
    """
    silence_losses()
    with AccumulatorTCPServer(("localhost.invalid", 0), UpdateRequestHandler, "secret") as server:
        with socket.create_connection(("127.0.0.1", server.server_address[1])) as java:
            java.sendall(b"secret")
        server.handle_request()
    assert capfd.readouterr().err == ""


COUNT = """
from roambus.spark.engine.session import spark_session
with spark_session("local[1]") as session:
    rows = session.range(0, 3, 1, 1).mapInArrow(lambda batches: batches, "id long").collect()
print(len(rows))
"""


def test_a_machine_without_loopback_is_reported_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before Java starts, which would print its stack."""
    monkeypatch.setattr(engine, "LOOPBACK", "192.0.2.1")  # an address that nobody has
    with pytest.raises(UserError, match=r"Spark needs the address 192\.0\.2\.1, .*: bring the loopback interface up"):
        engine._check_loopback()


def test_a_local_session_ignores_another_installation_and_says_so() -> None:
    """Its Python, Java options and configuration would end Spark, or change what it computes."""
    missing = ("HADOOP_CONF_DIR", "PYSPARK_DRIVER_PYTHON", "PYSPARK_PYTHON", "SPARK_CONF_DIR", "SPARK_HOME")
    options = {"JDK_JAVA_OPTIONS": "-Xmx1k", "PYSPARK_SUBMIT_ARGS": "--nothing", "_JAVA_OPTIONS": "-Xmx1k"}
    foreign = {**dict.fromkeys(missing, "/nowhere"), **options}
    done = subprocess.run(
        [sys.executable, "-c", COUNT], capture_output=True, text=True, check=False, env={**os.environ, **foreign}
    )
    assert (done.returncode, done.stdout) == (0, "3\n"), done.stderr
    (said,) = done.stderr.splitlines()
    assert said == f"Spark on this machine ignores {', '.join(sorted(foreign))}; --spark spark://HOST:PORT heeds them"


def test_a_user_without_a_name_is_reported_before_java_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container that runs under a bare number; Spark's own answer is a stack trace."""
    monkeypatch.setattr(os, "getuid", lambda: 4_000_000)
    jvm = Jvm()
    try:
        with pytest.raises(UserError, match="no user without a name, and user 4000000 is not in /etc/passwd"):
            jvm.begin(engine.SPARK_HOME, {}, is_loud=False)
    finally:
        jvm.end()
