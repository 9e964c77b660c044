"""A session of `roambus play`: actions on the page become commands, and their effects are computed.

Agents are deterministic, and a minute over ideal links takes a moment. So a session is a growing transcript, recomputed
whole. A command at an earlier time replaces the later ones if the user agrees; one that the agents cannot carry out
changes nothing. Each change can be undone.
"""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any

from roambus.bridge.agents import silently
from roambus.bridge.system.errors import RoambusError, UserError
from roambus.bridge.system.files import read_text
from roambus.bridge.transcript.document import PROMPT, Document, parse_document
from roambus.bridge.transcript.transcript import Overrides, Plan, follow, hidden_names, plan
from roambus.extensions.viewer.document import make_document
from roambus.extensions.viewer.film import Film, make_film
from roambus.extensions.viewer.observations import Source, observe_over
from roambus.extensions.viewer.server import serve
from roambus.python_protocol.simtime import SECOND, SimTime, format_time, from_seconds, to_seconds

AHEAD: SimTime = 5 * SECOND
"""The least time shown after the last command; otherwise it is as long as all before."""
LONGEST: SimTime = 24 * 3600 * SECOND


class LaterCommandsError(UserError):
    """The command would replace later ones without the user's consent."""

    def __init__(self, commands: list[str]) -> None:
        super().__init__(f"this would replace later commands: {'; '.join(commands)}")
        self.commands = commands


class Session:
    """`head`: lines before the first command; `commands`: those with a prompt."""

    def __init__(self, path: Path, overrides: Overrides) -> None:
        """Read the file without its outputs; raise UserError, OSError."""
        self._path = path
        lines = read_text(path).splitlines()
        first = next((number for number, line in enumerate(lines) if line.startswith(PROMPT)), len(lines))
        self._head = _overridden(lines[:first], overrides)
        self._commands = [line for line in lines[first:] if line.startswith(PROMPT)]
        self._earlier: list[list[str]] = []
        """The commands before each thing that was done."""
        self._announce = overrides.announce
        self.film = self._make_film(self._commands)
        """All events, including some time after the last command."""
        self._announce = silently  # the same agent runs from now on

    def do(self, at_s: float, command: str, *, drop: bool = False) -> None:
        """Add a command at a time in s; `drop` lets it replace later ones.

        Raise LaterCommandsError, UserError or AgentError, with nothing changed.
        """
        if not (math.isfinite(at_s) and 0 <= at_s <= LONGEST / SECOND):
            raise UserError(f"{at_s} s is not a time of a session, 0 to {LONGEST // SECOND} s")
        text = command.strip()
        if not text or "\n" in text:
            raise UserError(f"write one command, such as {self.film.header['live']['processes'][0][0]} crashes")
        commands = self._before(from_seconds(at_s))
        pause = from_seconds(at_s) - self._last(commands)
        if pause < 0:
            raise UserError(f"{at_s} s: until {format_time(self._last(commands))} the setup of the file runs")
        later = self._commands[len(commands) :]
        if later and not drop:
            raise LaterCommandsError([line.removeprefix(PROMPT).strip() for line in later])
        changed = [*commands, f"{PROMPT} after {format_time(pause)} {text}"]
        # The film comes first: what the agents cannot carry out raises here, and the session is as it was.
        self.film = self._make_film(changed)
        self._earlier.append(self._commands)
        self._commands = changed

    def undo(self) -> None:
        """Undo the last change, or file command; raise UserError without one."""
        if not self._commands:
            raise UserError("there is no command to undo")
        before = self._earlier[-1] if self._earlier else self._commands[:-1]
        self.film = self._make_film(before)
        self._commands, self._earlier = before, self._earlier[:-1]

    def transcript(self) -> str:
        """Return the session as a scenario file: commands and their effects."""
        return follow(self._document(self._commands)) if self._commands else _text(self._head)

    def _before(self, at: SimTime) -> list[str]:
        """Return the commands up to a time."""
        commands = list(self._commands)
        while commands and self._last(commands) > at:
            commands.pop()
        return commands

    def _last(self, commands: list[str]) -> SimTime:
        """Return the end of the last command or the setup; commands can take time."""
        return self._plan([*commands, f"{PROMPT} after 0s wait 1s"]).timeline.now

    def _document(self, commands: list[str]) -> Document:
        return parse_document(self._path, _text([*self._head, *commands]))

    def _plan(self, commands: list[str]) -> Plan:
        return plan(self._document(commands), Overrides(announce=self._announce))

    def _make_film(self, commands: list[str]) -> Film:
        ahead = max(AHEAD, self._last(commands))
        document = self._document([*commands, f"{PROMPT} wait {format_time(ahead)}"])
        planned = plan(document, Overrides(announce=self._announce))
        hidden_names(document, planned)  # whatever is wrong with them is told before the page is there
        scenario, network = planned.scenario, planned.timeline.network
        table, observations = observe_over(planned.carrier(), planned.run, scenario.time_limit, planned.names)
        source = Source(self._path, f"{self._path.stem} agent={scenario.agent}", scenario, None)
        film = make_film(source, table, observations, planned.names)
        live: dict[str, Any] = {
            "tree": network.is_tree,
            "field": bool(network.places),
            "processes": network.processes,
            "hide": list(planned.head.hidden),
            "last": to_seconds(planned.timeline.now),
            "times": [to_seconds(slot.start) for slot in planned.timeline.slots if slot.number is not None][:-1],
        }
        return Film({**film.header, "live": live}, film.columns)


def _overridden(head: list[str], overrides: Overrides) -> list[str]:
    """Return the head with the requested agent, without the file's parameters."""
    if not overrides.agent:
        return head
    settings = "".join(f" {name}={value}" for name, value in overrides.parameters.items())
    kept = [line for line in head if line.split(" ")[0] not in {"agent", "hide"}]
    return [f"agent {overrides.agent}{settings}", *kept]


def _text(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"


class Player:
    """Answers the page's questions, one after the other."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._lock = Lock()

    def page(self) -> str:
        """Return the page with the current session."""
        return make_document([self._session.film], live=True)

    def answer(self, question: Any) -> dict[str, Any]:
        """Return film and transcript after {"at": 3.5, "do": "b3 crashes"}, {"undo": true} or {}; or the error.

        If a command would replace later ones, return {"later": [...]} unless it has "drop": true.
        """
        with self._lock:
            try:
                self._change(question)
                film = b64encode(self._session.film.packed()).decode("ascii")
                return {"film": film, "transcript": self._session.transcript()}
            except LaterCommandsError as error:
                return {"later": error.commands}
            except RoambusError as error:
                return {"error": str(error)}

    def _change(self, question: Any) -> None:
        match question:
            case {"undo": True}:
                self._session.undo()
            case {"at": float() as at, "do": str() as command}:
                self._session.do(at, command, drop=question.get("drop") is True)
            case {**others} if not others:
                return
            case _:
                raise UserError("this page has no such request")


def play_session(scenario: Path, overrides: Overrides, port: int, say: Callable[[str], None]) -> None:
    """Print the page's address and serve until Ctrl-C; raise UserError, OSError."""
    player = Player(Session(scenario, overrides))
    serve(player.page(), port, say, player.answer)
