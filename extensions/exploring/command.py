"""The command `roambus explore`: every order of events on a small network, or random histories of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from roambus.bridge.system.errors import InterruptionError
from roambus.console.options import FILE, OTHER_AGENT, PARAMETERS, Seconds, pairs
from roambus.console.output import EXIT_PROBLEMS, answer, command_output, console, remark

if TYPE_CHECKING:
    from roambus.extensions.exploring.checker import Figures
    from roambus.extensions.exploring.exploration import Exploration
    from roambus.extensions.exploring.hunt import HuntResult
    from roambus.extensions.exploring.scenario_file import Question
    from roambus.extensions.exploring.verdicts import Report

EXIT_UNDECIDED = 5
EXIT_BOUNDED = 6

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
  must no loops                 what must hold; also: nothing stuck,
                                no phantoms, nothing lost,
                                everything delivered, nothing twice, order kept,
                                probes arrive, one leader a partition,
                                eventually quiet
  must mine.py:nobody_waits     a property of one's own
  order any                     messages on a link overtake each other
  messages fast                 messages are faster than timers
  relative time                 agents go by differences of times only
  chance ends                   draws take the least and the greatest of a range,
                                not the least only (chance 5: five values);
                                of a choice they take each
  for 10s                       no longer than this after the beginning
  calm 5s                       quiet is when nothing was done for 5 s
  graphs 4                      all connected graphs of nodes n1..n4
  trees 4                       all trees of brokers b1/p1/s1..b4/p4/s4
  nodes alike                   names of nodes do not matter to the agents, so
                                one numbering of each shape is enough
"""
"""What a scenario of `explore` says beside its network. Paragraphs that begin with \\b are shown as they stand."""

_LOCAL = click.Path(file_okay=False, path_type=Path)


@click.command(
    help=f"""Explores every order of events on the network of SCENARIO.

{EXPLORATION}
The plain search tries all orders of messages, timers and commands. A counterexample is a transcript, the shortest one:
roambus trace repeats it, and roambus play opens it. The exit code is 0 if each property holds in all states; 6 if
properties hold within bounds, which are named; 1 if one does not hold; and 5 if one is not decided, with the line to
add. Ctrl-C ends a search and prints its result so far. With --hunt the command runs random histories instead (roambus
docs exploring, Hunting): 1 means that it found a violation, and 5 that it found none.

Example: roambus explore scenario.txt --seconds 60
"""
)
@click.argument("scenario", type=FILE)
@OTHER_AGENT
@PARAMETERS
@click.option("--depth", type=click.IntRange(1), help="The most steps in a row.")
@click.option("--states", type=click.IntRange(1), help="Ends at this number of states.")
@click.option("--seconds", type=Seconds(0, min_open=True), help="Ends after this number of seconds, for each network.")
@click.option(
    "--memory",
    type=click.IntRange(1),
    metavar="MIB",
    help="The most memory; a hunt has 500.",
)
@click.option("--keep-on", is_flag=True, help="Goes on after a violation.")
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
    keep_on: bool,
    hunted: float | None,
    seed: int,
    out: Path | None,
) -> None:
    """Explores every order of events on the network of a scenario, or hunts in random histories."""
    _fix_hash_seed()
    if hunted is not None:
        if depth or states or seconds:
            raise click.UsageError("a hunt has no --depth, --states and --seconds")
        _hunt((scenario, agent, pairs("--param", parameters)), (hunted, seed, keep_on, memory or 500), out)
        return
    from roambus.bridge.agents import announce_code
    from roambus.bridge.transcript.head import read_head
    from roambus.bridge.transcript.transcript import Overrides
    from roambus.extensions.exploring.checker import Bounds
    from roambus.extensions.exploring.exploration import explore_all, search
    from roambus.extensions.exploring.initial_state import document_of
    from roambus.extensions.exploring.scenario_file import read_question, variants

    networks = variants(read_question(scenario, remark))
    announce_code(agent or read_head(document_of(networks[0][1]))[0].agent, remark)
    overrides, bounds = Overrides(agent, pairs("--param", parameters)), Bounds(depth, states, seconds, memory)
    reports = []

    def explore_one(question: Question) -> Exploration:
        with console().status(f"exploring {scenario}") as status:

            def visit(figures: Figures) -> None:
                status.update(f"exploring {scenario}: {figures}")

            return search(question, overrides, bounds, visit, keep_on)

    for report in explore_all(networks, explore_one):
        reports.append(report)
        _print(report, out)
    sys.exit(_exit_code(reports))


def _fix_hash_seed() -> None:
    """Start the process anew with a hash seed of 0, unless one is given: sets of texts always have the same order."""
    given, own = os.environ.get("PYTHONHASHSEED", "random"), sys.argv[1:]
    is_own_process = command_output().owns_process and sys.orig_argv[-len(own) :] == own
    if is_own_process and given == "random":
        arguments = [sys.executable, *sys.orig_argv[1:]]
        os.execve(sys.executable, arguments, {**os.environ, "PYTHONHASHSEED": "0"})  # noqa: S606  # this command again


def _exit_code(reports: Sequence[Report]) -> int:
    from roambus.extensions.exploring.checker import INTERRUPTED
    from roambus.extensions.exploring.verdicts import UNDECIDED, WITHIN

    codes = {
        InterruptionError.exit_code: any(report.ended_by == INTERRUPTED for report in reports),
        EXIT_PROBLEMS: any(report.counterexamples for report in reports),
        EXIT_UNDECIDED: any(report.has(UNDECIDED) for report in reports),
        EXIT_BOUNDED: any(report.has(WITHIN) for report in reports),
    }
    return next((code for code, applies in codes.items() if applies), 0)


def _hunt(what: tuple[Path, str | None, dict[str, str]], how: tuple[float, int, bool, int], out: Path | None) -> None:
    from roambus.bridge.system.files import read_text
    from roambus.bridge.transcript.transcript import Overrides
    from roambus.extensions.exploring.hunt import HuntRequest, hunt

    scenario, agent, parameters = what

    @contextmanager
    def show() -> Iterator[Callable[[int], None]]:
        with console().status(f"hunting in {scenario}") as status:
            yield lambda histories: status.update(f"hunting in {scenario}: {histories} histories")

    found = hunt(HuntRequest(scenario, read_text(scenario), Overrides(agent, parameters), *how), remark, show)
    _print(found, out)
    if found.is_interrupted and not found.counterexamples:
        sys.exit(InterruptionError.exit_code)
    sys.exit(EXIT_PROBLEMS if found.counterexamples else EXIT_UNDECIDED)


def _print(report: Report | HuntResult, out: Path | None) -> None:
    """Print the findings; write transcripts to the folder `out`, if given and if it has room, else print them, too."""
    from roambus.extensions.exploring.verdicts import file_name

    lines = list(report.lines())
    for counterexample in report.counterexamples:
        path = None if out is None else out / f"{file_name(f'{report.name} {counterexample.name}')}.txt"
        try:
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(counterexample.transcript, encoding="utf-8")
        except OSError as error:
            remark(f"{path}: {error.strerror}: the transcript is printed")
            path = None
        lines.append(f"\n{counterexample.transcript}" if path is None else f"  {counterexample.name}: see {path}")
    answer("\n".join(lines), networks=[report])
