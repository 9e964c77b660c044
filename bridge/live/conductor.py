"""The conductor of a live run: it has all nodes start at one moment, watches them, and makes one trace of it all.

1. Every node is told the run: its files, its agent, the kind of its links. A node that cannot have it says why, and one
   that does not answer is named.
2. Clocks are compared. A node's monotonic clock counts from some moment that nobody else knows. So it is asked for its
   time again and again, and of the answers the one counts that came fastest: half of its way is what the comparison
   can be wrong by (Cristian, 1989). The start is then a moment on each node's own clock. At the end clocks are compared
   once more. What both differ by is drift, and a run whose clocks cannot be compared, or have drifted too far, is
   refused.
3. While the run goes on every node is asked for its state. A process that dies is a crash, and one that comes in its
   place is a recovery: it is told the run again, and starts with the number of its incarnation. What its agent knew is
   gone, also what a simulated crash leaves in stable storage.
4. The journals are collected, and the rows of all nodes become one trace. The conductor adds what only it knows: where
   nodes are, when they crashed and recovered, their clocks, and what they counted.

Whatever ends the run, nodes are told to leave the air. A conductor that is killed cannot tell them: they notice.
"""

from __future__ import annotations

import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import zmq
from zmq.utils.monitor import recv_monitor_message

from roambus.bridge.agents import load_agent
from roambus.bridge.backends.castalia.endpoint import CurveKeys
from roambus.bridge.backends.interface import Backend, Totals
from roambus.bridge.errors import AgentError, BackendError, UserError
from roambus.bridge.host.agents import make_agents
from roambus.bridge.host.event_loop import trace_totals
from roambus.bridge.live.air import Address
from roambus.bridge.live.frames import KEY_BYTES, RUN_BYTES
from roambus.bridge.live.journal import Row, add_rows, read_rows
from roambus.bridge.live.links import ALL, links_of
from roambus.bridge.live.node import ENDED, MOST_BYTES, PROTOCOL, code_of, pack, unpack
from roambus.bridge.mobility import moves_until, paths_of
from roambus.bridge.runs.identity import RunPlan
from roambus.bridge.runs.layout import INI_FILE
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.plans import Fault, FaultKind
from roambus.bridge.trace.parquet import TraceWriter
from roambus.bridge.trace.schema import LIVE_RUNS
from roambus.python_protocol.actions import CRASH, DELIVER, FREEZE, LIST_SEPARATOR, PUBLISH, RECOVER
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.vocabulary import MICROSECOND, MILLISECOND, SECOND, NodeId, SimTime

REACH_S, PREPARE_S = 5.0, 60.0
"""How long a node may take to answer at all, and to prepare a run: it imports the agent, and looks at the movement."""
BEAT_S = 0.25
"""Each node is asked for its state so often."""
SILENT_S = 2.0
"""A node on another machine that has not answered for so long is taken for dead, until it answers again."""
LEAD_S = 0.5
"""From what is told last until the start."""
PROBES = 20
"""So often a clock is looked at."""
MOST_ERROR, MOST_DRIFT = 5 * MILLISECOND, 20 * MILLISECOND
"""Clocks that cannot be compared better, or drift more during the run, make delays that mean nothing."""
LATE: SimTime = 10 * MILLISECOND
"""A run whose timers were later than this, at the 99th percentile of a node, says so."""


class Process(Protocol):
    """Who starts and ends the processes of nodes, if that is on this machine; `Nowhere` is for other machines."""

    def died(self) -> Iterable[tuple[NodeId, int]]:
        """The nodes whose processes have ended since this was asked last, and with which status."""

    def start(self, node: NodeId) -> None:
        """Starts a process of the node."""

    def do(self, kind: FaultKind, node: NodeId) -> None:
        """Does to the process what a fault is: it is killed, stopped, or goes on."""


class Nowhere:
    """Processes of other machines, which somebody else starts."""

    def died(self) -> Iterable[tuple[NodeId, int]]:
        """Nobody knows: nodes do not answer."""
        return ()

    def start(self, node: NodeId) -> None:
        """Somebody else does."""

    def do(self, kind: FaultKind, node: NodeId) -> None:
        """Raises UserError: nobody can do that from here."""
        raise UserError(f"node {node} is to {kind.value}, and runs on another machine: do it there, or take faults out")


