"""Live nodes on one machine: their sockets, and the processes that are started for them.

All nodes are forked from a nursery that has everything loaded, and that was forked before the conductor has any
connection: ZeroMQ does not survive a fork. As their parent the nursery knows at once when a node dies. Sockets are
bound beforehand on loopback and stay open, so that a node that comes back has its old address. The nursery ends with
the command, and ends the nodes; if the command was killed, nodes notice that and keep their traces. A crash of the
template is SIGKILL and a new process, a freeze is SIGSTOP and SIGCONT.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import NoReturn

import pyarrow as pa

from roambus.bridge.backend import BackendFactory
from roambus.bridge.backends.castalia.endpoint import CurveKeys
from roambus.bridge.errors import BackendError, RoambusError
from roambus.bridge.live.air import Sockets
from roambus.bridge.live.conductor import Conductor, Ensemble
from roambus.bridge.live.connection import Peers
from roambus.bridge.live.machines import open_sockets
from roambus.bridge.live.node import LOST_S, LiveNode, code_of, may_take_precedence
from roambus.bridge.process import BRIDGE, INTERRUPTING, interrupts_postponed, private_folder
from roambus.bridge.runs.child import fork, run_in_child
from roambus.bridge.runs.identity import RunPlan
from roambus.bridge.runs.layout import NODES_FOLDER
from roambus.bridge.runs.run import Drive, Driven
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.plans import FaultKind
from roambus.bridge.trace.parquet import TraceWriter
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.vocabulary import NodeId

RESTART_S = 1.0
"""Time until a killed node is started again: a crash of no duration would not appear in the trace."""
_ENDING_S = 3.0
"""Time that a node may take to end by itself."""
_LOOK_S = 0.02
"""How often the nursery checks whether a node has died."""
_END = "end"
"""The line by which the nursery knows that the command ends, and was not killed."""
_SIGNALS = {FaultKind.CRASH: signal.SIGKILL, FaultKind.FREEZE: signal.SIGSTOP, FaultKind.RECOVER: signal.SIGCONT}


def drive_here(links: str, realtime: bool, advance: Callable[[], None]) -> Drive:
    """Has a live run made by processes of this machine, which take precedence over others if it is to be `realtime`.

    `advance` is called in each second of the run.
    """

    def drive(plan: RunPlan, scenario: Scenario, agent: type[Agent], trace: TraceWriter, _: BackendFactory) -> Driven:
        """Journals lie in the run's folder until they are collected; of a command that was killed they stay there."""
        journals = plan.folder / NODES_FOLDER
        if realtime:
            run_in_child(may_take_precedence)  # so that it is told at once if the user may not
        code_of(agent)  # the nodes, which need it, have it from here
        with (
            local_ensemble(len(scenario.nodes), journals, realtime) as ensemble,
            Peers(ensemble.endpoints, ensemble.keys) as peers,
        ):
            conductor = Conductor(ensemble, peers)
            conductor.conduct(plan, scenario, agent, links, advance)
            remarks = conductor.collect(trace, scenario, partial(left_journal, journals))
        shutil.rmtree(journals, ignore_errors=True)
        return Driven(f"UDP, {links} links", remarks)

    return drive


def left_journal(journals: Path, node: NodeId) -> bytes:
    """What a node has written that is gone; nothing if it has never been on the air.

    There is one file a node, however many processes it had: the folder is this run's alone.
    """
    return b"".join(file.read_bytes() for file in journals.glob(f"*-{node}.rows"))


@contextmanager
def local_ensemble(nodes: int, journals: Path, realtime: bool) -> Iterator[Ensemble]:
    """A process for each node, ready to be conducted; raises UserError. Nothing is left but what is in `journals`.

    Nodes are asked over sockets in a private folder, with keys that were made for this run: what is between conductor
    and node is the same on one machine as on many.
    """
    pa.array([0])  # loads pandas, where it is there: done before the fork, no node does so
    with private_folder(BRIDGE) as folder:
        keys = CurveKeys.fresh()
        endpoints = [f"ipc://{folder / str(node)}" for node in range(nodes)]
        made: list[Sockets] = []
        try:
            made += (open_sockets(("127.0.0.1", 0)) for _ in range(nodes))
            addresses = [one.own.getsockname() for one in made]

            def become(node: NodeId) -> None:
                """What a forked process does; it keeps no other node's socket."""
                for number, one in enumerate(made):
                    if number != node:
                        one.close()
                again = made[node].own.dup
                LiveNode(
                    node, endpoints[node], keys, journals, lambda: Sockets(again()), for_one_run=True, realtime=realtime
                ).serve(announce)

            with nursery(become) as processes:
                for node in range(nodes):
                    processes.start(node)
                yield Ensemble(endpoints, addresses, keys, processes, is_local=True)
        finally:
            for one in made:
                one.close()


def announce(text: str) -> None:
    """Tells what nobody else could tell any more: the conductor is gone."""
    with suppress(OSError):
        sys.stderr.write(f"{text}\n")


@contextmanager
def nursery(become: Callable[[NodeId], None]) -> Iterator[Nursery]:
    """Forks it; at the end of the block it and all nodes are gone.

    Ctrl-C is kept back where there is a process whose number nobody knows yet, and where it is waited for.
    """
    ours, theirs = socket.socketpair()
    with interrupts_postponed():
        process = fork()
        if process == 0:
            ours.close()
            _be_nursery(theirs, become)
    theirs.close()
    try:
        yield Nursery(ours)
    finally:
        with suppress(OSError):
            ours.sendall(f"{_END} 0\n".encode())
        ours.close()
        with interrupts_postponed():
            os.waitpid(process, 0)


