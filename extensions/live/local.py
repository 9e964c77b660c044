"""Live nodes on one machine: their sockets and processes.

A fork server forks all nodes. It has everything loaded and is forked before any connection, because ZeroMQ does not
survive a fork. Sockets are bound beforehand on loopback, so that a restarted node keeps its address. The fork server
ends the nodes with the command; if that was killed, nodes notice and keep their traces. A crash is SIGKILL and a new
process, a freeze SIGSTOP and SIGCONT.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NoReturn

import pyarrow as pa

from roambus.bridge.backend import BackendFactory
from roambus.bridge.backends.castalia.zeromq import CurveKeys
from roambus.bridge.runs.layout import NODES_FOLDER
from roambus.bridge.runs.run import Drive, Driven, RunPlan
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.plans import FaultKind
from roambus.bridge.system.child_process import fork
from roambus.bridge.system.errors import BackendError, RoambusError
from roambus.bridge.system.interrupts import INTERRUPTING, interrupts_postponed
from roambus.bridge.system.private_folder import BRIDGE, private_folder
from roambus.bridge.trace.parquet import TraceWriter
from roambus.extensions.live.conductor import Conductor, Deployment
from roambus.extensions.live.connection import Peers
from roambus.extensions.live.driver import Driver
from roambus.extensions.live.machines import open_socket
from roambus.extensions.live.node import LOST_S, LiveNode, code_of
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.roles import NodeId

RESTART_S = 1.0
"""Restart delay: a crash of no duration would not appear in the trace."""
_ENDING_S = 3.0
"""Time for a node to end by itself."""
_LOOK_S = 0.02
"""Interval of the fork server's checks for dead nodes."""
_END = "end"
"""Ends the fork server in order; without it, the command was killed."""
_SIGNALS = {FaultKind.CRASH: signal.SIGKILL, FaultKind.FREEZE: signal.SIGSTOP, FaultKind.RECOVER: signal.SIGCONT}


def drive_here(links: str, advance: Callable[[], None], driver: Driver | None = None) -> Drive:
    """Make a live run on this machine, whose nodes have this driver; `advance` is called every second."""

    def drive(plan: RunPlan, scenario: Scenario, agent: type[Agent], trace: TraceWriter, _: BackendFactory) -> Driven:
        """Journals lie in the run's folder until collected, or if the command is killed."""
        journals = plan.folder / NODES_FOLDER
        code_of(agent)  # the nodes, which need it, have it from here
        with (
            local_deployment(len(scenario.nodes), journals, driver) as deployment,
            Peers(deployment.endpoints, deployment.keys) as peers,
        ):
            conductor = Conductor(deployment, peers)
            conductor.conduct(plan, scenario, agent, links, advance)
            remarks = conductor.collect(trace, scenario, partial(left_journal, journals))
        shutil.rmtree(journals, ignore_errors=True)
        return Driven(f"UDP, {links} links", remarks)

    return drive


def left_journal(journals: Path, node: NodeId) -> bytes:
    """A dead node's journal, one for all its processes; empty if never on the air."""
    return b"".join(file.read_bytes() for file in journals.glob(f"*-{node}.rows"))


@contextmanager
def local_deployment(nodes: int, journals: Path, driver: Driver | None = None) -> Iterator[Deployment]:
    """A process for each node, ready to be conducted; raises UserError.

    Only `journals` stays. Sockets are in a private folder, with keys of this run, as on many machines.
    """
    pa.array([0])  # loads pandas, where it is there: done before the fork, no node does so
    with private_folder(BRIDGE) as folder:
        keys = CurveKeys.fresh()
        endpoints = [f"ipc://{folder / str(node)}" for node in range(nodes)]
        made: list[socket.socket] = []
        try:
            made += (open_socket(("127.0.0.1", 0)) for _ in range(nodes))
            addresses = [bound.getsockname() for bound in made]

            def become(node: NodeId) -> None:
                """What a forked process does; it keeps no other node's socket."""
                for number, bound in enumerate(made):
                    if number != node:
                        bound.close()
                own = made[node].dup
                LiveNode(node, endpoints[node], keys, journals, own, for_one_run=True, driver=driver).serve(announce)

            with fork_server(become) as processes:
                for node in range(nodes):
                    processes.start(node)
                yield Deployment(endpoints, addresses, keys, processes, is_local=True)
        finally:
            for bound in made:
                bound.close()


def announce(text: str) -> None:
    """Write to standard error, when no conductor is left to report it."""
    with suppress(OSError):
        sys.stderr.write(f"{text}\n")


@contextmanager
def fork_server(become: Callable[[NodeId], None]) -> Iterator[ForkServer]:
    """Fork the fork server; at the end of the block it and all nodes are gone.

    Ctrl-C is blocked during forks and waits.
    """
    ours, theirs = Pipe()
    with interrupts_postponed():
        process = fork()
        if process == 0:
            ours.close()
            _serve_forks(theirs, become)
    theirs.close()
    try:
        yield ForkServer(ours)
    finally:
        with suppress(OSError):
            ours.send((_END, 0))
        ours.close()
        with interrupts_postponed():
            os.waitpid(process, 0)


