"""Python's debugger, at the lines of an agent: what drives the agent is not what somebody wants to look at."""

from __future__ import annotations

import pdb
from pathlib import Path
from types import FrameType, TracebackType

from roambus.bridge.host.agents import is_blamed
from roambus.python_protocol.agent import Agent


def open_where_it_raised(error: BaseException, agent: type[Agent]) -> None:
    """Opens the debugger at the last line of the agent's in the traceback of an error; at its end if there is none."""
    chain = list(_chain(error.__traceback__))
    theirs = [place for place, one in enumerate(chain) if is_blamed(agent)(_file(one.tb_frame))]
    kept = chain[: theirs[-1] + 1] if theirs else chain
    shown: TracebackType | None = None
    for one in reversed(kept):
        shown = TracebackType(shown, one.tb_frame, one.tb_lasti, one.tb_lineno)
    pdb.post_mortem(shown)


def _chain(traceback: TracebackType | None) -> list[TracebackType]:
    return [] if traceback is None else [traceback, *_chain(traceback.tb_next)]


def _file(frame: FrameType) -> Path:
    return Path(frame.f_code.co_filename)


class AgentDebugger(pdb.Pdb):
    """A debugger that stops in the code of one agent only: first where that is called next."""

    def __init__(self, agent: type[Agent]) -> None:
        super().__init__()
        self._is_theirs = is_blamed(agent)

    def stop_here(self, frame: FrameType) -> bool:
        """Whether it stops in a frame: what `step` and `next` ask for, if the frame is the agent's."""
        return self._is_theirs(_file(frame)) and super().stop_here(frame)

    def user_call(self, frame: FrameType, argument_list: None) -> None:
        """Goes on to the first line of what is called."""
