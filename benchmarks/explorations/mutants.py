"""Which mutants of MFT-PubSub's broker exploring notices, and which random trees notice.

python -m benchmarks.explorations.mutants --runs 150

A mutant lacks one statement of `python_protocol/mft/broker.py` that is a call for its effect. Exploring takes the three
questions about MFT-PubSub in this folder; random trees are those of `benchmarks.moving_trees`, one step at a time and
crossing in turn. Each mutant has a process of its own. With --first 36 the judging begins at mutant 36.
"""

from __future__ import annotations

import ast
import multiprocessing
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from random import Random
from types import CodeType
from typing import Any

import click

QUESTIONS = ("mft_parting", "mft_turning", "mft_crossing")
_BROKER = "roambus.python_protocol.mft.broker"


class _Without(ast.NodeTransformer):
    """Replaces the call of that number by `pass`; `calls` has the calls that were met, by their lines."""

    def __init__(self, number: int | None) -> None:
        self._number = number
        self.calls: list[tuple[int, str]] = []

    def visit_Expr(self, node: ast.Expr) -> Any:  # as `ast` calls it
        """Looks at a statement that is an expression."""
        if not isinstance(node.value, ast.Call):
            return node
        self.calls.append((node.lineno, ast.unparse(node)))
        return ast.copy_location(ast.Pass(), node) if len(self.calls) - 1 == self._number else node


def mutants() -> list[tuple[int, str]]:
    """The line and text of each call that a mutant lacks."""
    transformer = _Without(None)
    transformer.visit(ast.parse(_source().read_text(encoding="utf-8")))
    return transformer.calls


def _source() -> Path:
    import roambus.python_protocol  # noqa: PLC0415  # only the processes of mutants import the rest, after mutating it

    return Path(str(roambus.python_protocol.__file__)).parent / "mft" / "broker.py"


class _Mutator(SourceFileLoader):
    """Loads the module without the call of one number."""

    number: int

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002  # as Python calls it
        """Compiles the source, less the call; never takes what Python has compiled of the module before."""
        tree = _Without(self.number).visit(ast.parse(self.get_data(self.path)))
        return compile(ast.fix_missing_locations(tree), self.path, "exec")


class _Finder(MetaPathFinder):
    """Finds the mutant in the place of the module."""

    def __init__(self, number: int) -> None:
        self._loader = _Mutator(_BROKER, str(_source()))
        self._loader.number = number

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:  # noqa: ARG002  # as above
        """The mutant, if it is asked for."""
        return spec_from_file_location(name, self._loader.path, loader=self._loader) if name == _BROKER else None


def mutate(number: int) -> None:
    """Has whoever imports the module from now on get the mutant of that number."""
    sys.meta_path.insert(0, _Finder(number))


def noticed_by_exploring() -> bool:
    """Whether exploring a question finds anything wrong."""
    from roambus.bridge.errors import RoambusError  # noqa: PLC0415
    from roambus.experiments.exploring.exploration import explore  # noqa: PLC0415  # after the mutation
    from roambus.experiments.exploring.scenario_file import read_question  # noqa: PLC0415
    from roambus.experiments.exploring.search import Bounds  # noqa: PLC0415

    for name in QUESTIONS:
        try:
            exploration = explore(read_question(Path(__file__).with_name(f"{name}.txt")))
            exploration.search.run(Bounds(states=150_000))
        except RoambusError:
            return True
        if exploration.found.violations:
            return True
    return False


def noticed_at_random(runs: int) -> bool:
    """Whether a property fails on one of so many random trees."""
    from benchmarks.moving_trees import QUIET, draw  # noqa: PLC0415  # after the mutation
    from roambus.bridge.errors import RoambusError  # noqa: PLC0415
    from roambus.python_protocol.mft import MftPubSub  # noqa: PLC0415
    from tests.support.moving_trees import KINDS, carry_out  # noqa: PLC0415

    random = Random(0)
    for number in range(runs):
        plan = draw(random, list(KINDS), 10, crossing=number % 2 == 0)
        try:
            with _at_most(_LONGEST_TREE_S):
                result = carry_out(MftPubSub, plan)
        except (RoambusError, TimeoutError):
            return True
        if any(find(result) for find in QUIET.values()):
            return True
    return False


_LONGEST_TREE_S = 20
"""Seconds of the processor; a random tree takes less than one, unless something goes on for ever at one instant."""


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Raises TimeoutError in the block after so much time of the processor."""

    def end(*_: object) -> None:
        raise TimeoutError(f"it is not over after {seconds} s")

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def judge(job: tuple[int, int]) -> tuple[bool, bool]:
    """Whether exploring, and whether so many random trees, notice the mutant of that number."""
    number, runs = job
    mutate(number)
    return noticed_by_exploring(), noticed_at_random(runs)


@click.command()
@click.option("--runs", default=150, show_default=True, help="Random trees for each mutant.")
@click.option("--jobs", default=1, show_default=True, help="Processes at once.")
@click.option("--first", default=0, show_default=True, help="The number of the first mutant that is judged.")
def main(runs: int, jobs: int, first: int) -> None:
    """Judges every mutant from the first one on, and prints a line for each."""
    counted = {(explored, drawn): 0 for explored in (True, False) for drawn in (True, False)}
    calls = mutants()[first:]
    with multiprocessing.get_context("spawn").Pool(jobs, maxtasksperchild=1) as pool:
        found = pool.imap(judge, [(number, runs) for number in range(first, first + len(calls))])
        for (line, text), (explored, drawn) in zip(calls, found, strict=True):
            counted[explored, drawn] += 1
            print(f"{line:4} {'explored' if explored else '-':9}{'random' if drawn else '-':7} {text}", flush=True)
    print(f"both {counted[True, True]}, exploring alone {counted[True, False]}, ", end="")
    print(f"random trees alone {counted[False, True]}, neither {counted[False, False]} of {len(calls)}")


if __name__ == "__main__":
    main()