class Ensemble(NamedTuple):
    """The nodes of a run: where each is asked, where each hears frames, and how their processes are reached."""

    endpoints: Sequence[str]
    addresses: Sequence[Address]
    keys: CurveKeys
    process: Process
    group: Address | None = None
    is_local: bool = False


@dataclass(slots=True)
class Clock:
    """A node's clock against the conductor's: what it shows more, and by how much that can be wrong, in ns."""

    offset: int = 0
    error: int = 2**62

    def look(self, asked: int, told: int, heard: int) -> None:
        """Takes an answer into account; the times are the conductor's, and in between the node's."""
        if (heard - asked) // 2 < self.error:
            self.error, self.offset = (heard - asked) // 2, told - (asked + heard) // 2


@dataclass(slots=True)
class Peer:
    """A node as the conductor knows it."""

    node: NodeId
    endpoint: str
    socket: Any
    monitor: Any
    is_connected: bool = False
    session: str = ""
    state: str = ""
    clock: Clock = field(default_factory=Clock)
    incarnation: int = 0
    heard_at: float = 0.0
    is_down: bool = False
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The node and its address, for messages."""
        return f"node {self.node} ({self.endpoint})" if self.endpoint.startswith("tcp") else f"node {self.node}"


class Conductor:
    """Conducts one run; as a context manager it leaves no connection behind."""

    def __init__(self, ensemble: Ensemble) -> None:
        self._ensemble = ensemble
        self._token, self._numbers = secrets.token_hex(8), count()
        self._run, self._key = secrets.token_hex(RUN_BYTES), secrets.token_hex(KEY_BYTES)
        self._start_ns, self._next_beat = 0, 0.0
        self._faults: list[tuple[SimTime, NodeId, str]] = []
        """What happened to nodes, with the names of the rows."""
        self._prepare: tuple[dict[str, Any], list[bytes]] = {}, []
        with ExitStack() as stack:
            self._context = stack.enter_context(zmq.Context(1))
            self._peers = [self._connect(stack, *one) for one in enumerate(ensemble.endpoints)]
            self._resources = stack.pop_all()

    def __enter__(self) -> Conductor:
        return self

    def __exit__(self, *_: object) -> None:
        """Tells all nodes to leave the air."""
        with suppress(zmq.ZMQError):
            for peer in self._peers:
                self._ask(peer, "end")
        self._resources.close()

    def _connect(self, stack: ExitStack, node: NodeId, endpoint: str) -> Peer:
        keys = self._ensemble.keys
        made = stack.enter_context(self._context.socket(zmq.DEALER))
        made.curve_serverkey, made.curve_publickey, made.curve_secretkey = (
            keys.server_public.encode(), keys.client_public.encode(), keys.client_secret.encode(),
        )  # fmt: skip
        for option, value in (
            (zmq.LINGER, 200), (zmq.IPV6, 1), (zmq.MAXMSGSIZE, MOST_BYTES), (zmq.RECONNECT_IVL, 50),
            (zmq.RECONNECT_IVL_MAX, 500),
        ):  # fmt: skip
            made.setsockopt(option, value)
        monitor = made.get_monitor_socket(zmq.EVENT_CONNECTED)
        stack.callback(monitor.close)
        stack.callback(made.disable_monitor)
        made.connect(endpoint)
        return Peer(node, endpoint, made, monitor)

    # Asking

    def _ask(
        self, peer: Peer, what: str, fields: Mapping[str, Any] = MappingProxyType({}), blobs: Sequence[bytes] = ()
    ) -> int:
        """Asks the node, and returns the number by which the answer is known."""
        number = next(self._numbers)
        with suppress(zmq.Again):
            question = {"ask": what, "conductor": self._token, "number": number, **fields}
            peer.socket.send_multipart(pack(question, *blobs), zmq.DONTWAIT)
        return number

    def _hear(self, peer: Peer) -> tuple[dict[str, Any], bytes] | None:
        """An answer that is there; raises BackendError for what is none, and for a refusal."""
        try:
            fields, blobs = unpack(peer.socket.recv_multipart(zmq.DONTWAIT))
        except zmq.Again:
            return None
        except ValueError:
            raise BackendError(f"{peer.name} answers what is no answer") from None
        if fields.get("node") != peer.node:
            raise UserError(f"{peer.name} says that it is node {fields.get('node')}: look at its --id")
        if "refused" in fields:
            raise _error(int(fields["code"]), f"{peer.name}: {fields['refused']}")
        return fields, blobs[0] if blobs else b""

    def _ask_all(
        self, what: str, fields: Callable[[Peer], Mapping[str, Any]], within_s: float, peers: Sequence[Peer],
        blobs: Sequence[bytes] = (),
    ) -> dict[NodeId, tuple[dict[str, Any], bytes]]:  # fmt: skip
        """The answers of the nodes, each of which gives one in that time; raises BackendError naming who does not."""
        waiting = {peer.node: (peer, self._ask(peer, what, fields(peer), blobs)) for peer in peers}
        answers: dict[NodeId, tuple[dict[str, Any], bytes]] = {}
        give_up = time.monotonic() + within_s
        poller = zmq.Poller()
        for peer in peers:
            poller.register(peer.socket, zmq.POLLIN)
        while waiting:
            self._beat()
            if time.monotonic() > give_up:
                raise self._unreachable([peer for peer, _ in waiting.values()], within_s)
            poller.poll(50)
            for peer, number in list(waiting.values()):
                while peer.node in waiting and (heard := self._hear(peer)) is not None:
                    if heard[0].get("number") == number:
                        answers[peer.node] = heard
                        del waiting[peer.node]
        return answers

    def _ask_one(self, what: str, fields: Mapping[str, Any], peer: Peer) -> tuple[dict[str, Any], bytes]:
        return self._ask_all(what, lambda _: fields, REACH_S, [peer])[peer.node]

    def _unreachable(self, peers: Sequence[Peer], within_s: float) -> BackendError:
        peer = peers[0]
        while peer.monitor.poll(0):
            peer.is_connected |= recv_monitor_message(peer.monitor)["event"] == zmq.EVENT_CONNECTED
        more = f"; so {'is' if len(peers) == 2 else 'are'} {len(peers) - 1} more" if len(peers) > 1 else ""
        if peer.is_connected and not peer.session:
            return BackendError(
                f"{peer.name} does not let us in: its file of machines has other keys, or it is no node{more}"
            )
        return BackendError(f"{peer.name} is unreachable: it has not answered for {within_s:g} s{more}")

    def _beat(self) -> None:
        """Asks all nodes for their state if it is time: one that is asked nothing takes the conductor for dead."""
        if time.monotonic() >= self._next_beat:
            self._next_beat = time.monotonic() + BEAT_S
            for peer in self._peers:
                self._ask(peer, "status")

    # The run

    def conduct(
        self, plan: RunPlan, scenario: Scenario, agent: type[Agent], links: str, advance: Callable[[], None]
    ) -> None:
        """Has all nodes run the plan; `advance` is called once in each second of it. Raises RoambusError."""
        if len(scenario.nodes) != len(self._peers):
            raise UserError(f"the run has {len(scenario.nodes)} nodes, and there are addresses of {len(self._peers)}")
        fields = {
            "run": self._run,
            "agent": plan.agent,
            "level": plan.level.value,
            "links": links,
            "code": code_of(agent),
        }
        names = [INI_FILE, plan.radio_file.name, *(name for name, _ in plan.files)]
        blobs = [(plan.folder / name).read_bytes() for name in names]
        self._prepare = {**fields, "files": names}, blobs
        for number, (answer, _) in self._ask_all("status", lambda _: {}, REACH_S, self._peers).items():
            self._peers[number].session = answer["session"]
            if answer.get("protocol") != PROTOCOL:
                raise UserError(
                    f"{self._peers[number].name} has another version of roambus, whose nodes speak otherwise"
                )
        self._prepare_all(self._peers)
        self._start_ns = time.monotonic_ns() + round(LEAD_S * SECOND)
        self._start_all(self._peers)
        self._watch(scenario, advance)

    def _prepare_all(self, peers: Sequence[Peer]) -> None:
        fields, blobs = self._prepare
        for number, (answer, _) in self._ask_all("prepare", lambda _: fields, PREPARE_S, peers, blobs).items():
            self._peers[number].session = answer["session"]
        self._compare_clocks(peers)

    def _compare_clocks(self, peers: Sequence[Peer]) -> None:
        """One node after the other, so that no answer waits for another one to be read."""
        for peer in peers:
            peer.clock = Clock()
            for _ in range(PROBES):
                asked = time.monotonic_ns()
                answer, _ = self._ask_one("status", {}, peer)
                peer.clock.look(asked, int(answer["clock"]), time.monotonic_ns())
            if peer.clock.error > MOST_ERROR:
                raise BackendError(
                    f"{peer.name}: its clock cannot be compared better than to {peer.clock.error / 1e6:.1f} ms, and "
                    f"{MOST_ERROR / 1e6:g} ms are allowed: the network, or a machine, is too slow"
                )

    def _start_all(self, peers: Sequence[Peer]) -> None:
        common = {
            "run": self._run, "key": self._key, "addresses": self._ensemble.addresses, "group": self._ensemble.group,
        }  # fmt: skip
        own = {
            peer.node: {**common, "start_ns": self._start_ns + peer.clock.offset, "incarnation": peer.incarnation}
            for peer in peers
        }
        self._ask_all("start", lambda peer: own[peer.node], REACH_S, peers)
        for peer in peers:
            peer.heard_at, peer.state = time.monotonic(), ""

    def _now(self) -> SimTime:
        return time.monotonic_ns() - self._start_ns

    def _watch(self, scenario: Scenario, advance: Callable[[], None]) -> None:
        """Until all nodes have ended; what is planned to happen to them is done meanwhile."""
        to_come, shown = list(scenario.faults), 0
        poller = zmq.Poller()
        for peer in self._peers:
            poller.register(peer.socket, zmq.POLLIN)
        while not self._are_over(scenario.time_limit):
            poller.poll(20)
            for peer in self._peers:
                while (heard := self._hear(peer)) is not None:
                    self._note(peer, heard[0])
            self._note_deaths()
            while to_come and to_come[0].at <= self._now() < scenario.time_limit:
                self._do(to_come.pop(0))
            self._beat()
            while shown < min(self._now(), scenario.time_limit) // SECOND:
                shown += 1
                advance()

    def _are_over(self, time_limit: SimTime) -> bool:
        """Whether all have ended; one that is down at the time limit does not come back."""
        return all(peer.state == ENDED or (peer.is_down and self._now() > time_limit) for peer in self._peers)

    def _note(self, peer: Peer, answer: Mapping[str, Any]) -> None:
        """Takes note of a node's state, and has one that was started again come back to the run."""
        if "error" in answer:
            raise _error(int(answer["code"]), f"{peer.name}: {answer['error']}")
        peer.heard_at = time.monotonic()
        if answer["session"] != peer.session:
            self._recover(peer, str(answer["session"]))
            return
        peer.state = str(answer.get("state", ""))
        peer.counts = answer.get("counts", peer.counts)

    def _recover(self, peer: Peer, session: str) -> None:
        if not peer.is_down:
            self._crash(peer)
        peer.session, peer.incarnation = session, peer.incarnation + 1
        self._prepare_all([peer])
        self._faults.append((self._now(), peer.node, RECOVER))
        self._start_all([peer])
        peer.is_down = False

    def _crash(self, peer: Peer) -> None:
        at = (
            min(self._now(), round(peer.heard_at * SECOND) - self._start_ns)
            if not self._ensemble.is_local
            else self._now()
        )
        self._faults.append((max(at, 0), peer.node, CRASH))
        peer.is_down, peer.state = True, ""

    def _note_deaths(self) -> None:
        for node, status in self._ensemble.process.died():
            peer = self._peers[node]
            if status >= 0:
                raise AgentError(f"{peer.name} has ended its process, with exit code {status}", node, self._now(), "")
            if not peer.is_down:
                self._crash(peer)
        for peer in self._peers:
            is_silent = time.monotonic() > peer.heard_at + SILENT_S and peer.state != ENDED
            if is_silent and not peer.is_down and not self._ensemble.is_local:
                self._crash(peer)

    def _do(self, fault: Fault) -> None:
        self._ensemble.process.do(fault.kind, fault.node)
        if fault.kind is FaultKind.CRASH:
            self._crash(self._peers[fault.node])
        elif not self._peers[fault.node].is_down:
            self._faults.append((self._now(), fault.node, FREEZE if fault.kind is FaultKind.FREEZE else RECOVER))

    # What became of it

    def collect(self, trace: TraceWriter, scenario: Scenario, left: Callable[[NodeId], bytes]) -> list[str]:
        """Puts the trace together, and returns what a user should know of the run.

        Of a node that is down, and that nobody can ask, `left` is the journal, if it lies on this machine.
        """
        up = [peer for peer in self._peers if not peer.is_down]
        before = {peer.node: peer.clock for peer in up}
        self._compare_clocks(up)
        journals = {peer.node: self._journal(peer) if peer in up else left(peer.node) for peer in self._peers}
        missed: Counter[NodeId] = Counter()
        for node, text in journals.items():
            found = list(read_rows(text, node))
            add_rows(found, trace)
            count_missed(found, missed)
        for at, node, event in self._faults:
            trace.add(at, node, event)
        self._ask_all("forget", lambda _: {"run": self._run}, REACH_S, up)
        names = sorted({name for peer in self._peers for name in peer.counts})
        counts: dict[str, Sequence[int]] = {name: [peer.counts.get(name, 0) for peer in self._peers] for name in names}
        counts["clock_error_us"] = [peer.clock.error // MICROSECOND for peer in self._peers]
        drifts = [peer.clock.offset - before[peer.node].offset if peer in up else 0 for peer in self._peers]
        counts["clock_drift_us"] = [drift // MICROSECOND for drift in drifts]
        trace_totals(
            trace, scenario.time_limit, Totals(counts, moves=moves_until(paths_of(scenario), scenario.time_limit))
        )
        for peer, drift in zip(self._peers, drifts, strict=True):
            if abs(drift) > MOST_DRIFT:
                raise BackendError(
                    f"{peer.name}: its clock has drifted by {drift / 1e6:.1f} ms during the run, and "
                    f"{MOST_DRIFT / 1e6:g} ms are allowed"
                )
        return [*self._remarks(), *missed_remarks(+missed)]

    def _journal(self, peer: Peer) -> bytes:
        """The node's journal, piece by piece."""
        text, size = b"", 1
        while len(text) < size:
            answer, piece = self._ask_one("collect", {"run": self._run, "offset": len(text)}, peer)
            text, size = text + piece, int(answer["size"]) if piece else 0
        return text

    def _remarks(self) -> Iterable[str]:
        late_us, node = max((peer.counts.get("late_p99_us", 0), peer.node) for peer in self._peers)
        yield f"timers were late by at most {late_us / 1000:g} ms at the 99th percentile (node {node})"
        if late_us * MICROSECOND > LATE:
            yield f"that is more than {LATE / 1e6:g} ms: the machine was too slow for this run, and delays say so, too"
        if crashes := sum(event == CRASH for _, _, event in self._faults):
            yield f"processes of nodes died {crashes} times"


def count_missed(rows: Iterable[Row], missed: Counter[NodeId]) -> None:
    """Adds what was published for each node, and takes off what was delivered there, each notification once."""
    delivered: set[tuple[NodeId, str]] = set()
    for _, node, event, _, notification, _, _, _, detail in rows:
        if event == PUBLISH and detail:
            missed.update(map(int, detail.split(LIST_SEPARATOR)))
        elif event == DELIVER:
            delivered.add((node, notification))
    missed.subtract(node for node, _ in delivered)


def missed_remarks(missed: Mapping[NodeId, int]) -> Iterator[str]:
    """Tells what was accepted and not delivered: whoever was killed has forgotten what it held for others."""
    if missed:
        nodes = ", ".join(f"node {node} ({number})" for node, number in sorted(missed.items()))
        yield f"{sum(missed.values())} notifications that were published did not reach a subscriber: {nodes}"


def _error(code: int, text: str) -> BackendError | UserError | AgentError:
    if code == AgentError.exit_code:
        return AgentError(text, 0, 0, "")
    return UserError(text) if code == UserError.exit_code else BackendError(text)


@dataclass(frozen=True, slots=True)
class LiveFactory:
    """What stands for a back-end in the key of a live run, whose nodes have one each."""

    links: str
    name: str = LIVE_RUNS

    def prepare(self, scenario: Scenario) -> None:
        """Looks whether its links can be played, and whether its agents can do without a radio; raises UserError."""
        links_of(self.links, scenario, 0)
        agents = make_agents(scenario, load_agent(scenario.agent))
        if needing := next((one for one in agents if one.needs_levels), None):
            raise UserError(
                f"agent {scenario.agent}, node {needing.node}: as it is set it needs RSSI, which UDP does not tell"
            )
        if scenario.faults and self.links == ALL:
            raise UserError("faults that are planned are done on one machine only: take them out of the template")

    def make(self, scenario: Scenario, agent: type[Agent], folder: Path) -> Backend:  # noqa: ARG002  # interface
        """Raises UserError: there is no one back-end of all nodes."""
        raise UserError("a live run is made by roambus live")
