"""`roambus live` as people use it: real processes, real sockets on the loopback address, and what is left of them."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from roambus.bridge.backend import Course
from roambus.bridge.trace.parquet import read_about, read_trace
from roambus.python_protocol.simtime import SECOND

ROOT = Path(__file__).parents[3]
SMALL = ["--set", "config=C2", "--set", "publish_until=20", "--set", "publish_interval=0.2"]
LONG = ["--set", "config=C2", "--set", "publish_interval=0.2", "--set", "time_limit=60", "--set", "publish_until=50"]
FAULTS = {"crash", "freeze", "recover"}
FILES = {"CC2420.txt", "run.ini", "run.log", "trace.parquet"}


def temporary(folder: Path) -> Path:
    """Where the commands of a test have their private folders, of which nothing may be left."""
    found = folder / "tmp"
    found.mkdir(exist_ok=True)
    return found


LAUNCH = """\
import sys
from roambus.extensions.live import local, node
node.LOST_S = local.LOST_S = float(sys.argv.pop(1))
from roambus.command_line import main
main()
"""
"""A command whose nodes wait for their conductor as long as its first argument says, in seconds."""


class Command:
    """A command in a session of its own, as in a terminal."""

    def __init__(self, folder: Path, *words: str, prefix: Sequence[str] = (), lost_s: float = 0) -> None:
        command = words if words[0] == "node" else ("live", *words)
        self.process = subprocess.Popen(
            [*prefix, sys.executable, *(("-c", LAUNCH, str(lost_s)) if lost_s else ("-m", "roambus")), *command],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(temporary(folder))},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def end(self, within_s: float = 60) -> tuple[int, str]:
        """The exit code, and what was printed as an error."""
        _, output = self.process.communicate(timeout=within_s)
        return self.process.returncode, output

    def processes(self) -> list[int]:
        """All of the session, the youngest last."""
        found = []
        for path in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = path.read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == self.process.pid and fields[0] != "Z":
                found.append(int(path.parent.name))
        return sorted(found)


Start = Callable[..., Command]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts commands in a folder of the test's own; none of their processes is there when it ends."""
    started: list[Command] = []

    def begin(*words: str, prefix: Sequence[str] = (), lost_s: float = 0) -> Command:
        started.append(Command(tmp_path, *words, prefix=prefix, lost_s=lost_s))
        return started[-1]

    yield begin
    for command in started:
        for process in command.processes():
            os.kill(process, signal.SIGKILL)
        command.process.communicate()


def until(condition: Callable[[], bool], within_s: float = 40) -> None:
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline, f"nothing happened in {within_s:g} s"
        time.sleep(0.02)


def run_folder(folder: Path) -> Path:
    (found,) = {path.parent for path in folder.glob("results/run/traces/**/run.ini")}
    return found


