"""A real `roambus serve`, and the stand-in as the simulator that comes to it."""

from __future__ import annotations

import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from benchmarks.failures.stand_in import STAND_IN, all_linked
from roambus.bridge.runs.layout import TRACE_FILE

ROAMBUS = (sys.executable, "-c", "import sys; sys.argv[0] = 'roambus'; from roambus.command_line import main; main()")
NODES = 6
DEADLINE_S = 60
ENDS_S = 300.0
"""Within this a run ends, however many strangers there are."""


@dataclass(frozen=True, slots=True)
class Use:
    """What a process has at a moment."""

    memory_mib: float
    descriptors: int


NOTHING = Use(0, 0)


class Served:
    """A host that listens. As a context manager it ends it."""

    def __init__(self, results: Path, over: str, seconds: int) -> None:
        """Starts it, over ipc or tcp, for a run of so many simulated seconds."""
        self._seconds = seconds
        settings = [f"time_limit={seconds}", f"publish_until={seconds * 2 // 3}"]
        options = [word for setting in settings for word in ("--set", setting)]
        if over == "tcp":
            options += ["--endpoint", f"tcp://127.0.0.1:{free_port()}"]
        command = [*ROAMBUS, "serve", "thesis", "--agent", "mft", "--deadline", str(DEADLINE_S), "--out", str(results)]
        self._errors = results.with_suffix(".errors")
        with self._errors.open("wb") as errors:
            self.host = subprocess.Popen([*command, *options], stdout=subprocess.DEVNULL, stderr=errors)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.host.kill()
        self.host.wait()

    def errors(self) -> str:
        """What the host has printed."""
        return self._errors.read_text(encoding="utf-8", errors="replace")

    @property
    def listens(self) -> bool:
        """Whether the host has said what to start."""
        return "CastaliaBin" in self.errors()

    @property
    def folder(self) -> Path:
        """The run's folder, once the host listens."""
        words = self.errors().split()
        return Path(words[words.index("cd") + 1])

    def session(self) -> dict[str, str]:
        """What the run's own simulator is told."""
        lines = (self.folder / ".roambus" / "session").read_text(encoding="utf-8").splitlines()
        return dict(line.split("=", 1) for line in lines)

    def use(self) -> Use:
        """What the host has now."""
        proc = Path(f"/proc/{self.host.pid}")
        (pages,) = (line for line in (proc / "status").read_text(encoding="utf-8").splitlines() if "VmRSS" in line)
        return Use(int(pages.split()[1]) / 1024, len(list((proc / "fd").iterdir())))

    def simulator(self) -> subprocess.Popen[bytes]:
        """Starts the run's own simulator."""
        script = "\n".join(["seed 0", *all_linked(NODES, self._seconds)])
        (self.folder / "script").write_text(script, encoding="utf-8")
        return subprocess.Popen([STAND_IN, "script"], cwd=self.folder, stderr=subprocess.DEVNULL)

    def trace(self) -> bytes:
        """The run's trace; empty if there is none."""
        file = self.folder / TRACE_FILE
        return file.read_bytes() if file.is_file() else b""


def free_port() -> int:
    """A port of loopback that nobody has."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def opened(endpoint: str) -> socket.socket:
    """A raw connection to `ipc://PATH` or `tcp://HOST:PORT`."""
    kind, _, place = endpoint.partition("://")
    family, address = (socket.AF_UNIX, place) if kind == "ipc" else (socket.AF_INET, _host_and_port(place))
    connection = socket.socket(family)
    try:
        connection.settimeout(5)
        connection.connect(address)
    except OSError:
        connection.close()
        raise
    return connection


def _host_and_port(place: str) -> tuple[str, int]:
    host, _, port = place.rpartition(":")
    return host, int(port)
