"""The simulator's side in a process of its own, against a host over a real socket."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from roambus.bridge.backends.castalia.zeromq import CurveKeys
from roambus.bridge.wire.conversion import PROTOCOL_VERSION
from roambus.bridge.wire.wire_pb2 import Failed, Goodbye, Reject, Reply, Send, ToSimulator, Welcome
from tests.omnet.scripted_host import PATIENCE_MS, TOKEN, ScriptedHost, start_host_process

MS = 1_000_000
LINE = f"nodes 3\nlink 0 1\nlink 1 2\ntime_limit {10 * MS}\nseed 4\n"
LONG_MS, SHORT_MS = 30_000, 1000
"""Deadlines: one that no test waits for, and one that a test does wait for."""

Start = Callable[..., "Simulator"]


class Simulator:
    """The stand-in, running a script in a folder with a session."""

    def __init__(self, program: Path, folder: Path, script: str, session: str) -> None:
        (folder / ".roambus").mkdir()
        (folder / ".roambus" / "session").write_text(session)
        (folder / "script").write_text(script)
        self.process = subprocess.Popen([program, "script"], cwd=folder, stderr=subprocess.PIPE, text=True)

    def end(self) -> tuple[int, str]:
        """Its exit status and what it logged, once it has ended by itself."""
        _, log = self.process.communicate(timeout=PATIENCE_MS / 1000)
        return self.process.returncode, log


@pytest.fixture
def host() -> Iterator[ScriptedHost]:
    with ScriptedHost() as scripted:
        yield scripted


@pytest.fixture
def start(stand_in: Path, tmp_path: Path) -> Iterator[Start]:
    """Starts a simulator; whatever is left of it at the end of the test is killed."""
    started: list[Simulator] = []

    def start_one(endpoint: str, script: str = LINE, deadline_ms: int = LONG_MS, more: str = "") -> Simulator:
        session = f"endpoint={endpoint}\ntoken={TOKEN}\ndeadline_ms={deadline_ms}\n{more}"
        started.append(Simulator(stand_in, tmp_path, script, session))
        return started[-1]

    yield start_one
    for simulator in started:
        simulator.process.kill()
        simulator.process.communicate()


def reply(*sends: Send, wake_up: int | None = None) -> ToSimulator:
    return ToSimulator(reply=Reply(sends=sends, wake_up=wake_up))


def test_a_run_from_hello_to_goodbye(host: ScriptedHost, start: Start) -> None:
    """A broadcast reaches both neighbours in one Step, and the counts at the end include it."""
    simulator = start(host.endpoint)
    step = host.welcome(wake_up=2 * MS).step
    assert (step.now, len(step.arrivals), len(step.failures)) == (2 * MS, 0, 0)
    host.say(reply(Send(time=2 * MS, node=1, destination=65535, payload=b"hi")))
    (arrival,) = host.hear_and_reply(reply()).step.arrivals
    assert (arrival.time, arrival.sender, arrival.payload) == (3 * MS, 1, b"hi")
    assert (arrival.receivers[:], arrival.rssi_dbm[:], arrival.lqi_db[:]) == ([0, 2], [-50, -50], [50, 50])
    finished = host.hear_and_reply(ToSimulator(goodbye=Goodbye())).finished
    assert (finished.sends, finished.deliveries) == (1, 2)
    assert simulator.end() == (0, f"stand-in: 3 nodes, host at {host.endpoint}\n")


def test_the_simulator_introduces_itself(host: ScriptedHost, start: Start) -> None:
    """Hello says what the host needs to compare: version, schema, token, and the run's figures."""
    start(host.endpoint, LINE + "processing_delay 7\n")
    hello = host.hear().hello
    schema = Path("bridge/wire/wire.proto").read_bytes()
    assert (hello.protocol_version, hello.schema_hash, hello.token) == (
        PROTOCOL_VERSION,
        sha256(schema).digest(),
        TOKEN,
    )
    assert (hello.seed, hello.time_resolution, hello.time_limit, hello.processing_delay) == (4, -9, 10 * MS, 7)
    assert [(node.start, node.clock_rate) for node in hello.nodes] == [(0, 1)] * 3


