"""Nodes on many machines: a file lists them, each is a process of its own, and a conductor anywhere has them run."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import socket
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from random import Random

import pytest

from roambus.bridge.backends.castalia.zeromq import CurveKeys
from roambus.bridge.system.errors import UserError
from roambus.extensions.live.machines import open_socket, read_machines, write_machines
from roambus.extensions.live.node import LiveNode
from roambus.extensions.live.tests.test_live import Start, rows, start, until

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
    """Of 20 at random moments each of a node that lasts is a crash and a recovery; the conductor's are nobody's."""
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
    assert kinds["crash"] == kinds["recover"] >= lasting


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
