"""Mutants of meaning, and what notices each: unit tests, explorations, hunts, or nothing.

python -m benchmarks.mutants
python -m benchmarks.mutants --group aodv --states 20000 --histories 60

`mutants.toml` has the mutants, made by hand. Each judge is a process of its own, which reads the broken text in place
of the file's; the files stay as they are. The judges are asked in turn, until one notices. The output is a table in
Markdown. A mutant that nothing notices needs a test or a question.
"""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any, NamedTuple

import click

ROOT = Path(__file__).resolve().parents[1]
QUESTIONS = ROOT / "benchmarks" / "explorations"
WRONG_ANYWAY = ("mft_under_way", "simple_moving_trees_4", "aodv_as_published")
"""Questions about what does not hold of the protocols as they are."""
JUDGES = ("unit tests", "explorations", "hunts")
_LIMIT_S = 60
"""Of the processor, for each judge."""


class Mutant(NamedTuple):
    """A mutant, and who is asked about it."""

    group: str
    name: str
    file: str
    sound: str
    broken: str
    agents: tuple[str, ...]
    tests: tuple[str, ...]
    question: str = ""
    """The exploration that notices it."""

    def activate(self) -> None:
        """Have this process read the broken text; raises ValueError if the sound one is not there once."""
        path = ROOT / self.file
        text = path.read_text(encoding="utf-8")
        if text.count(self.sound) != 1:
            raise ValueError(f"{self.file} has {text.count(self.sound)} times: {self.sound}")
        code = compile(text.replace(self.sound, self.broken), str(path), "exec")
        read: Any = SourceFileLoader.get_code

        def get_code(loader: SourceFileLoader, name: str) -> Any:
            return code if Path(loader.path).resolve() == path else read(loader, name)

        patched: Any = SourceFileLoader
        patched.get_code = get_code


def read_mutants() -> list[Mutant]:
    """Read all mutants."""
    groups = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return [
        Mutant(group, **mutant, agents=tuple(its["agents"]), tests=tuple(its["tests"]))
        for group, its in groups.items()
        for mutant in its["mutants"]
    ]


def judge(mutant: Mutant, who: str, states: int, histories: int) -> str:
    """Return what notices an active mutant, else empty."""
    mutant.activate()
    if who == "unit tests":
        import pytest  # noqa: PLC0415  # only here: this process reads the broken text from now on

        # pytest would read the modules of a plugin, which roambus is, itself, and not what is broken.
        options = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:randomly", "--assert=plain"]
        path = Path("tests", mutant.file)
        nearest = [
            str(test_file) for test_file in (path.with_name(f"test_{path.name}"),) if (ROOT / test_file).exists()
        ]
        runs = (pytest.main([*options, *(str(ROOT / path) for path in its)]) for its in (nearest, mutant.tests) if its)
        return "a test" if 1 in runs else ""
    found = (_explored if who == "explorations" else _hunted)(mutant, states, histories)
    return next(found, "")


def _questions(mutant: Mutant, *, hunts: bool) -> Iterator[Path]:
    for path in sorted(QUESTIONS.glob("*.txt"), key=lambda path: ("trees" in path.stem or "graphs" in path.stem, path)):
        agent = path.read_text(encoding="utf-8").split(None, 2)[1]
        is_asked = path.stem == mutant.question if mutant.question else agent in mutant.agents
        if is_asked and path.stem.startswith("hunt_") is hunts and path.stem not in WRONG_ANYWAY:
            yield path


def _explored(mutant: Mutant, states: int, _: int) -> Iterator[str]:
    from roambus.bridge.transcript.transcript import Overrides  # noqa: PLC0415
    from roambus.extensions.exploring.checker import Bounds  # noqa: PLC0415
    from roambus.extensions.exploring.exploration import Exploration  # noqa: PLC0415
    from roambus.extensions.exploring.scenario_file import read_question, variants  # noqa: PLC0415

    for path in _questions(mutant, hunts=False):
        for _name, question in variants(read_question(path)):
            exploration = Exploration(question, Overrides())
            exploration.checker.run(Bounds(states=states))
            yield from (f"{path.stem}: {violation.name}" for violation in exploration.checker.violations)


def _hunted(mutant: Mutant, _: int, histories: int) -> Iterator[str]:
    from roambus.bridge.transcript.transcript import Overrides  # noqa: PLC0415
    from roambus.extensions.exploring.hunt import HistoryRunner  # noqa: PLC0415
    from roambus.extensions.exploring.scenario_file import read_question  # noqa: PLC0415

    for path in _questions(mutant, hunts=True):
        runner = HistoryRunner(read_question(path), Overrides())
        for seed in range(histories):
            yield from (f"{path.stem}: {name}" for name in runner.wrong(runner.generator.draw(seed)))


def ask(number: int, who: str, states: int, histories: int) -> str:
    """Return what notices a mutant, from a process of its own; an error or an endless run notices, too."""
    command = [sys.executable, "-m", "benchmarks.mutants", "--one", str(number), "--judge", who]
    command += ["--states", str(states), "--histories", str(histories)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if ended.returncode == -signal.SIGXCPU:
        return "it does not end"
    noticed = [line for line in ended.stdout.splitlines() if line.startswith("noticed: ")]
    if noticed:
        return noticed[-1].removeprefix("noticed: ")
    return f"an error: {(ended.stderr.strip().splitlines() or ['?'])[-1]}"


@click.command()
@click.option("--group", "groups", multiple=True, help="Default: all.")
@click.option("--judge", "judges", multiple=True, type=click.Choice(JUDGES), help="Default: all, until one notices.")
@click.option("--states", default=8000, show_default=True, help="Of each exploration.")
@click.option("--histories", default=30, show_default=True, help="Of each hunt.")
@click.option("--one", type=int, hidden=True)
def main(
    groups: tuple[str, ...], judges: tuple[str, ...], states: int, histories: int, mutant_number: int | None
) -> None:
    """Say what notices each mutant, and print a table."""
    mutants = read_mutants()
    if mutant_number is not None:
        resource.setrlimit(resource.RLIMIT_CPU, (_LIMIT_S, _LIMIT_S + 1))
        print(f"noticed: {judge(mutants[mutant_number], judges[0], states, histories)}", flush=True)
        return
    print("| Mutant | Unit tests | Explorations | Hunts |\n|---|---|---|---|", flush=True)
    for number, mutant in enumerate(mutants):
        if mutant.group in (groups or (mutant.group,)):
            noticed = dict.fromkeys(JUDGES, "")
            for who in judges or JUDGES:
                if not any(noticed.values()):
                    noticed[who] = ask(number, who, states, histories)
            row = " | ".join(noticed.values())
            print(f"| {mutant.group}: {mutant.name} | {row} |{'' if any(noticed.values()) else ' NOTHING'}", flush=True)


if __name__ == "__main__":
    main()
