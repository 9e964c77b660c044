"""The conductor of a live run starts all nodes together, watches them and collects one trace.

A node whose code differs refuses the run. Clocks are compared before the start and after the end to find their drift;
rows have their own node's times. A dead process is a crash, its successor a recovery with a new incarnation and no
stable storage. A silent node is unreachable, and may go on; only another process in its place shows that it has
crashed. A node's error ends the run with a simulation's exit code; so does an unreachable node at the start or end.
"""

from __future__ import annotations

import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from roambus.bridge.agents import load_agent
from roambus.bridge.backend import Backend, Totals
from roambus.bridge.backends.castalia.zeromq import CurveKeys
from roambus.bridge.host.agents import make_agents
from roambus.bridge.host.event_loop import trace_totals
from roambus.bridge.mobility.paths import known_moves, paths_of
from roambus.bridge.runs.layout import INI_FILE
from roambus.bridge.runs.run import RunPlan
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.plans import Fault, FaultKind
from roambus.bridge.system.errors import AgentError, BackendError, UserError
from roambus.bridge.trace.parquet import TraceWriter
from roambus.bridge.trace.schema import LIVE_RUNS, TraceRow
from roambus.extensions.live.answers import ENDED
from roambus.extensions.live.connection import PROTOCOL, REACH_S, Peer, Peers, UnreachableError, error_of, poller_of
from roambus.extensions.live.frames import KEY_BYTES, RUN_BYTES
from roambus.extensions.live.journal import add_rows, read_rows
from roambus.extensions.live.links import ALL, links_of
from roambus.extensions.live.node import PIECE_BYTES, code_of
from roambus.extensions.live.receiver import FIX_REMARKS, read_fix
from roambus.extensions.live.udp_backend import Address
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import MICROSECOND, MILLISECOND, SECOND, SimTime
from roambus.python_protocol.trace_rows import (
    CRASH,
    DELIVER,
    FREEZE,
    LIST_SEPARATOR,
    MOVE,
    PUBLISH,
    REACHABLE,
    RECOVER,
    UNREACHABLE,
)

PREPARE_S = 60.0
"""Time to import the agent and compute all movement."""
SILENT_S = 2.0
"""Silence after which a remote node counts as unreachable, until it answers."""
LEAD_S = 0.5
"""Time before the start for all nodes to hear of it."""
LOOK_MS = 20
"""The longest time until a death on this machine is noticed."""
OVERDUE: SimTime = 30 * SECOND
"""Time after the end by which every node must have ended."""
MOST_JOURNAL_BYTES = 2**32
"""The bound of a journal, as of a trace."""
MOST_DRIFT = 20 * MILLISECOND
"""More drift makes delays meaningless; a bad crystal takes three minutes for it."""
LATE: SimTime = 10 * MILLISECOND
"""Timers later than this at a node's 99th percentile cause a remark: agents' jitters are as long, so the order of
senders is arbitrary."""


class Processes(Protocol):
    """Controls nodes' processes on this machine; `RemoteProcesses` is for others."""

    def died(self) -> Iterable[tuple[NodeId, int]]:
        """The nodes whose processes have ended since the last call, with their status."""

    def do(self, kind: FaultKind, node: NodeId) -> None:
        """Apply a fault to the process: kill, stop or continue it."""


class RemoteProcesses:
    """Processes of other machines, started by others."""

    def died(self) -> Iterable[tuple[NodeId, int]]:
        """Unknown: such nodes do not answer."""
        return ()

    def do(self, kind: FaultKind, node: NodeId) -> None:
        """Raise UserError: faults need local processes."""
        raise UserError(f"node {node} is to {kind.value}, and runs on another machine: do it there, or take faults out")


class Deployment(NamedTuple):
    """The nodes of a run: their control addresses, frame addresses and processes."""

    endpoints: Sequence[str]
    addresses: Sequence[Address]
    keys: CurveKeys
    processes: Processes
    is_local: bool = False


