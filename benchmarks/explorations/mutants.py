"""Which mutants of six protocols the questions in this folder notice: the explorations, and the hunts.

python -m benchmarks.explorations.mutants --each 40 --keep build/mutants.jsonl
python -m benchmarks.explorations.mutants --each 40 --keep build/mutants.jsonl --protocol aodv
python -m benchmarks.explorations.mutants --each 40 --keep build/mutants.jsonl --effort 10
python -m benchmarks.explorations.mutants --each 40 --keep build/mutants.jsonl --again

Mutants are those of `benchmarks.mutation_check`: every method that handles something, and all that it is made of,
broken in each way that `benchmarks.mutations.operators` knows; of each protocol so many are drawn. A mutant is run in a
process of its own, in which the function has the broken code. First histories of the protocol's quickest hunt are run,
and compared with what they were; then its explorations, up to a number of states, and its other hunts; the first that
notices it ends that. If no history was changed, the transcripts in `tests/scenarios` say whether the mutant changes a
trace at all: what changes none says nothing about the questions.

What is kept in a file is not tried again, so the work can be done in pieces. With `--effort 10`, ten times the
histories and states, what nothing has noticed is tried once more, and with `--again` at the same effort, for which
there may be new questions. The last lines are a table in Markdown.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from random import Random

import click

from benchmarks.mutation_check import ROOT
from benchmarks.mutations.child import limit_time
from benchmarks.mutations.in_memory import break_function
from benchmarks.mutations.targets import Mutant, mutants
from roambus.bridge.errors import RoambusError
from roambus.bridge.transcript.document import parse_document
from roambus.bridge.transcript.transcript import Overrides, follow
from roambus.experiments.exploring.checker import Bounds
from roambus.experiments.exploring.exploration import Exploration
from roambus.experiments.exploring.hunt import Judge
from roambus.experiments.exploring.scenario_file import read_question, variants

PROTOCOLS = ("mft", "first-approach", "phoenix", "simple", "aodv", "caching")
QUESTIONS = Path(__file__).parent
SCENARIOS = ROOT / "tests" / "scenarios"
WRONG_ANYWAY = ("mft_under_way", "simple_moving_trees_4", "aodv_as_published")
"""Questions about what does not hold of the protocols as they are."""
HISTORIES = 30
"""The most of each hunt; `_HUNTING_S` ends them sooner for protocols with timers."""
STATES = 8_000
"""The most of each exploration, of a family of each network."""
_HUNTING_S = 2.0
_LIMIT_S = 40
DOES_NOT_END = "it does not end"


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant."""

    protocol: str
    module: str
    line: int
    method: str
    what: str
    changes: bool
    """Whether anything that is run shows another trace."""
    killed_by: str | None
    effort: int = 1
    """How many times the least number of histories and states were tried."""

    def line_of_list(self) -> str:
        """For a person."""
        fate = self.killed_by or ("NOT KILLED" if self.changes else "changes no trace")
        return f"{self.protocol}: {self.module}:{self.line} {self.method}: {self.what} -> {fate}"


Hunt = tuple[str, Judge, list[str]]
"""A hunt by its name, and digests of what happens in its histories with nothing broken."""


@cache
def hunts(protocol: str, effort: int = 1) -> list[Hunt]:
    """The hunts of a protocol, quickest first."""
    found = []
    for path in _questions(protocol):
        if path.stem.startswith("hunt_"):
            judge = Judge(read_question(path), Overrides())
            found.append((path.stem, judge, [digest for digest, _ in _histories(judge, effort)]))
    return sorted(found, key=lambda one: -len(one[2]))


def explorations(protocol: str) -> list[Path]:
    """Those of a protocol, of single networks first: families take longest."""
    questions = [path for path in _questions(protocol) if not path.stem.startswith("hunt_")]
    return sorted(questions, key=lambda path: len(variants(read_question(path))))


def _questions(protocol: str) -> Iterator[Path]:
    for path in sorted(QUESTIONS.glob("*.txt")):
        agent = path.read_text(encoding="utf-8").split(None, 2)[1]
        if agent == protocol and path.stem not in WRONG_ANYWAY:
            yield path


def _histories(judge: Judge, effort: int) -> Iterator[tuple[str, str | None]]:
    """A digest of the trace of each history, and what does not hold."""
    until = time.process_time() + effort * _HUNTING_S
    for seed in range(effort * HISTORIES):
        if time.process_time() > until:
            return
        try:
            wrong, happened = judge.run(judge.drawer.draw(seed))
        except RoambusError as error:
            wrong, happened = {str(error).splitlines()[0]: ""}, []
        yield hashlib.sha256(repr(happened).encode()).hexdigest(), next(iter(wrong), None)


def judged(mutant: Mutant, effort: int = 1) -> tuple[bool, str | None]:
    """Whether the code that is broken in this process changes a trace, and what notices it."""
    quick, *slow = hunts(mutant.protocol, effort)
    changes, noticed = _hunted([quick], effort)
    noticed = noticed or next(filter(None, (_explored(path, effort) for path in explorations(mutant.protocol))), None)
    if noticed is None:
        changes_slow, noticed = _hunted(slow, effort)
        changes |= changes_slow
    return changes or noticed is not None or _changes_a_transcript(mutant.protocol), noticed


def _hunted(some: Sequence[Hunt], effort: int) -> tuple[bool, str | None]:
    changes = False
    for name, judge, digests in some:
        for (digest, wrong), sound in zip(_histories(judge, effort), digests, strict=False):
            changes |= digest != sound
            if wrong:
                return True, f"{name}: {wrong}"
    return changes, None


