"""`roambus rerun` runs the agents of a recorded run again."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from roambus.bridge.system.errors import UserError
from roambus.console.options import OTHER_AGENT, PLACE, goes_with
from roambus.console.output import answer, remark
from roambus.python_protocol.simtime import SimTime, parse_time


@click.command()
@click.argument("record", type=PLACE)
@OTHER_AGENT
@click.option(
    "--pdb",
    "debugging",
    is_flag=True,
    help="Opens the debugger where an agent raises, or first differs from the record.",
)
@click.option("--at", metavar="TIME", help="With --pdb: opens it where an agent is first called at this time or later.")
def rerun(record: Path, agent: str | None, debugging: bool, at: str | None) -> None:
    """Runs the agents of RECORD again, and reports differences.

    RECORD is the folder of a run that was made with roambus run --record, or its file frames.roambus. No simulator is
    needed. The agents get the recorded events again, so that you can compare a changed agent with the old one, frame
    by frame, and look at an error in the debugger. This runs the agent's code: first the command names its files, and
    says whether they have changed since the run.

    Example: roambus rerun results/run --pdb
    """
    from roambus.extensions.recording.replay import debug
    from roambus.extensions.recording.replay import rerun as rerun_agents

    goes_with("pdb", debugging, "at")
    record = _record_in(record)
    call = partial(debug, stop_at=_time("--at", at)) if debugging else rerun_agents
    done = call(record, agent, announce=remark)
    answer(
        f"{record}: {done.frames} frames agree; {done.ending}", record=record, frames=done.frames, ending=done.ending
    )


def _record_in(path: Path) -> Path:
    """Return the file, or the only record in or below a folder, even of a failed run."""
    from roambus.bridge.runs.layout import RECORD_FILE

    found = sorted(path.rglob(RECORD_FILE)) if path.is_dir() else [path]
    if not found:
        raise UserError(f"{path}: there is no {RECORD_FILE} in or below it: make the run with roambus run --record")
    if len(found) > 1:
        raise UserError(f"{path} holds {len(found)} records: name one, such as {found[0]}")
    return found[0]


def _time(option: str, text: str | None) -> SimTime | None:
    try:
        return None if text is None else parse_time(text)
    except ValueError as error:
        raise UserError(f"{option}: {error}") from None
