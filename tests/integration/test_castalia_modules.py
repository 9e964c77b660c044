"""Our modules in real Castalia: what they report, send, refuse, and how they end."""

from __future__ import annotations

import math
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from roambus.bridge.backends.castalia.installation import CASTALIA_ROOT, OMNETPP_ROOT, Program, release_in
from roambus.bridge.system.errors import BackendError
from roambus.bridge.wire.wire_pb2 import Step, ToSimulator
from roambus.python_protocol.simtime import MICROSECOND, MILLISECOND, SECOND, SimTime
from tests.integration.castalia_runs import (
    CASTALIAS_TRACE,
    ScriptedHost,
    Variables,
    run_alone,
    seconds,
    send,
    write_run,
)
from tests.support.omnet import OMNET

pytestmark = pytest.mark.castalia

CLOSE: Variables = {"nodes": 4, "side": 10, "deployment": "2x2", "sigma": 0, "bidirectional_sigma": 0, "time_limit": 2}
"""Four nodes in the corners of a square: everybody hears everybody, always equally well."""
UP: SimTime = 100 * MILLISECOND
"""All nodes have booted by then."""
HEADERS_BYTES = 10 + 9 + 6
BYTE_TIME: SimTime = 32 * MICROSECOND
TURNAROUND: SimTime = 20 * MICROSECOND
"""10 us from RX to TX, and 10 us from the receiver's radio to its MAC."""
QUEUE = 32
EVERY_AGENT = 'SN.node[*].ApplicationName = "BridgeApplication"'
NATIVE = 'ApplicationName = "NativeBeacon"'
OWN_DELAY = "Application.processingDelay = 1ms"
SPEED = 8.0


def arrivals(steps: list[Step], node: int) -> list[tuple[SimTime, bytes]]:
    """(time, payload) of everything that the node received."""
    return [(arrival.time, arrival.payload) for step in steps for arrival in step.arrivals if node in arrival.receivers]


