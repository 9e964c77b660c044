"""Commands for authors of protocols: `roambus new`, `trace`, `play`, `explore` and `vet`.

A scenario is a text file with a network and commands. `trace` prints the messages that its commands cause, `play` has
the user give the commands in a browser, and `explore` tries every order of events.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from roambus.bridge.errors import InterruptionError
from roambus.commands.options import AGENT_NAME, FILE, OTHER_AGENT, PARAMETERS, PORT, Seconds, pairs
from roambus.commands.output import EXIT_PROBLEMS, answer, bar, console, print_address, remark

if TYPE_CHECKING:
    from roambus.experiments.exploring.checker import Visitor
    from roambus.experiments.exploring.hunt import Hunted
    from roambus.experiments.exploring.verdicts import Report

EXIT_UNDECIDED = 5
EXIT_BOUNDED = 6


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


@click.command()
@click.argument("scenario", type=FILE)
@OTHER_AGENT
@PARAMETERS
@PORT
def play(scenario: Path, agent: str | None, parameters: Sequence[str], port: int) -> None:
    """Plays SCENARIO in the browser: you act, the agents react.

    SCENARIO is a text file with a network and commands (roambus docs transcripts). Drag a node to a broker, or away
    from all brokers, or onto another node to link the two or remove their link. Crash, freeze, subscribe, publish, or
    write any command of roambus trace. The page is like that of roambus replay, with ideal links, and is served to this
    machine only. What you did can be saved as a transcript, which runs as a test.

    Example: roambus play scenario.txt --agent mft
    """
    from roambus.bridge.transcript.transcript import Overrides
    from roambus.experiments.viewer.play import play_session

    play_session(scenario, Overrides(agent, pairs("--param", parameters), announce=remark), port, print_address)


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
@click.option("--reduce", is_flag=True, help="Tries one of the orders of arrivals that have the same result.")
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
    reduce: bool,
    hunted: float | None,
    seed: int,
    out: Path | None,
) -> None:
    """Explores every order of events on the network of a scenario, or hunts in random histories."""
    if hunted is not None:
        if depth or states or seconds or memory or reduce:
            raise click.UsageError("a hunt only has the options --agent, --param, --seed, --jobs, --keep-on and --out")
        _hunt((scenario, agent, pairs("--param", parameters)), (hunted, seed, keep_on), jobs, out)
        return
    from roambus.experiments.exploring.checker import Bounds
    from roambus.experiments.exploring.exploration import Request, explore_all

    bounds = Bounds(depth, states, seconds, None if memory is None else memory * 2**20)
    request = Request(scenario, agent, pairs("--param", parameters), bounds, reduce, keep_on)
    reports = []

    def watched(explore_one: Callable[[Visitor], Report]) -> Report:
        with console().status(f"exploring {scenario}") as status:
            return explore_one(lambda figures: status.update(f"exploring {scenario}: {figures}"))

    for one in explore_all(request, watched, remark):
        reports.append(one)
        _print(one, out)
    sys.exit(_exit_code(reports))


def _exit_code(reports: Sequence[Report]) -> int:
    if any(one.is_interrupted for one in reports):
        return InterruptionError.exit_code
    if any(one.counterexamples for one in reports):
        return EXIT_PROBLEMS
    if not all(one.is_decided for one in reports):
        return EXIT_UNDECIDED
    return EXIT_BOUNDED if any(one.is_bounded for one in reports) else 0


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
    if found.is_interrupted and not found.counterexamples:
        sys.exit(InterruptionError.exit_code)
    sys.exit(EXIT_PROBLEMS if found.counterexamples else EXIT_UNDECIDED)


def _print(report: Report | Hunted, out: Path | None) -> None:
    """Tells what was found; transcripts go to the folder `out`, if there is one."""
    from roambus.experiments.exploring.verdicts import file_name

    lines = list(report.lines())
    for one in report.counterexamples:
        if out is None:
            lines.append(f"\n{one.transcript}")
        else:
            out.mkdir(parents=True, exist_ok=True)
            path = out / f"{file_name(f'{report.name} {one.name}')}.txt"
            path.write_text(one.transcript, encoding="utf-8")
            lines.append(f"  {one.name}: see {path}")
    answer("\n".join(lines), networks=[report])


# Judging an agent


@click.command()
@click.argument("agent", type=AGENT_NAME)
@PARAMETERS
def vet(agent: str, parameters: Sequence[str]) -> None:
    """Vets AGENT, and says what is wrong with it.

    AGENT is a name that roambus list agents has, module:Class or file.py[:Class]. It runs for twelve simulated seconds
    on ideal links, on the radio, and with frames of the largest size, on eight nodes that crash, freeze, leave and
    return. A finding names the check, the line, and what to do:

    \b
      messages          a message is not what is read from its bytes
      runs              the agent raises, asks for what there is not, such as a time
                        that is not a whole number, or draws from a shared generator
      timers            a timer runs out for which there is no handler
      shared memory     nodes change what all of them share, such as an attribute
                        of the class
      unknown messages  it raises for messages that it does not know
      repeatable        another process makes another trace of the same run

    All this is done in three separate processes, with other hash seeds and in another order. Vetting runs the agent's
    code, so only vet agents that you would run. The exit code is 0 if nothing was found, and 1 if something was.

    Example: roambus vet mft --param link_layer=false
    """  # noqa: D301  # click wants the character itself
    from roambus.experiments.vetting.examination import steps_of_all
    from roambus.experiments.vetting.examination import vet as vet_agent

    with bar(f"vetting {agent}", steps_of_all()) as one_more:
        found = vet_agent(agent, pairs("--param", parameters), one_more)
    answer("\n".join(map(str, found)) or f"{agent}: nothing was found", agent=agent, findings=found)
    if found:
        sys.exit(EXIT_PROBLEMS)
