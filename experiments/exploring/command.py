"""The command `roambus explore`: every order of events on a small network, or random histories of it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from roambus.bridge.errors import InterruptionError
from roambus.commands.options import FILE, OTHER_AGENT, PARAMETERS, Seconds, pairs
from roambus.commands.output import EXIT_PROBLEMS, answer, console, remark

if TYPE_CHECKING:
    from roambus.experiments.exploring.exploration import Report
    from roambus.experiments.exploring.hunt import Hunted

EXIT_UNDECIDED = 5

EXPLORATION = """\
SCENARIO is the head of a transcript (roambus docs transcripts), which draws a tree or links, with these lines:

\b
  may s1 subscribes f1          what may happen, at any moment and once; also
                                any other command of roambus trace
  may 3 times s1 is cut off     up to three times
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
                                not the least only (chance 5: five values);
                                of a choice they take each
  for 10s                       no longer than this after the beginning
  calm 5s                       quiet is when nothing was done for 5 s
  graphs 4                      all connected graphs of 4 nodes n1..n4
  trees 4                       all trees of 4 brokers b1/p1/s1..b4/p4/s4
  nodes alike                   names of nodes do not matter to the agents
"""
"""What a scenario of `explore` says beside its network. Paragraphs that begin with \\b are shown as they stand."""

_LOCAL = click.Path(file_okay=False, path_type=Path)


@click.command(
    help=f"""Explores every order of events on the network of SCENARIO.

{EXPLORATION} The command prints a violation as a transcript, the shortest one: roambus trace repeats it, and roambus
play opens it. The exit code is 0 if everything was explored and all properties hold, 1 if one does not hold, and 5 if
this is not decided: the search was cut, or reached no state in which a property is checked. Ctrl-C ends a search and
prints its result so far. With --hunt the command runs random histories instead (roambus docs explore, Hunting): 1 means
that it found a violation, which it makes small, and 5 that it found none.

Example: roambus explore scenario.txt --seconds 60
"""
)
@click.argument("scenario", type=FILE)
@OTHER_AGENT
@PARAMETERS
@click.option("--depth", type=click.IntRange(1), help="The most steps in a row.")
@click.option("--states", type=click.IntRange(1), help="Ends at this number of states.")
@click.option("--seconds", type=Seconds(0, min_open=True), help="Ends after this number of seconds, for each network.")
@click.option("--memory", type=click.IntRange(1), metavar="MIB", help="Ends when the process has this much memory.")
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="The number of processes of a hunt.")
@click.option("--keep-on", is_flag=True, help="Goes on after a violation.")
@click.option("--no-reduction", is_flag=True, help="Also tries orders of arrivals that have the same result.")
@click.option(
    "--hunt", "hunted", type=Seconds(0, min_open=True), help="Hunts in random histories for this number of seconds."
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="The seed of the first history of a hunt."
)
@click.option("--out", type=_LOCAL, help="Writes transcripts into this folder.")
def explore(
    scenario: Path,
    agent: str | None,
    parameters: Sequence[str],
    depth: int | None,
    states: int | None,
    seconds: float | None,
    memory: int | None,
    jobs: int,
    keep_on: bool,
    no_reduction: bool,
    hunted: float | None,
    seed: int,
    out: Path | None,
) -> None:
    """Explores every order of events on the network of a scenario, or hunts in random histories."""
    if hunted is not None:
        if depth or states or seconds or memory or no_reduction:
            raise click.UsageError("a hunt only has the options --agent, --param, --seed, --jobs, --keep-on and --out")
        _hunt((scenario, agent, pairs("--param", parameters)), (hunted, seed, keep_on), jobs, out)
        return
    from roambus.experiments.exploring.exploration import Request, explore_all
    from roambus.experiments.exploring.search import INTERRUPTED, Bounds

    bounds = Bounds(depth, states, seconds, None if memory is None else memory * 2**20)
    request = Request(scenario, agent, pairs("--param", parameters), bounds, not no_reduction, keep_on)
    reports = []
    with console().status(f"exploring {scenario}") as status:
        for one in explore_all(request, lambda found: status.update(f"exploring {scenario}: {found}"), remark):
            reports.append(one)
            _print(one, out)
    if any(one.ended_by == INTERRUPTED for one in reports):
        sys.exit(InterruptionError.exit_code)
    if any(one.wrong for one in reports):
        sys.exit(EXIT_PROBLEMS)
    if not all(one.is_complete for one in reports):
        sys.exit(EXIT_UNDECIDED)


def _hunt(
    what: tuple[Path, str | None, dict[str, str]], how: tuple[float, int, bool], jobs: int, out: Path | None
) -> None:
    from rich.progress import Progress

    from roambus.bridge.files import read_text
    from roambus.bridge.transcript.transcript import Overrides
    from roambus.experiments.exploring.hunt import Chase, hunt

    scenario, agent, parameters = what
    chase = Chase(scenario, read_text(scenario), Overrides(agent, parameters), *how)
    shown = console()
    with Progress(console=shown, transient=True, disable=not shown.is_terminal) as bar:
        task = bar.add_task(f"hunting in {scenario}", total=chase.seconds)
        found = hunt(
            chase,
            jobs,
            remark,
            lambda histories, seconds: bar.update(
                task, completed=seconds, description=f"hunting in {scenario}: {histories} histories"
            ),
        )
    _print(found, out)
    if found.is_interrupted and not found.wrong:
        sys.exit(InterruptionError.exit_code)
    sys.exit(EXIT_PROBLEMS if found.wrong else EXIT_UNDECIDED)


def _print(report: Report | Hunted, out: Path | None) -> None:
    """Tells what was found; transcripts go to the folder `out`, if there is one."""
    from roambus.experiments.exploring.exploration import file_name

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