def test_a_packet_that_the_mac_refuses_is_reported_at_once(host: ScriptedHost, start: Start) -> None:
    """It is in another Step of the same instant; no node receives it."""
    start(host.endpoint, LINE + "refuse 1 0\n")
    host.welcome()
    host.say(reply(Send(time=0, node=1, destination=65535, payload=b"hi")))
    step = host.hear_and_reply(reply()).step
    (failure,) = step.failures
    assert (step.now, failure.time, failure.node, failure.destination, failure.payload) == (0, 0, 1, 65535, b"hi")
    assert host.hear().finished.deliveries == 0


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        pytest.param(b"\xff\xff\xff", "3 bytes that are not a message", id="garbage"),
        pytest.param(ToSimulator(), "says nothing", id="empty"),
        pytest.param(ToSimulator(goodbye=Goodbye()), "answered Step with Goodbye", id="goodbye too early"),
        pytest.param(ToSimulator(welcome=Welcome()), "answered Step with Welcome", id="second welcome"),
        pytest.param(reply(Send(node=3, destination=0, payload=b"x")), "node 3 does not exist", id="no such node"),
        pytest.param(reply(Send(node=0, destination=9, payload=b"x")), "node 9 does not exist", id="to no such node"),
        pytest.param(reply(wake_up=0), "a wake-up at 0 ns, which is past", id="wake-up in the past"),
    ],
)
def test_a_host_that_breaks_the_protocol_is_refused(
    host: ScriptedHost, start: Start, answer: ToSimulator | bytes, reason: str
) -> None:
    """The simulator says Failed with the reason, and ends with an error."""
    simulator = start(host.endpoint)
    host.welcome()
    host.say(answer)
    assert reason in host.hear().failed.reason
    status, log = simulator.end()
    assert status == 1
    assert reason in log


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (ToSimulator(reject=Reject(reason="another seed")), "rejects this simulation: another seed"),
        (ToSimulator(failed=Failed(reason="no memory", node=2)), "host failed: no memory; node 2"),
    ],
    ids=["reject", "failed"],
)
def test_a_host_that_gives_up_says_why(host: ScriptedHost, start: Start, answer: ToSimulator, reason: str) -> None:
    """Its reason is in the simulator's log."""
    simulator = start(host.endpoint)
    host.hear()
    host.say(answer)
    status, log = simulator.end()
    assert status == 1
    assert reason in log


def test_a_silent_host_is_waited_for_until_the_deadline(host: ScriptedHost, start: Start) -> None:
    """It lives, as its heartbeats show, so that its socket stays; but it does not answer."""
    simulator = start(host.endpoint, deadline_ms=SHORT_MS)
    host.welcome()
    status, log = simulator.end()
    assert status == 1
    assert "is alive, but has not answered for 1.000 s" in log
    assert Path(host.endpoint.removeprefix("ipc://")).is_socket()


def test_a_host_that_works_long_is_not_mistaken_for_one_that_is_gone(host: ScriptedHost, start: Start) -> None:
    """Heartbeats are answered below the application: an answer within the deadline is in time."""
    simulator = start(host.endpoint, deadline_ms=4000)
    host.welcome()
    time.sleep(3.2)  # longer than a host may be silent below the application
    host.say(reply())
    assert host.hear_and_reply(ToSimulator(goodbye=Goodbye())).HasField("finished")
    assert simulator.end()[0] == 0


def test_a_host_that_closes_its_socket_is_noticed_at_once(host: ScriptedHost, start: Start) -> None:
    """Long before the deadline."""
    simulator = start(host.endpoint)
    host.welcome()
    host.close()
    status, log = simulator.end()
    assert status == 1
    assert "is gone" in log