def test_make_says_which_folder_is_missing(castalia: Program) -> None:
    """Without OMNETPP_ROOT the build ends with one line that names it."""
    environment = {name: value for name, value in os.environ.items() if name not in (OMNETPP_ROOT, CASTALIA_ROOT)}
    command = ["make", "-C", str(OMNET), "castalia"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    (line,) = [line for line in done.stderr.splitlines() if "***" in line]
    assert "OMNETPP_ROOT is not set" in line


class TestHandshake:
    def test_hello_tells_of_the_run_what_its_ini_says(self, castalia: Program, tmp_path: Path) -> None:
        """Seed, time limit and processing delay are the ini's, the time step is 1 ns, the simulator has its name."""
        delay = ["SN.node[*].Application.processingDelay = 3ms"]
        folder = write_run(tmp_path, CLOSE, {"seed-set = 0": "seed-set = 7"}, delay)
        release = release_in(Path(os.environ[OMNETPP_ROOT]))
        with ScriptedHost(folder, castalia) as host:
            hello = host.hello
            host.send_at([])
        assert (hello.seed, hello.time_limit, hello.processing_delay) == (7, 2 * SECOND, 3 * MILLISECOND)
        assert (hello.time_resolution, hello.simulator) == (-9, f"OMNeT++ {release}, Castalia")
        assert not hello.wants_notes

    def test_every_node_boots_within_the_spread_with_a_clock_of_its_own(
        self, castalia: Program, tmp_path: Path
    ) -> None:
        """Boot times fill the 50 ms, drifts stay within three sigmas of 30 ppm."""
        with ScriptedHost(write_run(tmp_path, {"nodes": 40, "time_limit": 1}), castalia) as host:
            nodes = host.hello.nodes
            host.send_at([])
        starts = [node.start for node in nodes]
        assert len(set(starts)) == 40
        assert 0 <= min(starts) < 10 * MILLISECOND
        assert 40 * MILLISECOND < max(starts) < 50 * MILLISECOND
        assert len({node.clock_rate for node in nodes}) == 40
        assert all(abs(node.clock_rate - 1) < 91e-6 for node in nodes)

    def test_a_rejected_simulation_ends_with_the_reason(self, castalia: Program, tmp_path: Path) -> None:
        """Castalia prints what the host says, and fails."""
        message = ToSimulator()
        message.reject.reason = "not today"
        with ScriptedHost(write_run(tmp_path, CLOSE), castalia) as host:
            host.connection.send(message)
            assert host.fails()
        assert "not today" in host.log

    @pytest.mark.parametrize(
        ("old", "new", "complaint"),
        [
            ("simtime-resolution = ns\n", "", "set simtime-resolution = ns"),
            ("sim-time-limit = 2s\n", "", "set sim-time-limit"),
            (EVERY_AGENT, f"SN.node[2].{OWN_DELAY}\n{EVERY_AGENT}", "node 2 has a processingDelay of its own"),
            (EVERY_AGENT, f"SN.node[3].{NATIVE}\n{EVERY_AGENT}", "node 3 has no BridgeApplication"),
        ],
    )
    def test_what_the_bridge_cannot_run_is_refused(
        self, old: str, new: str, complaint: str, castalia: Program, tmp_path: Path
    ) -> None:
        """Castalia fails before it says anything to the host, and names the key or the node."""
        folder = write_run(tmp_path, CLOSE, {old: new})
        with pytest.raises(BackendError, match=complaint), ScriptedHost(folder, castalia):
            pass


class TestSending:
    def test_a_packet_is_as_long_on_the_air_as_its_bytes_and_headers(self, castalia: Program, tmp_path: Path) -> None:
        """On an idle channel it arrives after both turnarounds and 32 us for each of its bytes, 25 more included."""
        sizes = {UP: 1, 2 * UP: 20, 3 * UP: 100}
        with ScriptedHost(write_run(tmp_path, CLOSE), castalia) as host:
            steps = host.send_at([send(time, 0, bytes(size)) for time, size in sizes.items()])
        for (sent, size), (time, payload) in zip(sizes.items(), arrivals(steps, 1), strict=True):
            assert payload == bytes(size)
            assert abs(time - sent - TURNAROUND - (size + HEADERS_BYTES) * BYTE_TIME) < MICROSECOND

    def test_a_broadcast_is_heard_by_all_others_in_one_step_and_a_unicast_by_its_destination(
        self, castalia: Program, tmp_path: Path
    ) -> None:
        """Levels are those of the distance: 10 m at path loss exponent 2.4 leave -79 dBm of 0 dBm."""
        sends = [send(UP, 0, b"all"), send(2 * UP, 0, b"one", destination=3)]
        with ScriptedHost(write_run(tmp_path, CLOSE), castalia) as host:
            steps = host.send_at(sends)
        heard = [arrival for step in steps for arrival in step.arrivals]
        assert [(a.sender, a.payload, sorted(a.receivers)) for a in heard] == [(0, b"all", [1, 2, 3]), (0, b"one", [3])]
        levels = dict(zip(heard[0].receivers, heard[0].rssi_dbm, strict=True))
        assert levels[1] == pytest.approx(-79, abs=0.1)
        assert levels[3] == pytest.approx(-55 - 24 * math.log10(math.sqrt(200)), abs=0.1)
        assert (host.finished.sends, host.finished.deliveries) == (2, 4)

    def test_packets_of_one_instant_are_sent_in_the_order_given(self, castalia: Program, tmp_path: Path) -> None:
        """The receiver gets them in it, too."""
        with ScriptedHost(write_run(tmp_path, CLOSE), castalia) as host:
            steps = host.send_at([send(UP, 0, bytes([k])) for k in range(10)])
        assert [payload[0] for _, payload in arrivals(steps, 2)] == list(range(10))

    def test_what_the_mac_has_no_room_for_fails_packet_by_packet(self, castalia: Program, tmp_path: Path) -> None:
        """Of 40 packets at one instant the first 32 arrive; the others are told at that instant, in their order."""
        with ScriptedHost(write_run(tmp_path, CLOSE), castalia) as host:
            steps = host.send_at([send(UP, 0, bytes([k]), destination=2) for k in range(40)])
        failures = [failure for step in steps for failure in step.failures]
        assert [payload[0] for _, payload in arrivals(steps, 2)] == list(range(QUEUE))
        assert [failure.payload[0] for failure in failures] == list(range(QUEUE, 40))
        assert {(f.time, f.node, f.destination, f.reason) for f in failures} == {(UP, 0, 2, "MAC queue full")}
        counts = {count.name: list(count.values) for count in host.finished.counts}
        assert counts == {"offered": [40, 0, 0, 0], "mac_overflown": [8, 0, 0, 0], "received": [0, 0, QUEUE, 0]}

    def test_two_nodes_with_full_queues_are_distinguished(self, castalia: Program, tmp_path: Path) -> None:
        """Each failure names its own node and packet."""
        sends = [send(UP, node, bytes([node, k])) for k in range(QUEUE + 1) for node in (0, 1)]
        with ScriptedHost(write_run(tmp_path, CLOSE), castalia) as host:
            steps = host.send_at(sends)
        failures = [(f.node, f.payload) for step in steps for f in step.failures]
        assert failures == [(0, bytes([0, QUEUE])), (1, bytes([1, QUEUE]))]

    def test_a_node_sends_from_its_boot_on(self, castalia: Program, tmp_path: Path) -> None:
        """A packet a nanosecond before it fails, one at the very instant is sent."""
        with ScriptedHost(write_run(tmp_path, CLOSE), castalia) as host:
            boot = host.hello.nodes[0].start
            steps = host.send_at([send(boot - 1, 0, b"early"), send(boot, 0, b"boot")])
        failures = [(f.time, f.payload, f.reason) for step in steps for f in step.failures]
        assert failures == [(boot - 1, b"early", "node has not booted")]
        assert host.finished.counts[0].values[0] == 2

    @pytest.mark.parametrize(
        ("limit", "longest", "reason"),
        [
            ("Radio.maxPhyFrameSize = 1024", 1024 - HEADERS_BYTES, "frame longer than Radio.maxPhyFrameSize"),
            ("MAC.macMaxPacketSize = 100", 100 - 19, "packet longer than MAC.macMaxPacketSize"),
        ],
    )
    def test_too_long_a_packet_fails(
        self, limit: str, longest: int, reason: str, castalia: Program, tmp_path: Path
    ) -> None:
        """The longest possible one arrives, one byte more is refused with the parameter's name."""
        line = f"SN.node[*].Communication.{limit}"
        folder = write_run(tmp_path, CLOSE, {}, [] if "1024" in limit else [line])
        with ScriptedHost(folder, castalia) as host:
            steps = host.send_at([send(UP, 0, bytes(longest)), send(2 * UP, 0, bytes(longest + 1))])
        assert [len(payload) for _, payload in arrivals(steps, 1)] == [longest]
        assert [(f.time, f.reason) for step in steps for f in step.failures] == [(2 * UP, reason)]


class TestNotes:
    def test_notes_come_if_a_node_traces_and_go_to_castalias_trace(self, castalia: Program, tmp_path: Path) -> None:
        """Of a node that does not trace they are dropped."""
        folder = write_run(tmp_path, CLOSE, {}, ["SN.node[1].Application.collectTraceInfo = true"])
        message = ToSimulator()
        message.reply.notes.add(time=UP, node=1, text="the tree is whole")
        message.reply.notes.add(time=UP, node=2, text="nobody asked")
        with ScriptedHost(folder, castalia) as host:
            assert host.hello.wants_notes
            host.welcome(UP)
            host.end(host.ask(message))
        trace = (folder / CASTALIAS_TRACE).read_text()
        assert re.search(r"^0\.1 +SN\.node\[1\]\.Application +the tree is whole$", trace, re.MULTILINE)
        assert "nobody asked" not in trace


class TestWindows:
    def test_a_processing_delay_gathers_what_happens_within_it(self, castalia: Program, tmp_path: Path) -> None:
        """The first event opens a window; its Step comes at the end, and the sends after it take effect in time."""
        delay = 10 * MILLISECOND
        folder = write_run(tmp_path, CLOSE, {}, ["SN.node[*].Application.processingDelay = 10ms"])
        with ScriptedHost(folder, castalia) as host:
            first = host.welcome(UP).step
            second = host.reply([send(UP + delay, 0, b"a"), send(UP + delay, 0, b"b")]).step
            finished = host.end(host.reply())
        assert first.now == UP + delay - 1
        a, b = second.arrivals
        assert (a.payload, b.payload) == (b"a", b"b")
        assert abs(a.time - UP - delay - TURNAROUND - 26 * BYTE_TIME) < MICROSECOND
        assert second.now == a.time + delay - 1
        assert finished.deliveries == 6

    def test_failures_keep_their_own_time_in_a_window(self, castalia: Program, tmp_path: Path) -> None:
        """A full queue is told with the moment of the sends, though the Step is later."""
        delay = 10 * MILLISECOND
        folder = write_run(tmp_path, CLOSE, {}, ["SN.node[*].Application.processingDelay = 10ms"])
        with ScriptedHost(folder, castalia) as host:
            host.welcome(UP)
            step = host.reply([send(UP + delay, 0, bytes([k]), destination=1) for k in range(QUEUE + 2)]).step
            assert [f.time for f in step.failures] == [UP + delay] * 2
            assert step.now == UP + 2 * delay - 1

    def test_without_batching_each_arrival_has_its_own_step(self, castalia: Program, tmp_path: Path) -> None:
        """A broadcast to three is three Steps of one instant, by receiver; all but the last announce more."""
        with ScriptedHost(write_run(tmp_path, CLOSE), castalia) as host:
            host.welcome(UP, batching=False)
            said = [host.reply([send(UP, 0, b"x")]), host.reply(), host.reply()]
            host.end(host.reply())
        assert [list(message.step.arrivals[0].receivers) for message in said] == [[1], [2], [3]]
        assert [message.step.more for message in said] == [True, True, False]
        assert len({message.step.now for message in said}) == 1


class TestEnd:
    def test_nothing_at_the_time_limit_is_reported(self, castalia: Program, tmp_path: Path) -> None:
        """A packet under way then is lost; a wake-up at the limit does not come; sends of then do not count."""
        limit = 2 * SECOND
        with ScriptedHost(write_run(tmp_path, CLOSE), castalia) as host:
            host.welcome(limit - MILLISECOND)
            said = host.reply([send(limit - MILLISECOND, 0, bytes(100)), send(limit, 0, b"x")], limit)
            finished = host.end(said)
        assert (finished.sends, finished.deliveries) == (1, 0)

    def test_a_window_open_at_the_time_limit_ends_there(self, castalia: Program, tmp_path: Path) -> None:
        """What happened in it is told before Finished."""
        folder = write_run(tmp_path, CLOSE, {}, ["SN.node[*].Application.processingDelay = 1s"])
        with ScriptedHost(folder, castalia) as host:
            host.welcome(UP)
            step = host.reply([send(UP + SECOND, 0, b"x")]).step
            finished = host.end(host.reply())
        assert step.now == 2 * SECOND - 1
        assert finished.deliveries == 3

    def test_energy_is_counted_to_the_very_end(self, castalia: Program, tmp_path: Path) -> None:
        """A node that only listens draws 68 mW from its boot to the time limit."""
        with ScriptedHost(write_run(tmp_path, {**CLOSE, "time_limit": 1.7}), castalia) as host:
            host.send_at([])
        for node, energy in zip(host.hello.nodes, host.finished.energy_mj, strict=True):
            assert energy == pytest.approx(68 * (1.7 - seconds(node.start)), abs=0.01)

    @pytest.mark.parametrize("way", ["failed", "closed"])
    def test_without_its_host_the_simulation_fails(self, way: str, castalia: Program, tmp_path: Path) -> None:
        """Castalia ends soon, with a status other than 0, and says why."""
        with ScriptedHost(write_run(tmp_path, CLOSE), castalia) as host:
            host.welcome(UP)
            if way == "failed":
                host.give_up("no more patience")
            else:
                host.connection.close()
            assert host.fails()
        log = host.log
        assert ("no more patience" if way == "failed" else "the host") in log
        assert "Error" in log

    def test_the_host_is_told_of_an_early_end(self, castalia: Program, tmp_path: Path) -> None:
        """Castalia, interrupted, finishes in its own way; the host gets Failed instead of Finished."""
        with ScriptedHost(write_run(tmp_path, CLOSE), castalia) as host:
            host.welcome(UP)
            os.kill(host.process.pid, signal.SIGTERM)
            said = host.reply([], UP + 1)
            while said.WhichOneof("body") == "step":
                said = host.reply([], said.step.now + 1)
        assert "before its time limit" in said.failed.reason

    def test_the_host_is_told_of_an_error_in_the_simulation(self, castalia: Program, tmp_path: Path) -> None:
        """A module of Castalia that fails ends the run for both sides."""
        folder = write_run(
            tmp_path,
            CLOSE,
            {"SN.node[*].Communication.MAC.backoffType = 2": "SN.node[*].Communication.MAC.backoffType = 9"},
        )
        with ScriptedHost(folder, castalia) as host:
            said = host.welcome(None)
            assert "ended with an error" in said.failed.reason
            assert host.fails()


class TestNativeBeacon:
    def test_it_sends_at_its_rate_and_hears_the_others(self, castalia: Program, tmp_path: Path) -> None:
        """Where everybody hears everybody, each beacon is received three times, at the levels of the distances."""
        native = {EVERY_AGENT: f"SN.node[*].{NATIVE}"}
        folder = write_run(tmp_path, {**CLOSE, "time_limit": 100}, native, ["SN.node[*].Application.rate = 2"])
        printed = run_alone(folder, castalia)
        sent, received = beacons(printed, "sent"), beacons(printed, "received")
        assert sum(sent) == pytest.approx(4 * 200, abs=4 * math.sqrt(800))
        assert 0.95 * 3 * sum(sent) < sum(received) <= 3 * sum(sent)
        diagonal = -55 - 24 * math.log10(math.sqrt(200))
        assert beacons(printed, "mean RSSI") == pytest.approx([(-79 - 79 + diagonal) / 3] * 4, abs=0.5)

    def test_it_refuses_a_length_that_the_agent_refuses(self, castalia: Program, tmp_path: Path) -> None:
        """Tag and length of a beacon take three bytes."""
        native = {EVERY_AGENT: f"SN.node[*].{NATIVE}", "Application.payload = 20": "Application.payload = 2"}
        with pytest.raises(AssertionError, match="payload is not between 3 and 65535 bytes"):
            run_alone(write_run(tmp_path, CLOSE, native), castalia)


def beacons(printed: str, name: str) -> list[float]:
    """What the native beacons of all nodes have counted under the name."""
    return [float(value) for value in re.findall(rf"\t([-\d.]+) {name}\n", printed)]
