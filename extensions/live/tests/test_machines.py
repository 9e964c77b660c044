"""Nodes on many machines: a file lists them, each is a process of its own, and a conductor anywhere has them run."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from random import Random

import pytest

from roambus.bridge.backends.castalia.zeromq import CurveKeys
from roambus.bridge.system.errors import UserError
from roambus.bridge.trace.parquet import read_trace
from roambus.bridge.trace.schema import TraceRow
from roambus.extensions.live.answers import ENDED, PREPARED
from roambus.extensions.live.machines import open_socket, read_machines, write_machines
from roambus.extensions.live.node import LiveNode, StoppedError
from roambus.extensions.live.tests.test_live import Start, rows, start, until
from roambus.python_protocol.simtime import SECOND

__all__ = ["start"]
TEN_SECONDS = ["--set", "nodes=3", "--set", "time_limit=10"]


def free_ports(number: int) -> list[int]:
    """Ports of the loopback address that nobody has, neither for TCP nor for UDP."""
    made = [socket.socket() for _ in range(number)]
    try:
        for bound in made:
            bound.bind(("127.0.0.1", 0))
        return [bound.getsockname()[1] for bound in made]
    finally:
        for bound in made:
            bound.close()


def listens(file: Path, node: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(read_machines(file).nodes[node][:2]) == 0


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    """A file of three nodes on the loopback address."""
    file = tmp_path / "nodes.toml"
    write_machines(file, [f"127.0.0.1:{port}" for port in free_ports(3)])
    return file


# The file


def test_the_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Addresses of both kinds, with and without a port; only its owner can read it."""
    file = tmp_path / "nodes.toml"
    write_machines(file, ["10.0.0.1", "10.0.0.2:7500"])
    assert read_machines(file).nodes == (("10.0.0.1", 7400), ("10.0.0.2", 7500))
    assert file.stat().st_mode & 0o777 == 0o600
    write_machines(tmp_path / "six.toml", ["fd00::3", "[fd00::4]:7501"])
    found = read_machines(tmp_path / "six.toml")
    assert found.nodes == (("fd00::3", 7400, 0, 0), ("fd00::4", 7501, 0, 0))
    assert found.endpoint(1) == "tcp://[fd00::4]:7501"
    with pytest.raises(UserError, match="there is a file already"):
        write_machines(file, ["10.0.0.1"])


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        ('"127.0.0.1:1"', '"localhost"', "'localhost' is not an address"),
        ('"127.0.0.1:1"', '"0.0.0.0"', "'0.0.0.0' is not an address"),
        ('"127.0.0.1:1"', '"224.0.0.1"', "224.0.0.1 is an address of many machines"),
        ('"127.0.0.1:1"', '"255.255.255.255"', "255.255.255.255 is an address of many machines"),
        ('"127.0.0.1:1"', "7", "7 is not an address"),
        ('"127.0.0.1:1"', '"127.0.0.1:2"', "same address and port"),
        ("nodes =", "nods =", "nods: no such key"),
        ("nodes =", "port = 70000\nnodes =", "70000 is not a port"),
        ('"127.0.0.1:1"', '"::1"', "all addresses must be of IPv4"),
        ("server_secret", "server_secrets", "there must be server_public, server_secret"),
        ("server_secret = '", "server_secret = 'x", "keys.server_secret: no key of 40 characters"),
        ("nodes = [", "nodes = [[", "nodes.toml: "),
    ],
)
def test_a_wrong_file_is_reported(tmp_path: Path, before: str, after: str, problem: str) -> None:
    """By file and key."""
    file = tmp_path / "nodes.toml"
    write_machines(file, ["127.0.0.1:1", "127.0.0.1:2"])
    text = file.read_text()
    assert before in text
    file.write_text(text.replace(before, after))
    with pytest.raises(UserError) as refused:
        read_machines(file)
    assert str(file) in str(refused.value)
    assert problem in str(refused.value)


def test_a_file_that_others_can_read_is_refused(listed: Path) -> None:
    """As a private key would be."""
    listed.chmod(0o644)
    with pytest.raises(UserError, match="chmod 600"):
        read_machines(listed)


def test_an_address_in_use_or_elsewhere_is_reported() -> None:
    """By the address, in one line."""
    taken = open_socket(("127.0.0.1", 0))
    try:
        address = taken.getsockname()
        with pytest.raises(UserError, match=f"127.0.0.1:{address[1]}: cannot hear there: Address already in use"):
            open_socket(address)
        with pytest.raises(UserError, match="Cannot assign requested address"):
            open_socket(("192.0.2.1", 0))
    finally:
        taken.close()


# A node by itself


