"""Serves a session to the page that plays it."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any

from roambus.bridge.errors import RoambusError, UserError
from roambus.bridge.transcript.transcript import Overrides
from roambus.experiments.viewer.document import make_document
from roambus.experiments.viewer.server import PageServer
from roambus.experiments.viewer.session import LaterCommandsError, Session


class Player:
    """Answers the page's questions, one after the other."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._lock = Lock()

    def page(self) -> str:
        """The page with the session as it is."""
        return make_document([self._session.film], live=True)

    def answer(self, question: Any) -> dict[str, Any]:
        """The film and transcript after {"at": 3.5, "do": "b3 crashes"}, {"undo": true} or {}; or the error.

        If the command would take the place of later ones, these are the answer, {"later": [...]}, unless the question
        has "drop": true.
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
                raise UserError("that is no question of this page")


def play_session(scenario: Path, overrides: Overrides, port: int, say: Callable[[str], None]) -> None:
    """Says where the page is, and serves it until Ctrl-C; raises UserError, OSError."""
    player = Player(Session(scenario, overrides))
    with PageServer(player.page(), port, player.answer) as server:
        say(server.url)
        with suppress(KeyboardInterrupt):
            server.serve_forever()