def test_a_message_that_is_too_long_ends_the_connection(host: ScriptedHost, start: Start) -> None:
    """It is not taken into memory; the error names the limit."""
    simulator = start(host.endpoint)
    host.welcome()
    host.say(bytes(64 * 2**20 + 1))
    status, log = simulator.end()
    assert status == 1
    assert "more than 64 MiB" in log


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_what_a_dead_or_frozen_host_leaves_is_removed(start: Start, how: signal.Signals) -> None:
    """The socket and its folder; a frozen host is taken for dead when its heartbeats stay out."""
    folder = Path(tempfile.mkdtemp(prefix="roambus-test-"))
    endpoint = f"ipc://{folder / 'socket'}"
    with start_host_process(endpoint) as process:
        try:
            simulator = start(endpoint, deadline_ms=LONG_MS if how == signal.SIGKILL else SHORT_MS)
            assert process.stdout is not None
            assert process.stdout.readline() == "stepped\n"
            process.send_signal(how)
            status, log = simulator.end()
            left = folder.exists()
        finally:
            process.kill()
            shutil.rmtree(folder, ignore_errors=True)
    assert (status, left) == (1, False)
    assert "is gone" in log


def test_where_no_host_listens(start: Start, tmp_path: Path) -> None:
    """The simulator does not wait for one."""
    status, log = start(f"ipc://{tmp_path / 'nobody'}").end()
    assert status == 1
    assert "no host listens at ipc://" in log


def test_what_listens_may_be_no_host(start: Start, tmp_path: Path) -> None:
    """A socket that takes connections and says nothing, as a host that froze early."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "other"))
        listener.listen()
        status, log = start(f"ipc://{tmp_path / 'other'}", deadline_ms=SHORT_MS).end()
    assert status == 1
    assert "is frozen, or no host of this session" in log


def test_a_simulation_without_a_session(stand_in: Path, tmp_path: Path) -> None:
    """The error says how to get a host."""
    (tmp_path / "script").write_text(LINE)
    ended = subprocess.run([stand_in, "script"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "roambus run --endpoint" in ended.stderr


def session_keys(keys: CurveKeys) -> str:
    return f"server_key={keys.server_public}\npublic_key={keys.client_public}\nsecret_key={keys.client_secret}\n"


def test_the_sessions_keys_open_a_connection(start: Start) -> None:
    """CURVE, over tcp."""
    keys = CurveKeys.fresh()
    with ScriptedHost(keys) as host:
        simulator = start(host.endpoint, more=session_keys(keys))
        host.welcome()
        host.say(reply())
        assert host.hear_and_reply(ToSimulator(goodbye=Goodbye())).HasField("finished")
        assert simulator.end()[0] == 0


def test_a_host_with_other_keys_is_not_spoken_with(start: Start) -> None:
    """It may be somebody else's."""
    with ScriptedHost(CurveKeys.fresh()) as host:
        status, log = start(host.endpoint, more=session_keys(CurveKeys.fresh()), deadline_ms=2000).end()
    assert status == 1
    assert "keys are others" in log


def test_an_unruly_simulator_exits_with_the_scripts_status(host: ScriptedHost, start: Start) -> None:
    """After as many Steps as the script says."""
    simulator = start(host.endpoint, LINE + "misbehave exit-after 1 3\n")
    host.welcome()
    host.say(reply(wake_up=1))
    assert simulator.end()[0] == 3


def test_an_unruly_simulator_says_garbage(host: ScriptedHost, start: Start) -> None:
    """In place of what would come next."""
    start(host.endpoint, LINE + "misbehave garbage-after 1\n")
    host.welcome()
    host.say(reply(wake_up=1))
    assert host.hear_bytes() == b"\xff\xff\xff\xff"


def test_an_unruly_simulator_goes_back_in_time(host: ScriptedHost, start: Start) -> None:
    """Its second Step is before its first."""
    start(host.endpoint, LINE + "misbehave time-backwards 1\n")
    assert host.welcome(wake_up=5).step.now == 5
    host.say(reply(wake_up=9))
    assert host.hear().step.now == 4


def test_an_unruly_simulator_is_silent_until_its_host_is_gone(host: ScriptedHost, start: Start) -> None:
    """It stays for longer than the deadline, but not for ever."""
    simulator = start(host.endpoint, LINE + "misbehave silent-after 1\n", deadline_ms=200)
    host.welcome()
    host.say(reply(wake_up=1))
    with pytest.raises(subprocess.TimeoutExpired):
        simulator.process.wait(0.5)
    host.close()
    assert simulator.end()[0] == 1