@pytest.fixture
def node(tmp_path: Path) -> Iterator[LiveNode]:
    """Node 0, which nobody conducts."""
    (port,) = free_ports(1)

    made = LiveNode(
        0, f"tcp://127.0.0.1:{port}", CurveKeys.fresh(), tmp_path / "kept", partial(open_socket, ("127.0.0.1", 0))
    )
    yield made
    made.close()


def test_a_node_of_another_version_refuses(node: LiveNode, tmp_path: Path) -> None:
    """What it would run is not what the conductor has: nobody could say what the trace is a trace of."""
    from roambus.experiments.inventory import TEMPLATES  # noqa: PLC0415
    from roambus.experiments.sweeps.runner import render_point  # noqa: PLC0415
    from roambus.experiments.sweeps.selection import sweep_of  # noqa: PLC0415
    from roambus.experiments.sweeps.sweep import AgentChoice, expand  # noqa: PLC0415
    from roambus.experiments.templates.template import find_template  # noqa: PLC0415

    template = find_template("field")
    (point,) = expand(sweep_of("test", template, AgentChoice("beacon", "beacon", ()), {"nodes": ["2"]}))
    files = {
        "run.ini": render_point(template, point).encode(),
        "CC2420.txt": (TEMPLATES / "CC2420.txt").read_bytes(),
    }
    asked = {
        "ask": "prepare", "run": "ab" * 8, "files": list(files), "agent": "beacon", "code": "0" * 64, "level": "app",
        "links": "all",
    }  # fmt: skip
    answer, _ = node._answer(asked, list(files.values()))  # as a conductor's question comes there
    assert answer["refused"] == "another version of roambus, or of the agent, is installed there than here"
    assert answer["code"] == UserError.exit_code


@pytest.mark.parametrize("name", ["../run.ini", "/etc/run.ini", "a/../../run.ini"])
def test_a_run_has_no_file_outside_its_folder(node: LiveNode, name: str) -> None:
    """Whoever conducts a node writes nowhere else."""
    asked = {"ask": "prepare", "run": "ab" * 8, "files": [name], "agent": "beacon", "code": "", "level": "app"}
    answer, _ = node._answer(asked, [b""])  # likewise
    assert "a file of a run lies in its folder" in answer["refused"]


@pytest.mark.parametrize("asked", [{}, {"ask": "dance"}, {"ask": 7}, {"ask": "start"}, {"ask": "collect", "run": "zz"}])
def test_a_question_that_makes_no_sense_is_refused(node: LiveNode, asked: dict[str, object]) -> None:
    """The node stays what it was."""
    answer, _ = node._answer(dict(asked), [])  # likewise
    assert "refused" in answer
    assert node._answer({"ask": "status"}, [])[0]["state"] == "idle"


def test_the_end_of_a_run_frees_a_node(node: LiveNode, tmp_path: Path) -> None:
    """In every state: prepared, or ended with events that were not collected; it keeps these."""
    one, other = {"conductor": "one"}, {"conductor": "other"}
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / f"{'ab' * 8}-0.rows").write_text(json.dumps(TraceRow(SECOND, 0, "role")) + "\n")
    for state in (PREPARED, ENDED):
        node._answer({"ask": "status", **one}, [])  # as a conductor's questions come there
        node._state, node._last_run = state, "ab" * 8
        assert node._answer({"ask": "status", **other}, [])[0]["refused"] == "another conductor has it"
        node._answer({"ask": "end", **one}, [])
        assert node._answer({"ask": "status", **other}, [])[0]["state"] == "idle"
    trace = tmp_path / "kept" / f"{'ab' * 8}-0.trace.parquet"
    assert read_trace(trace).num_rows == 1
    words = "the conductor has ended the run before it collected all events: it has left the air, and its trace is"
    assert node._lost == f"node 0: {words} {trace}"


def test_a_node_that_was_just_started_hears_of_the_end(node: LiveNode) -> None:
    """The question comes before it is on the air."""
    node._answer({"ask": "status", "conductor": "one"}, [])  # as a conductor's questions come there
    node._state = PREPARED
    node._answer({"ask": "start", "conductor": "one", "run": "ab" * 8}, [])
    node._answer({"ask": "end", "conductor": "one"}, [])
    with pytest.raises(StoppedError):
        node.hear()


# Conducted


def test_a_node_that_is_unreachable_is_named(start: Start, listed: Path) -> None:
    """After five seconds, with how many others are, too."""
    code, output = start("field", "--nodes", str(listed), *TEN_SECONDS).end()
    assert code == 3
    assert f"error: node 0 ({read_machines(listed).endpoint(0)}) is unreachable" in output
    assert "so are 2 more" in output


