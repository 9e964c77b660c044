"""Rules of the agent interface that no trace shows: attributes, answers, contents, threads and errors."""

from __future__ import annotations

import ast
import inspect
import sys
import threading
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from textwrap import dedent
from typing import Any
from unittest.mock import patch

from roambus.bridge.host.agents import Handle, is_blamed
from roambus.bridge.system.code import is_own_file
from roambus.extensions.vetting.findings import Finding, place_of_agent
from roambus.python_protocol import agent as agents
from roambus.python_protocol.actions import Action, Deliver
from roambus.python_protocol.agent import Agent, Process
from roambus.python_protocol.events import Event, Publish
from roambus.python_protocol.filters import Notification, NotificationId
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.simtime import SimTime

CONTRACT = "agent interface"
"""The name of the check."""
READ_ONLY = "node", "roles", "random"
STARTS = {
    "os.fork": "a process",
    "os.forkpty": "a process",
    "os.posix_spawn": "a process",
    "os.system": "a process",
    "subprocess.Popen": "a process",
    "socket.connect": "a connection",
}
"""Python's audit events that an agent must not cause."""


class Contract:
    """Watches the agents of a run."""

    def __init__(self, agent_class: type[Agent]) -> None:
        self.findings: dict[Finding, None] = {}
        self._class, self._place = agent_class, place_of_agent(agent_class)
        self._published: dict[NotificationId, Notification] = {}

    def wrap(self, agent: Agent, handle: Handle) -> Handle:
        """Check a new agent, and each of its handlers' calls."""
        actions = agent.take()
        agent.perform(actions)
        if actions:
            self._find(f"the constructor asks for {type(actions[0]).__name__}: act on Started, when the node is up")
        known = [getattr(agent, name) for name in READ_ONLY]

        def handle_watched(event: Event, now: SimTime) -> Iterable[Action]:
            if isinstance(event, Publish):
                self._published[event.notification.id] = event.notification
            actions = list(handle(event, now))
            for name, value in zip(READ_ONLY, known, strict=True):
                if getattr(agent, name) is not value:
                    self._find(f"a handler sets self.{name}, which is for reading", _assigned(self._class, name))
                    setattr(agent, name, value)  # the host reads it, too
            for action in actions:
                if isinstance(action, Deliver):
                    self._compare(action.notification)
            return actions

        return handle_watched

    def _compare(self, delivered: Notification) -> None:
        published = self._published.get(delivered.id)
        if published is None:
            self._find(f"notification {delivered.id} is delivered, which nobody has published")
        elif published != delivered:
            self._find(
                f"a notification is delivered with another content: {published} was published, and not {delivered}"
            )

    def _find(self, problem: str, place: str = "") -> None:
        self.findings.setdefault(Finding(CONTRACT, problem, place or self._place))

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Refuse messages as a handler's answer, and note threads and processes, during the block."""
        start = threading.Thread.start  # Python audits threads from 3.12 on

        def start_noted(thread: threading.Thread) -> None:
            self.started("a thread")
            start(thread)

        _AUDITED.append(self)
        with patch.object(threading.Thread, "start", start_noted), patch.object(agents, "check_answer", check_answer):
            try:
                yield
            finally:
                _AUDITED.remove(self)

    def started(self, what: str) -> None:
        """Report a start, if a line of the agent's makes it."""
        is_theirs = is_blamed(self._class)
        for frame in reversed(traceback.extract_stack()):
            if is_theirs(Path(frame.filename)):
                self._find(
                    f"it starts {what}: an agent only acts in handlers", f"{Path(frame.filename).name}:{frame.lineno}"
                )
                return


def check_answer(handler: Any, answer: Any) -> None:
    """Raise TypeError for actions, as the core does, and for messages and notifications."""
    _CHECK_ANSWER(handler, answer)
    for part in answer if isinstance(answer, list | tuple) else [answer]:
        if isinstance(part, Message | Notification):
            what = f"{handler.__qualname__} returns {type(part).__name__}, which nobody sends"
            raise TypeError(f"{what}: a handler asks for it by self.send or self.deliver")


_CHECK_ANSWER = agents.check_answer
_AUDITED: list[Contract] = []


def _audit(event: str, _: tuple[Any, ...]) -> None:
    if _AUDITED and event in STARTS:
        _AUDITED[-1].started(STARTS[event])


def install_audit() -> None:
    """Begin to audit this process, for good: Python takes no hook back."""
    sys.addaudithook(_audit)


# What the code says


def swallowed(agent_class: type[Agent]) -> Iterator[Finding]:
    """Return a finding for each place at which a user's agent catches every error and ignores it."""
    for file, first, tree in _sources(agent_class):
        for line in (line for node in ast.walk(tree) for line in _swallowing(node)):
            place = f"{file.name}:{first + line - 1}"
            yield Finding(CONTRACT, "every error is swallowed here, and the agent's mistakes with it", place)


def _sources(agent_class: type[Agent]) -> Iterator[tuple[Path, int, ast.AST]]:
    """The classes of an agent that are not ours: file, first line and tree."""
    for cls in agent_class.__mro__:
        with suppress(OSError, TypeError, SyntaxError):
            file = Path(inspect.getfile(cls))
            if issubclass(cls, Process) and not is_own_file(file):
                lines, first = inspect.getsourcelines(cls)
                yield file, first, ast.parse(dedent("".join(lines)))


def _swallowing(node: ast.AST) -> Iterator[int]:
    """The line of a part of the tree that swallows every error."""
    match node:
        case ast.ExceptHandler(type=kind, body=body):
            is_empty = all(isinstance(part, ast.Pass | ast.Continue) or _is_dots(part) for part in body)
            if is_empty and (kind is None or _is_every_error(kind)):
                yield node.lineno
        case ast.withitem(context_expr=ast.Call(func=function, args=kinds)):
            if ast.unparse(function).rpartition(".")[2] == "suppress" and any(map(_is_every_error, kinds)):
                yield function.lineno


def _is_every_error(kind: ast.expr) -> bool:
    return any(isinstance(part, ast.Name) and part.id in {"Exception", "BaseException"} for part in ast.walk(kind))


def _is_dots(part: ast.stmt) -> bool:
    return isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant) and part.value.value is ...


def _assigned(agent_class: type[Agent], name: str) -> str:
    """The first line that assigns to this attribute; empty if none is found."""
    for file, first, tree in _sources(agent_class):
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and node.attr == name:
                return f"{file.name}:{first + node.lineno - 1}"
    return ""