class ForkServer:
    """The command's end: sends orders, and decides which deaths lead to restarts."""

    def __init__(self, line: Connection) -> None:
        self._line = line
        self._restarts: dict[NodeId, float] = {}
        """When each killed node restarts."""
        self._stays_down: set[NodeId] = set()
        """Nodes that the template has crashed; it also decides their return."""

    def start(self, node: NodeId) -> None:
        """Start a process of the node."""
        self._tell("start", node)

    def do(self, kind: FaultKind, node: NodeId) -> None:
        """Kill, stop or continue the process; a planned kill waits for its planned recovery.

        SIGKILL also ends a frozen process.
        """
        if kind is FaultKind.RECOVER and node in self._stays_down:
            self._stays_down.discard(node)
            self.start(node)
            return
        if kind is FaultKind.CRASH:
            self._stays_down.add(node)
        self._tell(kind.value, node)

    def died(self) -> Iterable[tuple[NodeId, int]]:
        """Nodes dead since, with the negative signal number; killed ones restart soon.

        A node that ended by itself stays down. Raises BackendError if the fork server is gone.
        """
        for node, at in list(self._restarts.items()):
            if time.monotonic() >= at:
                del self._restarts[node]
                self.start(node)
        while self._line.poll():
            try:
                node, status = self._line.recv()
            except (EOFError, ConnectionResetError):
                raise BackendError("the process that starts nodes has died") from None
            if node not in self._stays_down and status < 0:
                self._restarts[node] = time.monotonic() + RESTART_S
            yield node, status

    def _tell(self, what: str, node: NodeId) -> None:
        """Send an order; `died` reports a lost fork server."""
        with suppress(BrokenPipeError):
            self._line.send((what, node))


def _serve_forks(line: Connection, become: Callable[[NodeId], None]) -> NoReturn:
    """Run the fork server's process."""
    try:
        for number in INTERRUPTING:
            signal.signal(number, signal.SIG_IGN)  # what a terminal sends to all is for the command
        signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTING)
        _rear(line, become)
    finally:
        os._exit(0)


def _rear(line: Connection, become: Callable[[NodeId], None]) -> None:
    """Carry out orders and report deaths until the command ends.

    It polls fifty times a second, because SIGCHLD would disturb forks.
    """
    processes: dict[int, NodeId] = {}
    while True:
        while line.poll(_LOOK_S):
            try:
                what, node = line.recv()
            except (EOFError, ConnectionResetError):
                _await_all(processes, LOST_S + _ENDING_S)
                return
            if what == _END:
                _end_all(processes)
                return
            if what == "start":
                processes[_fork(line, become, node)] = node
            else:
                _signal(processes, node, _SIGNALS[FaultKind(what)])
        for process, status in list(_reaped()):
            with suppress(OSError):
                line.send((processes.pop(process), os.waitstatus_to_exitcode(status)))


def _reaped() -> Iterator[tuple[int, int]]:
    """The ended processes, with the system's status."""
    with suppress(ChildProcessError):
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            yield found


def _signal(processes: dict[int, NodeId], node: NodeId, number: int) -> None:
    """Send the signal to the node's process, if any."""
    for process, whose in processes.items():
        if whose == node:
            with suppress(ProcessLookupError):
                os.kill(process, number)


def _end_all(processes: dict[int, NodeId]) -> None:
    """End all nodes, also stopped ones; their journals are closed."""
    for number in (signal.SIGCONT, signal.SIGTERM):
        for process in processes:
            with suppress(ProcessLookupError):
                os.kill(process, number)
    _await_all(processes, _ENDING_S)


def _await_all(processes: dict[int, NodeId], within_s: float) -> None:
    """Wait for nodes to end, then kill the others."""
    give_up = time.monotonic() + within_s
    while processes and time.monotonic() < give_up:
        for process, _ in list(_reaped()):
            processes.pop(process, None)
        time.sleep(_LOOK_S)
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


def _fork(line: Connection, become: Callable[[NodeId], None], node: NodeId) -> int:
    """Start a process of the node; return its number."""
    process = fork()
    if process == 0:
        _be_node(line, become, node)
    return process


def _be_node(line: Connection, become: Callable[[NodeId], None], node: NodeId) -> NoReturn:
    """Run a node's process; agent errors go to the conductor, others to standard error."""
    code = 1
    try:
        line.close()
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # it ends a node as Ctrl-C ends a command
        signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTING)
        become(node)
        code = 0
    except KeyboardInterrupt:
        code = 0
    except (RoambusError, OSError) as error:
        announce(f"node {node}: {error}")
    finally:
        sys.stderr.flush()
        sys.stdout.flush()
        os._exit(code)