def test_another_file_of_machines_does_not_let_in(start: Start, listed: Path, tmp_path: Path) -> None:
    """A wrong key: the node hears nothing of who has none of its own keys."""
    start("node", "--id", "0", str(listed))
    other = tmp_path / "other.toml"
    write_machines(other, [read_machines(listed).endpoint(0).removeprefix("tcp://")])
    until(lambda: listens(listed, 0))
    code, output = start("field", "--nodes", str(other), "--set", "nodes=1").end()
    assert code == 3
    assert "refuses the connection: its file of machines has other keys" in output


SLOW = """\
import os, sys, time
from roambus import Agent, Publish, on

if "node" in sys.argv:
    open(f"loading-{os.getpid()}", "w").close()
    time.sleep(30)


class Slow(Agent):
    @on(Publish)
    def publish(self, event, now):
        pass
"""


def test_a_node_that_is_killed_while_it_prepares_ends_the_run_at_once(
    start: Start, listed: Path, tmp_path: Path
) -> None:
    """The error names it; nobody waits for the others, which still load the agent."""
    (tmp_path / "slow.py").write_text(SLOW)
    nodes = [start("node", "--id", str(number), str(listed)) for number in range(3)]
    until(lambda: all(listens(listed, number) for number in range(3)))
    conducted = start("field", "--nodes", str(listed), "--agent", "slow.py", *TEN_SECONDS)
    until((tmp_path / f"loading-{nodes[1].process.pid}").exists)
    nodes[1].process.kill()
    code, output = conducted.end(within_s=15)
    assert code == 3
    assert f"node 1 ({read_machines(listed).endpoint(1)}) is gone: its process ended before" in output


@pytest.mark.slow
def test_stalls_of_nodes_and_of_their_conductor_lose_no_run(start: Start, listed: Path, tmp_path: Path) -> None:
    """Of 20 at random moments each of a node that lasts makes it unreachable for a while; no node crashes."""
    random, long = Random(19), ["--set", "nodes=3", "--set", "time_limit=290"]
    nodes = [start("node", "--id", str(number), "--keep", f"kept-{number}", str(listed)) for number in range(3)]
    until(lambda: all(listens(listed, number) for number in range(3)))
    conducted = start("field", "--nodes", str(listed), *long)
    until(lambda: any(file.stat().st_size for file in tmp_path.glob("kept-1/*.rows")))
    lasting = 0
    for _ in range(20):
        stalled, seconds = random.choice([*nodes, conducted]), random.uniform(1, 20)
        time.sleep(random.uniform(0.5, 3))
        stalled.process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        stalled.process.send_signal(signal.SIGCONT)
        lasting += stalled is not conducted and seconds > 3
    code, output = conducted.end(300)
    assert code == 0, output
    kinds = Counter(row["event"] for row in rows(tmp_path))
    assert kinds["unreachable"] == kinds["reachable"] >= lasting
    assert kinds["crash"] == kinds["recover"] == 0


@pytest.mark.slow
def test_strangers_who_hold_connections_stop_no_run(start: Start, listed: Path, tmp_path: Path) -> None:
    """2,000 of them, without keys, at the node and before the run: it is conducted as if they were not there."""
    for number in range(3):
        start("node", "--id", str(number), "--keep", f"kept-{number}", str(listed))
    until(lambda: all(listens(listed, number) for number in range(3)))
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    with ExitStack() as stack:
        for _ in range(2000):
            stranger = stack.enter_context(socket.socket())
            stranger.setblocking(False)
            stranger.connect_ex(read_machines(listed).nodes[0][:2])
        code, output = start("field", "--nodes", str(listed), *TEN_SECONDS).end(90)
    assert code == 0, output
    assert Counter(row["event"] for row in rows(tmp_path))["crash"] == 0


@pytest.mark.slow
def test_nodes_of_many_machines_are_conducted_and_come_back(start: Start, listed: Path, tmp_path: Path) -> None:
    """Started and stopped together, collected by the same connection; one is killed, and started again by hand."""
    nodes = [start("node", "--id", str(number), "--keep", f"kept-{number}", str(listed)) for number in range(3)]
    until(lambda: all(listens(listed, number) for number in range(3)))
    conducted = start("field", "--nodes", str(listed), "--level", "full", *TEN_SECONDS)
    until(lambda: any(file.stat().st_size for file in tmp_path.glob("kept-1/*.rows")))
    nodes[1].process.kill()
    nodes[1].end()
    start("node", "--id", "1", "--keep", "kept-1", str(listed))
    code, output = conducted.end()
    assert code == 0, output
    kinds = Counter((row["event"], row["node"]) for row in rows(tmp_path))
    assert kinds["crash", 1] == kinds["recover", 1] == 1
    assert [kinds["role", node] for node in range(3)] == [1, 2, 1]
    assert min(kinds["receive", node] for node in range(3)) > 5
    assert not list(tmp_path.glob("kept-*/*.rows"))
    nodes[0].process.send_signal(signal.SIGINT)
    assert nodes[0].end()[0] == 130