class Nursery:
    """The command's end: a line for each thing that is told.

    It also knows which deaths are to be followed by a new process, and when: that is no business of the nursery, which
    does what it is told.
    """

    def __init__(self, line: socket.socket) -> None:
        self._line, self._rest = line, b""
        self._restarts: dict[NodeId, float] = {}
        """When each node is to be started again that somebody has killed."""
        self._stays_down: set[NodeId] = set()
        """The nodes that the template has crash: they come back when it says so."""

    def start(self, node: NodeId) -> None:
        """Has a process of the node started."""
        self._tell("start", node)

    def do(self, kind: FaultKind, node: NodeId) -> None:
        """Kills the process, stops it or has it go on; one that was killed by plan comes back by plan.

        A node that is frozen and then crashes is killed all the same: SIGKILL ends processes that are stopped, too.
        """
        if kind is FaultKind.RECOVER and node in self._stays_down:
            self._stays_down.discard(node)
            self.start(node)
            return
        if kind is FaultKind.CRASH:
            self._stays_down.add(node)
        self._tell(kind.value, node)

    def died(self) -> Iterable[tuple[NodeId, int]]:
        """The nodes that have died since, with the number of the signal, negative; who was killed comes back soon.

        One that has ended by itself does not: it would do so again. Raises BackendError if the nursery is gone.
        """
        for node, at in list(self._restarts.items()):
            if time.monotonic() >= at:
                del self._restarts[node]
                self.start(node)
        while select.select([self._line], (), (), 0)[0]:
            heard = self._line.recv(4096)
            if not heard:
                raise BackendError("the process that starts nodes has died")
            self._rest += heard
        *lines, self._rest = self._rest.split(b"\n")
        for line in lines:
            node, status = map(int, line.split())
            if node not in self._stays_down and status < 0:
                self._restarts[node] = time.monotonic() + RESTART_S
            yield node, status

    def _tell(self, what: str, node: NodeId) -> None:
        """If the nursery is gone, that is told by `died`."""
        with suppress(BrokenPipeError):
            self._line.sendall(f"{what} {node}\n".encode())


def _be_nursery(line: socket.socket, become: Callable[[NodeId], None]) -> NoReturn:
    """What the first forked process does."""
    try:
        for number in INTERRUPTING:
            signal.signal(number, signal.SIG_IGN)  # what a terminal sends to all is for the command
        signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTING)
        _rear(line, become)
    finally:
        os._exit(0)


def _rear(line: socket.socket, become: Callable[[NodeId], None]) -> None:
    """Does what it is told and tells who has died, until the command ends in one way or the other.

    It looks for the dead fifty times a second, and is not woken by SIGCHLD: a signal that comes in the middle of a fork
    would have to be kept from the new process.
    """
    processes: dict[int, NodeId] = {}
    rest = b""
    while True:
        if select.select([line], (), (), _LOOK_S)[0]:
            heard = line.recv(4096)
            if not heard:
                _await_all(processes, LOST_S + _ENDING_S)
                return
            *told, rest = (rest + heard).split(b"\n")
            for word, node in (one.decode().split() for one in told):
                if word == _END:
                    _end_all(processes)
                    return
                if word == "start":
                    processes[_fork(line, become, int(node))] = int(node)
                else:
                    _signal(processes, int(node), _SIGNALS[FaultKind(word)])
        for process, status in list(_reaped()):
            with suppress(OSError):
                line.sendall(f"{processes.pop(process)} {os.waitstatus_to_exitcode(status)}\n".encode())


def _reaped() -> Iterator[tuple[int, int]]:
    """The processes that have ended, with their status as the system has it."""
    with suppress(ChildProcessError):
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            yield found


def _signal(processes: dict[int, NodeId], node: NodeId, number: int) -> None:
    """Sends the signal to the node's process, if there is one."""
    for process, whose in processes.items():
        if whose == node:
            with suppress(ProcessLookupError):
                os.kill(process, number)


def _end_all(processes: dict[int, NodeId]) -> None:
    """Has all nodes end, those that are stopped, too: their journals are closed, and nothing else is theirs."""
    for number in (signal.SIGCONT, signal.SIGTERM):
        for process in processes:
            with suppress(ProcessLookupError):
                os.kill(process, number)
    _await_all(processes, _ENDING_S)


def _await_all(processes: dict[int, NodeId], within_s: float) -> None:
    """They were told to end, or notice that the conductor is gone; who has not ended then is killed."""
    give_up = time.monotonic() + within_s
    while processes and time.monotonic() < give_up:
        for process, _ in list(_reaped()):
            processes.pop(process, None)
        time.sleep(_LOOK_S)
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


def _fork(line: socket.socket, become: Callable[[NodeId], None], node: NodeId) -> int:
    """Starts a process of the node, and returns its number."""
    process = fork()
    if process == 0:
        _be_node(line, become, node)
    return process


def _be_node(line: socket.socket, become: Callable[[NodeId], None], node: NodeId) -> NoReturn:
    """What a node's process does. Errors of its agent go to the conductor; told here is what no conductor hears."""
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
