"""`roambus explore` tries every order of events on a small network."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from roambus.bridge.errors import InterruptionError
from roambus.commands.options import OTHER_AGENT, PARAMETERS, Seconds, pairs
from roambus.commands.telling import answer, console, remark

if TYPE_CHECKING:
    from roambus.experiments.exploring.report import Report

EXIT_WRONG = 1
EXIT_UNDECIDED = 5


@click.command()
@click.argument("scenario", type=click.Path(dir_okay=False, path_type=Path))
@OTHER_AGENT
@PARAMETERS
@click.option("--depth", type=click.IntRange(1), help="Explores no more steps in a row than this.")
@click.option("--states", type=click.IntRange(1), help="Ends at so many states.")
@click.option("--seconds", type=Seconds(0, min_open=True), help="Ends after so many seconds, for each network.")
@click.option("--memory", type=click.IntRange(1), metavar="MIB", help="Ends when the process has so much memory.")
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Explores with so many processes.")
@click.option("--keep", type=click.Path(file_okay=False, path_type=Path), help="Goes on from what this folder keeps.")
@click.option("--keep-on", is_flag=True, help="Goes on when a property does not hold, to see about the others.")
@click.option("--no-reduction", is_flag=True, help="Tries also those orders of arrivals that come to the same.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Writes transcripts into this folder.")
def explore(  # an argument an option
    scenario: Path,
    agent: str | None,
    parameters: Sequence[str],
    depth: int | None,
    states: int | None,
    seconds: float | None,
    memory: int | None,
    jobs: int,
    keep: Path | None,
    keep_on: bool,
    no_reduction: bool,
    out: Path | None,
) -> None:
    """Explores every order of events on the network of SCENARIO.

    SCENARIO is the head of a transcript (roambus docs transcripts), which draws a tree or links, with these lines:

    \b
      may s1 subscribes f1          what may happen, at any moment and once; also
                                    any other command of roambus trace
      may 3 times s1 is cut off     so often
      may 2 link changes            any of a kind: link changes, cuts, tree changes,
                                    client moves, crashes, recoveries, losses
      may 1 subscription to f1      by any subscriber; also unsubscription from f1,
      may 1 publication of e1       by any publisher
      may ... when quiet            only while nothing is under way
      must no loops                 what must hold; also: tables lead to subscribers,
                                    nothing stuck, no phantoms, nothing lost,
                                    everything delivered, nothing twice, order kept,
                                    probes arrive, one leader a partition,
                                    eventually quiet
      must mine.py:nobody_waits     a property of one's own
      order any                     messages on a link overtake each other
      messages slow                 timers run out while messages are under way
      chance ends                   draws take the least and the greatest of a range,
                                    not the least only; of a choice they take each
      for 10s                       no longer than this after the beginning
      calm 5s                       quiet is when nothing was done for so long
      graphs 4                      all connected graphs of 4 nodes n1..n4
      trees 4                       all trees of 4 brokers b1/p1/s1..b4/p4/s4
      nodes alike                   names of nodes do not matter to the agents

    What is found wrong is printed as a transcript, the shortest that there is: roambus trace repeats it, and roambus
    play opens it. The exit code is 0 if everything was explored and holds, 1 if something does not hold, and 5 if
    that is not decided: the search was cut, or reached no state in which a property is asked. Ctrl-C ends a search in
    good order: what was explored so far is told. With --keep the same command goes on later, also after a bound or a
    kill.

    Example: roambus explore scenario.txt --seconds 60
    """  # noqa: D301  # click wants the character itself
    from roambus.experiments.exploring.found import INTERRUPTED, Bounds
    from roambus.experiments.exploring.workers import Request, explore_all

    bounds = Bounds(depth, states, seconds, None if memory is None else memory * 2**20)
    request = Request(scenario, agent, pairs("--param", parameters), bounds, not no_reduction, keep_on, keep)
    reports = []
    with console().status(f"exploring {scenario}") as status:
        for one in explore_all(request, jobs, lambda found: status.update(f"exploring {scenario}: {found}"), remark):
            reports.append(one)
            _print(one, out)
    if any(one.ended_by == INTERRUPTED for one in reports):
        sys.exit(InterruptionError.exit_code)
    if any(one.wrong for one in reports):
        sys.exit(EXIT_WRONG)
    if not all(one.is_complete for one in reports):
        sys.exit(EXIT_UNDECIDED)


def _print(report: Report, out: Path | None) -> None:
    """Tells what was found; transcripts go to the folder `out`, if there is one."""
    from roambus.experiments.exploring.report import file_name

    lines = list(report.lines())
    for wrong in report.wrong:
        if out is None:
            lines.append(f"\n{wrong.transcript}")
        else:
            out.mkdir(parents=True, exist_ok=True)
            path = out / f"{file_name(f'{report.name} {wrong.name}')}.txt"
            path.write_text(wrong.transcript, encoding="utf-8")
            lines.append(f"  {wrong.name}: see {path}")
    answer("\n".join(lines), networks=[report])
