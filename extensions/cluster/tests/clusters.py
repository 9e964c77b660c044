"""A Spark standalone cluster of real processes, and sweeps on it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.support.files import files_below
from tests.support.waiting import until

ROOT = Path(__file__).parents[2]
ROAMBUS = [sys.executable, "-c", "import sys; sys.argv[0] = 'roambus'; from roambus.command_line import main; main()"]
SECRET = {"spark.authenticate": "true", "spark.authenticate.secret": "told to nobody else"}
QUICK = {"spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1"}
"""Executors that live for seconds only start sooner."""


def traces(results: Path) -> dict[str, bytes]:
    """The contents of all traces in place, by the places of their runs."""
    files = files_below(results / "traces", "trace.parquet")
    return {str(file.parent.relative_to(results)): file.read_bytes() for file in files}


class LocalCluster:
    """A master and its workers, each with one core; all of them, and the drivers, know a secret."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.workers: list[subprocess.Popen[bytes]] = []
        self._addresses = 0
        self.settings()
        self._master = self._start("master", "--port", "0")
        until(lambda: "Starting Spark master at" in self._said("master"))
        found = re.search(r"Starting Spark master at (spark://\S+)", self._said("master"))
        assert found
        self.url = found[1]

    def settings(self, **more: str) -> Path:
        """A folder with the `spark-defaults.conf` of this cluster and of one driver."""
        folder = self.folder / "-".join(["conf", *more])
        folder.mkdir(exist_ok=True)
        values = {**SECRET, **QUICK, **{name.replace("_", "."): value for name, value in more.items()}}
        (folder / "spark-defaults.conf").write_text("".join(f"{name} {value}\n" for name, value in values.items()))
        return folder

    def add_worker(self) -> None:
        """One more, at an address of its own: Spark does not make a run twice at once on one host."""
        self._addresses += 1
        host = f"127.0.0.{self._addresses}"
        self.workers.append(self._start("worker", self.url, "--host", host, "--cores", "1", "--memory", "1g"))

    def kill_worker(self) -> None:
        """The first one, with everything that it has started."""
        worker = self.workers.pop(0)
        for process in [*descendants(worker.pid), worker.pid]:
            os.kill(process, signal.SIGKILL)
        worker.wait()

    def sweep(self, *arguments: object, settings: Path | None = None) -> subprocess.Popen[str]:
        """Starts `roambus sweep` on the cluster."""
        return subprocess.Popen(
            [*ROAMBUS, "sweep", *map(str, arguments), "--spark", self.url],
            cwd=self.folder,
            env=self.environment(settings or self.settings()),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def environment(self, settings: Path) -> Mapping[str, str]:
        """What drivers and daemons are started with."""
        own = {"PYTHONPATH": str(ROOT), "SPARK_CONF_DIR": str(settings), "XDG_CACHE_HOME": str(self.folder)}
        return {**os.environ, **own}

    def stop(self) -> None:
        """Ends all its processes."""
        for process in (*self.workers, self._master):
            process.terminate()
        for process in (*self.workers, self._master):
            process.wait()

    def _start(self, kind: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [
            sys.executable,
            "-m",
            "roambus.extensions.cluster.standalone",
            kind,
            *arguments,
            "--work",
            str(self.folder / "work"),
        ]
        with (self.folder / f"{kind}.log").open("ab") as log:
            environment = self.environment(self.settings())
            return subprocess.Popen(command, cwd=self.folder, env=environment, stdout=log, stderr=log)

    def _said(self, kind: str) -> str:
        return (self.folder / f"{kind}.log").read_text()


@contextmanager
def running_cluster(folder: Path, workers: int) -> Iterator[LocalCluster]:
    """With so many workers."""
    cluster = LocalCluster(folder)
    try:
        for _ in range(workers):
            cluster.add_worker()
        yield cluster
    finally:
        cluster.stop()


def descendants(process: int) -> list[int]:
    """The processes that it has started, with any of its threads, and theirs."""
    children = []
    for file in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):
            children += file.read_text().split()
    return [each for child in children for each in (*descendants(int(child)), int(child))]
