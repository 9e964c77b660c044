"""`roambus trace` prints what a protocol does, message by message."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from roambus.commands.options import OTHER_AGENT, PARAMETERS, pairs
from roambus.commands.telling import answer, remark


@click.command()
@click.argument("scenario", type=click.Path(dir_okay=False, path_type=Path))
@OTHER_AGENT
@PARAMETERS
@click.option("--times", is_flag=True, help="Shows when each thing happens, counted from the command.")
def trace(scenario: Path, agent: str | None, parameters: Sequence[str], times: bool) -> None:
    """Prints SCENARIO with the messages that its commands cause.

    SCENARIO is a text file with a network and commands; roambus docs transcripts explains how it is written. Links are
    ideal: nothing is lost on a link that stands. With --agent, the parameters that the file gives its own agent are
    left out. This is a whole scenario:

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
