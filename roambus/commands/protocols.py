"""Commands for authors of protocols: `roambus new` and `trace`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from roambus.experiments.console.options import FILE, OTHER_AGENT, PARAMETERS, pairs
from roambus.experiments.console.output import answer, remark


@click.group()
def new() -> None:
    """Writes the start of an agent of your own.

    Example: roambus new agent rumour
    """


@new.command()
@click.argument("name")
def agent(name: str) -> None:
    """Writes a package with an agent called NAME into a folder of that name.

    The agent is a small protocol that works at once, with parameters, messages, tests, and a sweep that compares it
    with others. All of it is yours to change.

    Example: roambus new agent rumour
    """
    from roambus.experiments.scaffold.writer import read_name, write_package

    folder = Path(name)
    write_package(read_name(name), folder)
    answer(f"{folder}: install it with\n  python -m pip install --editable {folder}", folder=folder)


# Scenarios


@click.command()
@click.argument("scenario", type=FILE)
@OTHER_AGENT
@PARAMETERS
@click.option("--times", is_flag=True, help="Shows when each thing happens, counted from the command.")
def trace(scenario: Path, agent: str | None, parameters: Sequence[str], times: bool) -> None:
    """Prints SCENARIO with the messages that its commands cause.

    SCENARIO is a text file with a network and commands; roambus docs transcripts explains how it is written. Links are
    ideal: a link that is up loses nothing. With --agent, the parameters in the file are ignored. This scenario is
    complete:

    \b
      agent mft
      tree
        b1
          b2
          b3/s3
      clients s2@b2 p1@b1

    \b
      > s3 subscribes f3
      > b3 is cut off
      > p1 publishes e3
      > b3 joins b2
      > show table b1

    Example: roambus trace scenario.txt --agent mft --times
    """  # noqa: D301  # click wants the character itself
    from roambus.bridge.transcript.transcript import Overrides, transcribe

    text = transcribe(scenario, Overrides(agent, pairs("--param", parameters), times, remark))
    answer(text.removesuffix("\n"), scenario=scenario, transcript=text)
