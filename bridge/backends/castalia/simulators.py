"""How a simulator comes to the host: the host starts it, or somebody does so by hand."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

from roambus.bridge.backends.castalia.channel import Channel, listen
from roambus.bridge.backends.castalia.child import Child
from roambus.bridge.backends.castalia.cores import core_of_our_own
from roambus.bridge.backends.castalia.endpoint import Endpoint, Transport
from roambus.bridge.backends.castalia.installation import Program, find_installation
from roambus.bridge.backends.castalia.rundir import NO_WAYS, Ways, run_directory
from roambus.bridge.errors import UserError
from roambus.bridge.process import interrupts_postponed

FAREWELL_S = 1.0
"""A simulator that somebody else started may take so long to read why a run failed."""
START_DEADLINES = 3
"""A simulator reads its files and builds its network before it says hello: it gets that many deadlines."""


class Simulator(Protocol):
    """A simulator and the way to it."""

    @property
    def run(self) -> str:
        """The name of the run that it belongs to, for errors."""

    @property
    def hello_within_s(self) -> float:
        """The time to wait for its Hello, in seconds."""

    def connect(self) -> Channel:
        """Listens, and sees to it that a simulator comes; it is called once, first. Raises UserError, BackendError."""

    def last_lines(self) -> str:
        """The end of its log, to be appended to an error, or nothing if that is not known."""

    def end(self, *, in_order: bool) -> None:
        """Frees everything; a simulator that does not end is killed. Called once, last.

        Raises BackendError if one that should have ended in order did not.
        """


class StartedSimulator:
    """A simulator that is a child of this process, in the run's folder."""

    def __init__(
        self,
        folder: Path,
        program: Program,
        deadline_s: float,
        ways: Ways = NO_WAYS,
        transport: Transport = "zeromq",
    ) -> None:
        self._folder = folder
        self._transport = transport
        self._ways = ways
        self._program = program
        self._deadline_s = deadline_s
        self._child: Child | None = None
        self._resources = ExitStack()
        self.run = f"run {folder}"
        self.hello_within_s = START_DEADLINES * deadline_s

    def connect(self) -> Channel:
        """Listens, and starts the simulator; raises UserError, BackendError."""
        with interrupts_postponed():  # else what was just made might not be known to `end`
            return self._connect()

    def _connect(self) -> Channel:
        self._resources.enter_context(core_of_our_own())
        endpoint = self._resources.enter_context(Endpoint.private(self._transport))
        directory = run_directory(self._folder, self._program.links, endpoint, self._deadline_s, self._ways)
        self._resources.enter_context(directory)
        connection = listen(endpoint, self._deadline_s, self._ended)
        self._resources.callback(connection.close)
        self._child = Child(self._program, self._folder, self._deadline_s)
        return connection

    def end(self, *, in_order: bool) -> None:
        """Ends the simulator, which is killed if it does not end by itself; raises BackendError."""
        with self._resources:
            if self._child is not None:
                self._child.end(in_order=in_order)

    def last_lines(self) -> str:
        """The end of the simulator's log."""
        return self._child.last_lines() if self._child else ""

    def _ended(self) -> str | None:
        return self._child.ended() if self._child else None


class ServedSimulator:
    """A simulator that somebody starts by hand, in a debugger or on another machine."""

    def __init__(  # noqa: PLR0913, PLR0917  # what the user can choose, and the run
        self,
        folder: Path,
        address: str | None,
        deadline_s: float,
        wait_s: float,
        announce: Callable[[Path], None],
        ways: Ways = NO_WAYS,
        transport: Transport = "zeromq",
    ) -> None:
        """`address` is tcp://ADDRESS:PORT or None; `announce` is told the run's folder as soon as the host listens."""
        self._folder = folder
        self._ways = ways
        self._address = address
        self._transport = transport
        self._deadline_s = deadline_s
        self._announce = announce
        self._connection: Channel | None = None
        self._resources = ExitStack()
        self.run = f"run {folder}"
        self.hello_within_s = wait_s

    def connect(self) -> Channel:
        """Listens, and waits for somebody to start a simulator; raises UserError, BackendError."""
        with interrupts_postponed():
            self._connection = self._connect()
        self._announce(self._folder)
        return self._connection

    def _connect(self) -> Channel:
        endpoint = Endpoint.private(self._transport) if self._address is None else Endpoint.tcp(self._address)
        self._resources.enter_context(endpoint)
        directory = run_directory(self._folder, _links_here(), endpoint, self._deadline_s, self._ways)
        self._resources.enter_context(directory)
        connection = listen(endpoint, self._deadline_s, lambda: None)
        self._resources.callback(connection.close)
        return connection

    def last_lines(self) -> str:
        """Nothing, for whoever started the simulator sees its log."""
        return ""

    def end(self, *, in_order: bool) -> None:
        """Frees everything; the simulator is not ours to kill, but it should read what it was told last."""
        with self._resources:
            if self._connection is not None:
                self._connection.wait_until_left(self._deadline_s if in_order else FAREWELL_S)


def _links_here() -> dict[str, Path]:
    """The links for the simulator, of which there are none if it can only run on another machine."""
    try:
        return find_installation().links()
    except UserError:
        return {}