def _explored(path: Path, effort: int) -> str | None:
    for _, question in variants(read_question(path)):
        try:
            exploration = Exploration(question, Overrides())
            exploration.checker.run(Bounds(states=effort * STATES))
        except RoambusError as error:
            return f"{path.stem}: {str(error).splitlines()[0]}"
        if exploration.checker.violations:
            return f"{path.stem}: {exploration.checker.violations[0].name}"
    return None


def _changes_a_transcript(protocol: str) -> bool:
    for path in sorted(SCENARIOS.glob("*.txt")):
        text = path.read_text(encoding="utf-8")
        if f"\nagent {protocol}" in f"\n{text}":
            try:
                if follow(parse_document(path, text)) != text:
                    return True
            except RoambusError:
                return True
    return False


def look(mutant: Mutant, effort: int = 1) -> tuple[bool, str | None]:
    """Judges a mutant in a child, which is killed if it does not end."""
    hunts(mutant.protocol, effort)
    import_module(f"roambus.{mutant.module.removesuffix('.py').replace('/', '.')}")
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        _be_child(mutant, effort, writer)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        told = pipe.read()
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code in (-signal.SIGXCPU, -signal.SIGALRM, -signal.SIGKILL):
        return True, DOES_NOT_END
    if not told:
        raise SystemExit(f"{mutant}: the child ended with {code}")
    changes, killed_by = json.loads(told)
    return changes, killed_by


def _be_child(mutant: Mutant, effort: int, writer: int) -> None:
    code = 1
    try:
        limit_time(effort * _LIMIT_S)
        found: tuple[bool, str | None] = False, None
        if break_function(mutant.module, mutant.method, mutant.source) is None:
            print(f"{mutant.module}: {mutant.method} cannot be broken", file=sys.stderr)
            os._exit(1)
        try:
            found = judged(mutant, effort)
        except Exception as error:  # what is broken may raise anything where nothing catches it
            found = True, f"{type(error).__name__}: {error}"
        os.write(writer, json.dumps(found).encode())
        code = 0
    finally:
        os._exit(code)


def drawn(protocols: Sequence[str], each: int) -> list[Mutant]:
    """So many of each protocol, in the order of their modules."""
    everything = [one for one in mutants(ROOT) if one.protocol in protocols]
    chosen = []
    for protocol in protocols:
        its = [one for one in everything if one.protocol == protocol]
        chosen += sorted(Random(protocol).sample(its, min(each, len(its))), key=lambda one: (one.module, one.line))
    return chosen


def table(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """How many there were of each protocol, and what became of them."""
    yield "| Protocol | Mutants | Change a trace | Killed by hunts | By explorations | Do not end | Killed |"
    yield "|---|---|---|---|---|---|---|"
    for protocol in (*dict.fromkeys(one.protocol for one in verdicts), "all"):
        its = [one for one in verdicts if protocol in (one.protocol, "all")]
        killed = [one.killed_by for one in its if one.killed_by]
        hunted, endless = sum(one.startswith("hunt_") for one in killed), killed.count(DOES_NOT_END)
        changing = sum(one.changes for one in its)
        explored = len(killed) - hunted - endless
        share = f"{len(killed) / changing:.0%}" if changing else "-"
        yield f"| {protocol} | {len(its)} | {changing} | {hunted} | {explored} | {endless} | {share} |"


def read_kept(keep: Path) -> list[Verdict]:
    """What was found before."""
    lines = keep.read_text(encoding="utf-8").splitlines() if keep.exists() else []
    verdicts = (Verdict(**json.loads(line)) for line in lines)
    return list({(one.module, one.line, one.method, one.what): one for one in verdicts}.values())


@click.command()
@click.option("--each", default=40, show_default=True, help="Mutants of each protocol.")
@click.option("--protocol", "protocols", multiple=True, type=click.Choice(PROTOCOLS), help="Default: all six.")
@click.option(
    "--keep", required=True, type=click.Path(dir_okay=False, path_type=Path), help="Has a line for each that is known."
)
@click.option("--effort", default=1, show_default=True, help="So many times the histories and states.")
@click.option("--again", is_flag=True, help="Also tries again what nothing has noticed.")
def main(each: int, protocols: tuple[str, ...], keep: Path, effort: int, *, again: bool) -> None:
    """Judges what is not kept yet, prints a line for each, and the table of those that are drawn."""
    known = {(one.protocol, one.module, one.line, one.method, one.what): one for one in read_kept(keep)}
    chosen = drawn(protocols or PROTOCOLS, each)
    for mutant in chosen:
        name = mutant.protocol, mutant.module, mutant.line, mutant.method, mutant.what
        before = known.get(name)
        if before is None or (before.killed_by is None and before.changes and (again or before.effort < effort)):
            known[name] = verdict = Verdict(*name, *look(mutant, effort), effort)
            print(verdict.line_of_list(), flush=True)
            with keep.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(verdict)) + "\n")
    # What is kept of code that has changed since is no mutant any more, and does not count.
    verdicts = [known[one.protocol, one.module, one.line, one.method, one.what] for one in chosen]
    for one in verdicts:
        if one.changes and not one.killed_by:
            print(one.line_of_list(), file=sys.stderr)
    print("\n".join(table(verdicts)))


if __name__ == "__main__":
    main()