class Conductor:
    """Conducts one run with the `peers` as nodes."""

    def __init__(self, deployment: Deployment, peers: Peers) -> None:
        """Draw the number of the run and the key of its frames."""
        self._deployment, self._peers, self._nodes = deployment, peers, peers.all
        self._run, self._key = secrets.token_hex(RUN_BYTES), secrets.token_hex(KEY_BYTES)
        self._start_ns = 0
        self._faults: list[tuple[SimTime, NodeId, str]] = []
        """Faults of nodes, by row names."""
        self._instructions: tuple[dict[str, Any], list[bytes]] = {}, []
        """The run's description for nodes, also restarted ones: fields and files."""

    def conduct(
        self, plan: RunPlan, scenario: Scenario, agent: type[Agent], links: str, advance: Callable[[], None]
    ) -> None:
        """Run the plan on all nodes; `advance` is called every second. Raises RoambusError."""
        if len(scenario.nodes) != len(self._nodes):
            raise UserError(f"the run has {len(scenario.nodes)} nodes, and there are addresses of {len(self._nodes)}")
        files = [INI_FILE, plan.radio_file.name, *(name for name, _ in plan.files)]
        instructions = {"run": self._run, "files": files, "agent": plan.agent, "code": code_of(agent)}
        instructions |= {"level": plan.level.value, "links": links}
        self._instructions = instructions, [(plan.folder / name).read_bytes() for name in files]
        self._greet()
        self._prepare(self._nodes)
        self._start_ns = time.monotonic_ns() + round(LEAD_S * SECOND)
        self._start(self._nodes)
        self._watch(scenario, advance)

    # Instructing nodes

    def _greet(self) -> None:
        """Find the nodes; raises UnreachableError, and UserError for another protocol version."""
        within_s = (
            PREPARE_S if self._deployment.is_local else REACH_S
        )  # processes of this machine have just been started
        for node, (answer, _) in self._peers.ask_all("status", lambda _: {}, within_s, self._nodes).items():
            self._nodes[node].session = answer["session"]
            self._nodes[node].lost_connection()  # what was before does not count
            if answer.get("protocol") != PROTOCOL:
                raise UserError(f"{self._nodes[node].name} has a version of roambus that speaks another protocol")

    def _prepare(self, peers: Sequence[Peer]) -> None:
        """Send the run to these nodes, then compare clocks, when they are idle."""
        fields, blobs = self._instructions
        for node, (answer, _) in self._peers.ask_all("prepare", lambda _: fields, PREPARE_S, peers, blobs).items():
            self._nodes[node].session = answer["session"]
        self._peers.compare_clocks(peers)

    def _start(self, peers: Sequence[Peer]) -> None:
        """Send each node the start by its own clock; for restarted nodes it has passed."""
        common = {"run": self._run, "key": self._key, "addresses": self._deployment.addresses}
        own = {
            peer.node: {**common, "start_ns": self._start_ns + peer.clock.offset, "incarnation": peer.incarnation}
            for peer in peers
        }
        self._peers.ask_all("start", lambda peer: own[peer.node], REACH_S, peers)
        for peer in peers:
            peer.heard_at, peer.state = time.monotonic(), ""

    # Watching them

    def _now(self) -> SimTime:
        """The time since the start by the conductor's clock."""
        return time.monotonic_ns() - self._start_ns

    def _watch(self, scenario: Scenario, advance: Callable[[], None]) -> None:
        """Apply the template's faults until all nodes have ended."""
        to_come, shown, poller = list(scenario.faults), 0, poller_of(self._nodes)
        looked_at = time.monotonic()
        while not self._are_over(scenario.time_limit):
            poller.poll(LOOK_MS)
            for peer in self._nodes:
                while (heard := self._peers.hear(peer)) is not None:
                    self._note(peer, heard[0])
            looked_at, before = time.monotonic(), looked_at
            if looked_at > before + SILENT_S / 2:  # this process stood still: nodes were silent without a question
                for peer in self._nodes:
                    peer.heard_at = looked_at if peer.is_there else peer.heard_at
            self._note_deaths()
            self._note_silent()
            self._refuse_overdue(scenario.time_limit)
            while to_come and to_come[0].at <= self._now() < scenario.time_limit:
                self._do(to_come.pop(0))
            self._peers.beat()
            while shown < min(self._now(), scenario.time_limit) // SECOND:
                shown += 1
                advance()

    def _are_over(self, time_limit: SimTime) -> bool:
        """Whether all have ended, or are down at the time limit, or unreachable for some time after it."""
        down, silent = self._now() > time_limit, self._now() > time_limit + REACH_S * SECOND
        return all(
            peer.state == ENDED or (peer.is_down and down) or (peer.is_silent and silent) for peer in self._nodes
        )

    def _refuse_overdue(self, time_limit: SimTime) -> None:
        """Raise BackendError for a reachable node that does not end."""
        if self._now() > time_limit + OVERDUE:
            late = [peer.name for peer in self._nodes if peer.state != ENDED and peer.is_there]
            if late:
                waited = OVERDUE // SECOND
                raise BackendError(f"{late[0]} has not ended its run {waited} s after the end: look at its clock")

    def _note(self, peer: Peer, answer: Mapping[str, Any]) -> None:
        """Record a node's state, and bring a restarted node back into the run."""
        if "error" in answer:
            raise error_of(answer["code"], f"{peer.name}: {answer['error']}")
        peer.heard_at = time.monotonic()
        if answer["session"] != peer.session:
            self._recover(peer, answer["session"])
            return
        if peer.is_silent:
            self._faults.append((max(self._now(), 0), peer.node, REACHABLE))
            peer.is_silent = False
        peer.state = answer["state"]
        peer.counts = answer.get("counts", peer.counts)

    def _recover(self, peer: Peer, session: str) -> None:
        """Bring the node's new process into the run.

        It may precede our notice. If it dies before it has heard everything, its successor gets all again.
        """
        if not peer.is_down:
            self._crash(peer)
        peer.session, peer.incarnation = session, peer.incarnation + 1
        peer.lost_connection()  # that of the process before
        try:
            self._prepare([peer])
            recovered = self._now()
            self._start([peer])
        except UnreachableError:
            peer.session = ""
        else:
            self._faults.append((recovered, peer.node, RECOVER))
            peer.is_down = False

    def _crash(self, peer: Peer) -> None:
        """Record a crash, at a local process' death or a remote one's last answer."""
        if peer.is_silent:  # it was not only out of reach
            last = max(number for number, (_, node, _) in enumerate(self._faults) if node == peer.node)
            at, _, _ = self._faults.pop(last)
        else:
            at = self._now() if self._deployment.is_local else self._heard(peer)
        self._faults.append((max(at, 0), peer.node, CRASH))
        peer.is_down, peer.is_silent, peer.state = True, False, ""

    def _heard(self, peer: Peer) -> SimTime:
        return max(round(peer.heard_at * SECOND) - self._start_ns, 0)

    def _note_deaths(self) -> None:
        """Record dead nodes of this machine; raises AgentError for one that ended its own process."""
        for node, status in self._deployment.processes.died():
            peer = self._nodes[node]
            if status >= 0:
                raise AgentError(f"{peer.name} has ended its process, with exit code {status}", node, self._now(), "")
            if not peer.is_down:
                self._crash(peer)

    def _note_silent(self) -> None:
        """Record nodes of other machines that do not answer."""
        for peer in () if self._deployment.is_local else self._nodes:
            if peer.is_there and peer.state != ENDED and time.monotonic() > peer.heard_at + SILENT_S:
                self._faults.append((self._heard(peer), peer.node, UNREACHABLE))
                peer.is_silent = True

    def _do(self, fault: Fault) -> None:
        """Apply a fault; a recovery is recorded once its new process is there."""
        self._deployment.processes.do(fault.kind, fault.node)
        if fault.kind is FaultKind.CRASH:
            self._crash(self._nodes[fault.node])
        elif not self._nodes[fault.node].is_down:
            self._faults.append((self._now(), fault.node, FREEZE if fault.kind is FaultKind.FREEZE else RECOVER))

    # What became of it

    def collect(self, trace: TraceWriter, scenario: Scenario, left: Callable[[NodeId], bytes]) -> list[str]:
        """Assemble the trace; return remarks for the user.

        `left` gives an unreachable node's journal. Nodes delete theirs only when all are here. Raises BackendError for
        too much drift.
        """
        up = [peer for peer in self._nodes if peer.is_there]
        drifts = self._drifts(up)
        journals = {peer.node: self._journal(peer) if peer.is_there else left(peer.node) for peer in self._nodes}
        missed: Counter[NodeId] = Counter()
        located: set[NodeId] = set()
        for node, text in journals.items():
            rows = list(read_rows(text, node))
            add_rows(rows, trace)
            try:
                count_missed(rows, missed)
            except ValueError:
                raise BackendError(f"node {node}: a publication in its journal does not name its subscribers") from None
            if any(_is_fix(row) for row in rows):
                located.add(node)
            for at, event in after_its_rows([(at, event) for at, of, event in self._faults if of == node], rows):
                trace.add(TraceRow(at, node, event))
        planned = known_moves(scenario, paths_of(scenario), scenario.time_limit)
        moves = [move for move in planned if move.node not in located]
        trace_totals(trace, scenario.time_limit, Totals(self._counts(drifts), moves=moves))
        self._peers.ask_all("forget", lambda _: {"run": self._run}, REACH_S, up)
        return [*self._remarks(), *missed_remarks(+missed)]

    def _journal(self, peer: Peer) -> bytes:
        """The node's journal in pieces."""
        text, size = bytearray(), 1
        while len(text) < size:
            answer, piece = self._peers.ask_one("collect", {"run": self._run, "offset": len(text)}, peer)
            size = answer.get("size", -1)
            if not len(text) <= size <= MOST_JOURNAL_BYTES or len(piece) != min(PIECE_BYTES, size - len(text)):
                raise BackendError(f"{peer.name} sent an invalid answer: a piece of its journal has another length")
            text += piece
        return bytes(text)

    def _drifts(self, peers: Sequence[Peer]) -> dict[NodeId, int]:
        """Each clock's drift in ns; raises BackendError if too much."""
        before = {peer.node: peer.clock.offset for peer in peers}
        self._peers.compare_clocks(peers)
        drifts = {peer.node: peer.clock.offset - before[peer.node] for peer in peers}
        for peer in peers:
            if abs(drift := drifts[peer.node]) > MOST_DRIFT:
                raise BackendError(
                    f"{peer.name}: its clock has drifted by {drift / 1e6:.1f} ms during the run, and "
                    f"{MOST_DRIFT / 1e6:g} ms are allowed"
                )
        return drifts

    def _counts(self, drifts: Mapping[NodeId, int]) -> dict[str, Sequence[int]]:
        """Nodes' counts and clocks, by name and node."""
        names = {name for peer in self._nodes for name in peer.counts}
        return {
            **{name: [peer.counts.get(name, 0) for peer in self._nodes] for name in names},
            "clock_error_us": [peer.clock.error // MICROSECOND for peer in self._nodes],
            "clock_drift_us": [drifts.get(peer.node, 0) // MICROSECOND for peer in self._nodes],
        }

    def _remarks(self) -> Iterator[str]:
        """Remarks on crashes, and on late timers, which blur the trace's times."""
        late_us, node = max((peer.counts.get("late_p99_us", 0), peer.node) for peer in self._nodes)
        yield f"timers were late by at most {late_us / 1000:g} ms at the 99th percentile (node {node})"
        if late_us * MICROSECOND > LATE:
            yield f"that is more than {LATE / 1e6:g} ms: the machine was too slow for this run, and delays say so, too"
        events = Counter(event for _, _, event in self._faults)
        if crashes := events[CRASH]:
            yield f"processes of nodes died {crashes} times"
        if lost := events[UNREACHABLE]:
            yield f"the conductor lost nodes {lost} times, and these went on: see the rows {UNREACHABLE}"
        for name, words in FIX_REMARKS.items():
            found = {peer.node: number for peer in self._nodes if (number := peer.counts.get(name, 0))}
            yield from (f"node {node}: {number} {words}" for node, number in found.items())


def _is_fix(row: TraceRow) -> bool:
    """Whether it is a place of the node's receiver; raises BackendError for one that cannot be."""
    if row.event == MOVE and read_fix(row.detail or "") is None:
        raise BackendError(f"node {row.node}: a place in its journal is not x and y")
    return row.event == MOVE


def after_its_rows(faults: Sequence[tuple[SimTime, str]], rows: Sequence[TraceRow]) -> Iterator[tuple[SimTime, str]]:
    """Yield a node's faults; a crash is not before the last row of the process that died.

    The conductor knows only when it last heard of a process on another machine.
    """
    for number, (at, event) in enumerate(faults):
        back = next((time for time, later in faults[number + 1 :] if later == RECOVER), None)
        own = [row.time for row in rows if back is None or row.time < back] if event == CRASH else []
        yield max(at, *own) if own else at, event


def count_missed(rows: Iterable[TraceRow], missed: Counter[NodeId]) -> None:
    """Add publications for each node to `missed`, less deliveries, each notification once.

    A killed node can deliver one again.
    """
    delivered: set[tuple[NodeId, str]] = set()
    for row in rows:
        if row.event == PUBLISH and row.detail:
            missed.update(map(int, row.detail.split(LIST_SEPARATOR)))
        elif row.event == DELIVER and row.notification_id:
            delivered.add((row.node, row.notification_id))
    missed.subtract(node for node, _ in delivered)


def missed_remarks(missed: Mapping[NodeId, int]) -> Iterator[str]:
    """Report notifications accepted but not delivered."""
    if missed:
        nodes = ", ".join(f"node {node} ({number})" for node, number in sorted(missed.items()))
        yield f"{sum(missed.values())} notifications that were published did not reach a subscriber: {nodes}"


@dataclass(frozen=True, slots=True)
class LiveFactory:
    """Stands for a back-end in the key of a live run."""

    links: str
    name: str = LIVE_RUNS

    def prepare(self, scenario: Scenario) -> None:
        """Check links and agents, which must need no radio; raises UserError."""
        links_of(self.links, scenario, 0)
        agents = make_agents(scenario, load_agent(scenario.agent))
        if needing := next((agent for agent in agents if agent.needs_levels), None):
            raise UserError(
                f"agent {scenario.agent}, node {needing.node}: its parameters need RSSI, which UDP does not have"
            )
        if scenario.faults and self.links == ALL:
            raise UserError("planned faults work only on one machine: remove them from the template")

    def make(self, scenario: Scenario, agent: type[Agent], folder: Path) -> Backend:  # interface
        """Raise UserError: the nodes share no back-end."""
        raise UserError("a live run is made by roambus live")
