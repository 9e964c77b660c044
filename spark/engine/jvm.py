"""The Java that Spark runs in: a child process of ours, so that we can tell how it ended, and clean up after it.

PySpark would start it by itself, but keeps neither how it ended nor what it said last. So we start it, and PySpark
is told by environment variables where it is, as if spark-submit had started both. One Java serves all sessions of a
process, one after the other, and so does its folder, for Spark keeps its name. It ends with the process, by the end of
its standard input.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import ExitStack, nullcontext
from pathlib import Path
from struct import Struct

from roambus.bridge.errors import RoambusError
from roambus.bridge.process import SPARK, describe_end, memory_kills, private_folder
from roambus.spark.engine.class_archive import options_to_read
from roambus.spark.engine.java import find_java, write_java_home

START_S = 120.0
"""Java takes some seconds to start; after so long it never will."""
POLL_S = 0.02
ENDS_S = 2.0
"""A Java whose connection is lost has ended within this, or has not ended."""
FINISHES_S = 120.0
"""Java writes an archive of its classes within this."""
LAST_LINES, LAST_CHARACTERS = 8, 10_000

PORT, SECRET = "PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET"
_PORT = Struct(">I")
_GATEWAY = "gateway"
_FILE = "_PYSPARK_DRIVER_CONN_INFO_PATH"
# No files in a folder that all users share: nobody removes them after a kill.
_OPTIONS = "-XX:-UsePerfData -Djava.io.tmpdir="


class Jvm:
    """A Java in which Spark's gateway listens, and the folder for all that Spark writes."""

    def __init__(self, java_options: str | None = None) -> None:
        """Makes the folder, in which the sessions of this process have their files; raises OSError.

        Java takes Spark's classes from their archive where there is one, or has `java_options` instead.
        """
        self._java_options = java_options
        self._resources = ExitStack()
        atexit.register(self.end)
        self.folder = self._resources.enter_context(private_folder(SPARK))
        self._process: subprocess.Popen[bytes] | None = None
        self._said: Path | None = None

    def start(self, spark_home: Path, settings: Mapping[str, str], *, is_loud: bool) -> Mapping[str, str]:
        """Starts it unless that has begun, and waits until it listens.

        Returns the environment variables by which PySpark finds it. Raises what `begin` does, and RoambusError if it
        ends before it listens.
        """
        if self._process is None:
            self.begin(spark_home, settings, is_loud=is_loud)
        file = self.folder / _GATEWAY
        self._await(file)
        said = file.read_bytes()  # the port, the length of the secret, and the secret
        return {PORT: str(_PORT.unpack_from(said)[0]), SECRET: said[2 * _PORT.size :].decode()}

    def begin(self, spark_home: Path, settings: Mapping[str, str], *, is_loud: bool) -> None:
        """Begins to start it, and does not wait.

        What it says is kept for the case that it dies; if `is_loud`, it is on our stderr at once instead. Raises
        UserError if there is no Java that fits.
        """
        java = find_java()
        classes = options_to_read(java, spark_home) if self._java_options is None else self._java_options
        options = f"{settings['spark.driver.extraJavaOptions']} {classes} {_OPTIONS}{self.folder}"
        told = {**settings, "spark.driver.extraJavaOptions": options}
        words = [word for name, value in told.items() for word in ("--conf", f"{name}={value}")]
        home, file = write_java_home(java, self.folder / "java"), self.folder / _GATEWAY
        self._kills_before = memory_kills()
        self._said = None if is_loud else self.folder / "stderr"
        with nullcontext(sys.stderr) if self._said is None else self._said.open("wb") as said:
            # A session of its own: Ctrl-C reaches Python alone. As soon as Python is gone, its input ends.
            self._process = subprocess.Popen(  # noqa: S603  # Spark's own script, without a shell
                [str(spark_home / "bin" / "spark-submit"), *words, "pyspark-shell"],
                env={**os.environ, "JAVA_HOME": str(home), "SPARK_CONNECT_MODE": "0", _FILE: str(file)},
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
        """How it ended, in words, if it has, or does in this time."""
        if self._process is None:
            return None
        try:
            status = self._process.wait(within_s)
        except subprocess.TimeoutExpired:
            return None
        return f"its Java {describe_end(status, self._kills_before)}{self._last_lines()}"

    def finish(self) -> None:
        """Lets it end by itself, as it does without input, and removes its folder."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            self._process.wait(FINISHES_S)
        self.end()

    def end(self) -> None:
        """Ends it at once, if it has not ended, and removes its folder."""
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
        return "; it said last:\n  " + "\n  ".join(last) if last else "; it said nothing"
