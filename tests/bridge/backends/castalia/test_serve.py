"""`roambus run --endpoint local` waits for a simulator that somebody starts; the stand-in is that simulator here."""

from __future__ import annotations

import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from roambus.bridge.backends.castalia.backend import CastaliaBackend
from roambus.bridge.backends.castalia.simulators import run_directory
from roambus.bridge.backends.castalia.zeromq import Connection, CurveKeys, Endpoint
from roambus.bridge.host.event_loop import Host
from roambus.bridge.system.errors import BackendError
from roambus.bridge.trace.parquet import TraceWriter
from roambus.python_protocol.baselines import Beacon
from roambus.python_protocol.roles import Role
from roambus.python_protocol.simtime import SECOND
from tests.support.omnet import stand_in
from tests.support.scenarios import scenario

ROAMBUS = (sys.executable, "-c", "from roambus.command_line import main; main()")
LINKS = f"nodes 6\ntime_limit {5 * SECOND}\nlink 0 2\nlink 0 4\nlink 2 4\n"


@contextmanager
def serving(results: Path, *options: str, endpoint: str = "local") -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A host that waits, and its run's folder."""
    settings = ("--set", "time_limit=5", "--set", "publish_until=4", "--agent", "beacon", "--deadline", "10")
    command = (*ROAMBUS, "run", "thesis", "--endpoint", endpoint, *settings, "--out", str(results), *options)
    host = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert host.stderr is not None
        assert "start the simulator" in host.stderr.readline()
        words = host.stderr.readline().split()
        assert words[2:] == ["&&", "CastaliaBin", "-f", "run.ini"]
        yield host, Path(words[1])
    finally:
        host.kill()
        host.communicate()


def start_simulator(folder: Path) -> subprocess.CompletedProcess[str]:
    """The stand-in, in the run's folder, as a user would start Castalia."""
    (folder / "links").write_text(LINKS)
    return subprocess.run([stand_in(), "links"], cwd=folder, capture_output=True, text=True, timeout=30, check=False)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.mark.parametrize("over", ["ipc", "tcp"])
def test_a_simulator_started_by_hand_makes_a_whole_run(over: str, tmp_path: Path) -> None:
    """Both sides end with 0; the folder for the simulator is private, and is gone afterwards."""
    endpoint = f"tcp://127.0.0.1:{free_port()}" if over == "tcp" else "local"
    with serving(tmp_path / "out", endpoint=endpoint) as (host, folder):
        session = folder / ".roambus" / "session"
        assert f"endpoint={over}://" in session.read_text()
        assert stat.S_IMODE(session.stat().st_mode) == 0o600
        simulator = start_simulator(folder)
        assert simulator.returncode == 0, simulator.stderr
        assert host.wait(20) == 0
    assert (folder / "trace.parquet").is_file()
    assert not (folder / ".roambus").exists()


def test_nobody_comes(tmp_path: Path) -> None:
    """The wait ends, with the back-end's exit code, and leaves nothing that looks like a result."""
    with serving(tmp_path / "out", "--wait", "1") as (host, folder):
        assert host.wait(20) == 3
        assert host.stderr is not None
        assert "no simulator said hello within 1 s" in host.stderr.read()
    assert not (folder / "trace.parquet").exists()
    assert not (folder / ".roambus").exists()


def test_an_address_in_use_is_a_users_mistake(tmp_path: Path) -> None:
    """It is named."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        command = (*ROAMBUS, "run", "thesis", "--endpoint", address, "--out", str(tmp_path / "out"))
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert f"{address}: cannot listen there" in done.stderr
    assert "Traceback" not in done.stderr


class Keyed:
    """The stand-in, started beside a host that listens at `endpoint`; it is given the address and keys of `given`."""

    run = "run of the test"
    hello_within_s = 3.0

    def __init__(self, folder: Path, endpoint: Endpoint, given: Endpoint) -> None:
        self._program = stand_in()  # it may skip the test, which is no failure of a connection
        self._folder = folder
        self._endpoint = endpoint
        self._resources = ExitStack()
        self._resources.enter_context(run_directory(folder, {}, given, 1.0))

    def connect(self) -> Connection:
        connection = Connection(self._endpoint, 1.0, lambda: None)
        self._resources.callback(connection.close)
        (self._folder / "links").write_text(f"nodes 2\ntime_limit {SECOND}\nlink 0 1\n")
        self._process = subprocess.Popen([self._program, "links"], cwd=self._folder, stderr=subprocess.DEVNULL)
        return connection

    def last_lines(self) -> str:
        return ""

    def end(self, *, in_order: bool) -> None:
        with self._resources:
            self.status = self._process.wait(20)


def run_with(simulator: Keyed) -> None:
    described = scenario([Role.NONE] * 2, time_limit=SECOND)
    backend = CastaliaBackend(described, Beacon.messages, simulator)
    Host(described, Beacon, backend, TraceWriter()).run()


@pytest.fixture
def endpoint() -> Endpoint:
    """One with keys, which loopback would not need."""
    return Endpoint(f"tcp://127.0.0.1:{free_port()}", CurveKeys.fresh())


def test_the_runs_own_keys_open_the_connection(endpoint: Endpoint, tmp_path: Path) -> None:
    """CURVE on both sides, and a whole run through it."""
    simulator = Keyed(tmp_path, endpoint, endpoint)
    run_with(simulator)
    assert simulator.status == 0


def test_other_keys_do_not_even_connect(endpoint: Endpoint, tmp_path: Path) -> None:
    """A simulator with keys of its own making is not heard, whatever token it has."""
    assert endpoint.keys is not None
    own = CurveKeys.fresh()
    keys = replace(endpoint.keys, client_public=own.client_public, client_secret=own.client_secret)
    simulator = Keyed(tmp_path, endpoint, replace(endpoint, keys=keys))
    with pytest.raises(BackendError, match="no simulator said hello"):
        run_with(simulator)
    assert simulator.status != 0