def rows(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = read_trace(run_folder(folder) / "trace.parquet").to_pylist()
    return found


def writer(command: Command, journal: Path) -> int:
    """The process that has a journal open, which is the node's."""
    for process in command.processes():
        for descriptor in Path(f"/proc/{process}/fd").glob("*"):
            if os.path.realpath(descriptor) == str(journal):
                return process
    raise AssertionError("nobody has it open")


def is_open(command: Command, journal: Path) -> bool:
    try:
        writer(command, journal.resolve())
    except (AssertionError, OSError):
        return False
    return True


def is_on_air(folder: Path) -> bool:
    """Whether every node of C2 has begun its journal."""
    return sum(path.stat().st_size > 0 for path in folder.glob("results/run/traces/**/nodes/*.rows")) == 6


def test_a_live_run_leaves_what_a_run_leaves(start: Start, tmp_path: Path) -> None:
    """Trace, ini, radio file and log; the application's rows are there, and what only a radio has is not."""
    code, output = start("thesis", "--agent", "flooding", *SMALL, "--set", "time_limit=2").end()
    assert code == 0, output
    assert {path.name for path in run_folder(tmp_path).iterdir()} == FILES
    about = read_about(run_folder(tmp_path) / "trace.parquet")
    assert about is not None
    assert (about.backend, about.simulator, about.settings["config" if "config" in about.settings else "speed"]) == (
        "live", "UDP, ideal links", 2,
    )  # fmt: skip
    kinds = Counter(row["event"] for row in rows(tmp_path))
    assert kinds["role"] == 6
    assert kinds["publish"] >= 16
    assert kinds["deliver"] >= kinds["publish"]
    assert "energy" not in kinds
    assert not list(temporary(tmp_path).iterdir())


def test_a_node_that_is_killed_crashes_and_recovers(start: Start, tmp_path: Path) -> None:
    """A kill -9 is a crash in the trace; the node is started again, subscribes again, and what it had done stays."""
    command = start("thesis", "--agent", "flooding", *SMALL, "--set", "time_limit=6")
    until(lambda: is_on_air(tmp_path))
    (journal,) = tmp_path.glob("results/run/traces/**/nodes/*-2.rows")  # a subscriber's
    until(lambda: b"deliver" in journal.read_bytes())
    os.kill(writer(command, journal.resolve()), signal.SIGKILL)
    code, output = command.end()
    assert code == 0, output
    assert "processes of nodes died 1 times" in output
    happened = rows(tmp_path)
    (crash,), (recover,) = ([row for row in happened if row["event"] == event] for event in ("crash", "recover"))
    assert crash["node"] == recover["node"] == 2
    assert crash["time_s"] < recover["time_s"]
    own = [(row["event"], row["time_s"]) for row in happened if row["node"] == 2]
    assert [event for event, _ in own].count("role") == [event for event, _ in own].count("subscribe") == 2
    delivered = [time for event, time in own if event == "deliver"]
    assert any(time < crash["time_s"] for time in delivered)
    assert any(time > recover["time_s"] for time in delivered)
    assert not any(crash["time_s"] + 0.2 < time < recover["time_s"] for time in delivered)


def test_faults_of_the_template_are_done_to_the_processes(start: Start, tmp_path: Path) -> None:
    """A crash kills the process, and another comes when the node recovers; a frozen one is stopped, and goes on."""
    template = (ROOT / "experiments" / "studies" / "thesis" / "thesis.ini.j2").read_text()
    faults = 'SN.node[2].faults = "2s crash, 4s recover"\nSN.node[3].faults = "2s freeze, 4s recover"\n'
    (tmp_path / "faulty.ini.j2").write_text(f"{template}\n{faults}")
    code, output = start("faulty.ini.j2", "--agent", "flooding", *SMALL[2:], "--set", "time_limit=7").end()
    assert code == 0, output
    happened = rows(tmp_path)
    times = {(row["event"], row["node"]): row["time_s"] for row in happened if row["event"] in FAULTS}
    assert times.keys() == {("crash", 2), ("recover", 2), ("freeze", 3), ("recover", 3)}
    for node in (2, 3):
        delivered = [row["time_s"] for row in happened if row["event"] == "deliver" and row["node"] == node]
        assert any(time < 2 for time in delivered)
        assert not any(2.3 < time < 4 for time in delivered)
        assert any(time > times["recover", node] for time in delivered)


@pytest.mark.slow
def test_what_was_accepted_is_delivered_or_reported(start: Start, tmp_path: Path) -> None:
    """Of 20 kills at random moments each is a crash and a recovery; the log counts whatever did not arrive."""
    random = Random(20)
    command = start("thesis", "--agent", "flooding", *LONG)
    until(lambda: is_on_air(tmp_path))
    for _ in range(20):
        time.sleep(random.uniform(1.2, 2.2))
        journals = sorted(tmp_path.glob("results/run/traces/**/nodes/*.rows"))
        until(lambda: all(is_open(command, journal) for journal in journals))  # noqa: B023  # it is asked at once
        os.kill(writer(command, random.choice(journals).resolve()), signal.SIGKILL)
    code, output = command.end(90)
    assert code == 0, output
    happened = rows(tmp_path)
    kinds = Counter(row["event"] for row in happened)
    assert kinds["crash"] == kinds["recover"] == 20
    assert kinds["role"] == 26
    wanted = {
        (row["notification_id"], node)
        for row in happened
        if row["event"] == "publish"
        for node in row["detail"].split()
    }
    delivered = {(row["notification_id"], str(row["node"])) for row in happened if row["event"] == "deliver"}
    assert delivered <= wanted
    missed = len(wanted - delivered)
    assert 0 < missed < len(wanted) / 2
    assert f"note: {missed} notifications that were published did not reach a subscriber" in output


@pytest.mark.parametrize(("time_limit", "alive_s"), [(60, 0.0), (4, 2.0)])
def test_nodes_end_when_their_conductor_is_killed(
    start: Start, tmp_path: Path, time_limit: int, alive_s: float
) -> None:
    """On the air and in the last seconds, too: each keeps its trace, and no process is left."""
    command = start("thesis", "--agent", "flooding", *SMALL, "--set", f"time_limit={time_limit}", lost_s=3)
    until(lambda: is_on_air(tmp_path))
    time.sleep(alive_s)
    command.process.kill()
    until(lambda: not command.processes(), within_s=30)
    kept = sorted(tmp_path.glob("results/run/traces/**/nodes/*.trace.parquet"))
    assert len(kept) == 6
    assert all(read_trace(file).num_rows for file in kept)


@pytest.mark.parametrize("after_s", [1.0, 2.0, 3.0, 5.0])
def test_ctrl_c_leaves_nothing(start: Start, tmp_path: Path, after_s: float) -> None:
    """At any second: while everything is imported, nodes are started, or frames are on the air."""
    command = start("thesis", "--agent", "flooding", *SMALL, "--set", "time_limit=60")
    time.sleep(after_s)
    os.killpg(command.process.pid, signal.SIGINT)
    code, output = command.end()
    assert code in (130, -signal.SIGINT), output
    assert "Traceback" not in output
    assert not command.processes()
    assert not list(tmp_path.glob("**/trace.parquet"))
    assert not list(tmp_path.glob("**/*.rows"))
    assert not list(temporary(tmp_path).iterdir())


def test_a_broken_agent_ends_the_run(start: Start, tmp_path: Path) -> None:
    """Its error names node, time and line, as in every run, with the exit code of agents."""
    (tmp_path / "broken.py").write_text(
        "from roambus import Agent, Publish, on\n\n\nclass Broken(Agent):\n    @on(Publish)\n"
        "    def publish(self, event, now):\n        raise ValueError('not today')\n"
    )
    code, output = start("thesis", "--agent", "broken.py", *SMALL, "--set", "time_limit=5").end()
    assert code == 4
    assert "ValueError: not today at broken.py:7" in output
    assert (run_folder(tmp_path) / "failed").is_file()


def test_an_agent_that_needs_a_radio_says_so(start: Start) -> None:
    """Before anything runs: mft-lean chooses its parents by RSSI."""
    code, output = start("thesis", "--agent", "mft-lean", *SMALL).end()
    assert code == 2
    assert "need RSSI, which UDP does not have" in output


ROVER = """\
from roambus.python_protocol.agent import Agent, on, on_timer
from roambus.python_protocol.events import Arrived, Started
from roambus.python_protocol.simtime import SECOND


class Rover(Agent):
    @on(Started)
    def start(self, event, now):
        self.set_timer("go", SECOND // 2)

    @on_timer("go")
    def go(self, key, now):
        self.go_to(10, 10 + self.node, speed=20)

    @on(Arrived)
    def arrive(self, event, now):
        self.note("there", detail=f"{event.x:g} {event.y:g}")
"""
ROVERS = ["field", "--agent", "rover.py", "--set", "nodes=2", "--set", "side=20", "--set", "publish_interval=0s"]
ROVING = [*ROVERS, "--set", "mobility=AgentMobilityManager", "--set", "time_limit=3"]


@pytest.mark.slow
def test_a_driver_is_told_where_agents_go(start: Start, tmp_path: Path) -> None:
    """A port of this machine gets a line for each course; the agents arrive, and the trace has their ways."""
    (tmp_path / "rover.py").write_text(ROVER)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as driver:
        driver.bind(("127.0.0.1", 0))
        driver.settimeout(5)
        place = f"udp:{driver.getsockname()[1]}"
        code, output = start(*ROVING, "--links", "all", "--driver", place).end()
        assert code == 0, output
        told = sorted((Course(**json.loads(driver.recv(1024))) for _ in range(2)), key=lambda course: course.node)
    assert [(course.node, course.to_x, course.to_y) for course in told] == [(0, 10, 10), (1, 10, 11)]
    assert all(0.5 <= course.at / SECOND < 1 for course in told)
    trace = rows(tmp_path)
    for node, x, y, lasts in ((way.node, way.to_x, way.to_y, way.until - way.at) for way in told):
        own = [row for row in trace if row["node"] == node]
        assert [row["detail"] for row in own if row["event"] == "there"] == [f"{x:g} {y:g}"]
        (_, left, there) = [row for row in own if row["event"] == "move"]
        assert there["detail"] == f"{x:.3f} {y:.3f}"
        assert there["time_s"] - left["time_s"] == pytest.approx(lasts / SECOND)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "code", "problem"),
    [
        (("--links", "all"), 2, "node 0: the agent of node 0 moves it, and it has no driver: give --driver"),
        (("--driver", "udp:1"), 2, "SN.node[0].MobilityManagerName: other live nodes do not know where an agent goes"),
        (("--driver", "motor.py"), 2, "there is no file motor.py"),
        (("--driver", "rover.py:stuck", "--links", "all"), 3, "driver rover.py:stuck, node 0: ValueError: motor off"),
    ],
)
def test_what_cannot_move_a_node_is_an_error(
    start: Start, tmp_path: Path, options: Sequence[str], code: int, problem: str
) -> None:
    """It names the node, the key or the driver, and blames no agent."""
    (tmp_path / "rover.py").write_text(
        f"{ROVER}\n\ndef stuck(course):\n    if not course.node:\n        raise ValueError('motor off')\n"
    )
    ended, output = start(*ROVING, *options).end()
    assert (ended, problem in output, "agent Rover" in output) == (code, True, False), output