class Relay:
    """Stands between a conductor and a node: an address of its own, whose control connection can be held up."""

    def __init__(self, port: int, node: int) -> None:
        """Relay TCP and UDP from a port of the loopback address to the node's."""
        self.is_open = True
        self._node = ("127.0.0.1", node)
        self._listening = socket.create_server(("127.0.0.1", port))
        self._frames = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._frames.bind(("127.0.0.1", port))
        for work in (self._accept, self._forward):
            threading.Thread(target=work, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                outer, inner = self._listening.accept()[0], socket.create_connection(self._node)
                for one, other in ((outer, inner), (inner, outer)):
                    threading.Thread(target=self._pass, args=(one, other), daemon=True).start()

    def _pass(self, one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while content := one.recv(65536):
                while not self.is_open:
                    time.sleep(0.01)
                other.sendall(content)

    def _forward(self) -> None:
        with suppress(OSError):
            while True:
                self._frames.sendto(self._frames.recv(65536), self._node)

    def close(self) -> None:
        self._listening.close()
        self._frames.close()


@pytest.fixture
def relay(listed: Path, tmp_path: Path) -> Iterator[Relay]:
    """In `relayed.toml` node 1 has the address of a relay."""
    node, (port,) = read_machines(listed).nodes[1][1], free_ports(1)
    (tmp_path / "relayed.toml").write_text(listed.read_text().replace(f":{node}", f":{port}"))
    (tmp_path / "relayed.toml").chmod(0o600)
    made = Relay(port, node)
    yield made
    made.close()


@pytest.mark.slow
def test_a_node_whose_conductor_is_cut_off_has_not_crashed(
    start: Start, listed: Path, relay: Relay, tmp_path: Path
) -> None:
    """For six seconds: it publishes and delivers all the time, and the trace has it as unreachable."""
    for number in range(3):
        start("node", "--id", str(number), "--keep", f"kept-{number}", str(listed))
    until(lambda: all(listens(listed, number) for number in range(3)))
    settings = ["--set", "nodes=3", "--set", "time_limit=20", "--set", "publish_interval=0.5"]
    conducted = start("field", "--nodes", "relayed.toml", "--agent", "flooding", *settings)
    until(lambda: any(file.stat().st_size for file in tmp_path.glob("kept-1/*.rows")))
    time.sleep(4)
    relay.is_open = False
    time.sleep(6)
    relay.is_open = True
    code, output = conducted.end()
    assert code == 0, output
    assert "the conductor lost nodes 1 times, and these went on" in output
    found = rows(tmp_path)
    (lost,) = (row for row in found if row["event"] == "unreachable")
    (back,) = (row for row in found if row["event"] == "reachable")
    assert (lost["node"], back["node"]) == (1, 1)
    assert 5 < back["time_s"] - lost["time_s"] < 8
    assert not {"crash", "recover"} & {row["event"] for row in found}
    meanwhile = [row for row in found if lost["time_s"] < row["time_s"] < back["time_s"] and row["node"] == 1]
    assert {"publish", "deliver"} <= {row["event"] for row in meanwhile}


@pytest.mark.slow
def test_a_receivers_fixes_are_in_the_trace_whatever_else_comes_to_its_port(
    start: Start, listed: Path, tmp_path: Path
) -> None:
    """One unreadable datagram is counted; the node that has no receiver is where the template places it."""
    (port,) = free_ports(1)
    start("node", "--id", "0", "--keep", "kept-0", "--position", f"udp:{port}", str(listed))
    for number in (1, 2):
        start("node", "--id", str(number), "--keep", f"kept-{number}", str(listed))
    until(lambda: all(listens(listed, number) for number in range(3)))
    gps = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    gps.sendto(b"33 44\n", ("127.0.0.1", port))
    settings = ["--set", "nodes=3", "--set", "time_limit=8", "--set", "publish_interval=1"]
    conducted = start("field", "--nodes", str(listed), "--agent", "gpsr", *settings)
    until(lambda: any(file.stat().st_size for file in tmp_path.glob("kept-0/*.rows")))
    time.sleep(2)
    for text in (b"hello", b"35 46", b"99999 1"):
        gps.sendto(text + b"\n", ("127.0.0.1", port))
        time.sleep(1)
    gps.close()
    code, output = conducted.end()
    assert code == 0, output
    assert "node 0: 1 lines of its position receiver could not be read" in output
    assert "node 0: 1 fixes lie outside the field" in output
    moves = [(row["node"], row["detail"]) for row in rows(tmp_path) if row["event"] == "move"]
    assert [place for node, place in moves if node == 0] == ["33.000 44.000", "35.000 46.000", "99999.000 1.000"]
    assert {node for node, _ in moves} == {0, 1, 2}
    counts = {row["message_type"]: row["detail"] for row in rows(tmp_path) if row["node"] == 0}
    assert (counts["fixes"], counts["fixes_unreadable"], counts["fixes_implausible"]) == ("3", "1", "1")


RAISES = """from roambus import SECOND, Agent, Started, on, on_timer


class Raises(Agent):
    @on(Started)
    def start(self, event, now):
        self.set_timer("tick", 2 * SECOND)

    @on_timer("tick")
    def tick(self, key, now):
        raise ValueError("no more")
"""


@pytest.mark.slow
def test_a_run_that_failed_leaves_its_nodes_to_the_next(start: Start, listed: Path, tmp_path: Path) -> None:
    """At once; each keeps the events that were not collected."""
    (tmp_path / "raises.py").write_text(RAISES)
    for number in range(3):
        start("node", "--id", str(number), "--keep", f"kept-{number}", str(listed))
    until(lambda: all(listens(listed, number) for number in range(3)))
    code, output = start("field", "--nodes", str(listed), "--agent", "raises.py", *TEN_SECONDS).end()
    assert (code, "no more" in output) == (4, True)
    short = ["--set", "nodes=3", "--set", "time_limit=3", "--out", "results/next"]
    code, output = start("field", "--nodes", str(listed), *short).end()
    assert code == 0, output
    assert len(list(tmp_path.glob("kept-*/*.trace.parquet"))) == 3


# Namespaces as machines


@pytest.fixture
def namespaces() -> Iterator[list[str]]:
    """Seven machines on one bridge, with addresses of their own; nothing is left of them."""
    if os.geteuid() or shutil.which("ip") is None:
        pytest.skip("namespaces need root and iproute2")
    tag = f"rb{os.getpid() % 100000}"
    names = [f"{tag}-{number}" for number in range(7)]
    try:
        subprocess.run(["ip", "link", "add", tag, "type", "bridge"], check=True)
        subprocess.run(["ip", "link", "set", tag, "up"], check=True)
        for number, name in enumerate(names):
            for words in (
                f"netns add {name}", f"link add {tag}v{number} type veth peer name eth0 netns {name}",
                f"link set {tag}v{number} master {tag} up", f"-n {name} addr add 10.123.8.{number + 1}/24 dev eth0",
                f"-n {name} link set eth0 up", f"-n {name} link set lo up",
            ):  # fmt: skip
                subprocess.run(["ip", *words.split()], check=True)
        yield names
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)
        subprocess.run(["ip", "link", "del", tag], check=False, capture_output=True)


@pytest.mark.slow
def test_six_machines_are_conducted_from_a_seventh(start: Start, namespaces: list[str], tmp_path: Path) -> None:
    """Over real interfaces: MFT-PubSub delivers most of what is published."""
    file = tmp_path / "nodes.toml"
    write_machines(file, [f"10.123.8.{number + 1}" for number in range(6)])
    within = [["ip", "netns", "exec", name] for name in namespaces]
    for number in range(6):
        start("node", "--id", str(number), "--keep", f"kept-{number}", str(file), prefix=within[number])
    until(lambda: all(_answers(name, f"10.123.8.{number + 1}") for number, name in enumerate(namespaces[:6])))
    settings = ["--set", "config=C2", "--set", "time_limit=15", "--set", "publish_until=12"]
    code, output = start("thesis", "--nodes", str(file), "--agent", "mft", *settings, prefix=within[6]).end(120)
    assert code == 0, output
    kinds = Counter(row["event"] for row in rows(tmp_path))
    assert kinds["publish"] >= 22
    assert kinds["deliver"] >= 1.6 * kinds["publish"]
    counts = {row["node"]: int(row["detail"]) for row in rows(tmp_path) if row["message_type"] == "clock_error_us"}
    assert len(counts) == 6
    assert max(counts.values()) < 5000


def _answers(name: str, address: str) -> bool:
    listening = subprocess.run(["ip", "netns", "exec", name, "ss", "-ltn"], capture_output=True, text=True, check=False)
    return address in listening.stdout
