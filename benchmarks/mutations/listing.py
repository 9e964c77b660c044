"""What became of the mutants, for people: a table on the terminal, and a list in Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path

from rich.box import SIMPLE
from rich.table import Table

from benchmarks.mutations.equivalents import Key, key
from benchmarks.mutations.trial import Verdict

HEAD = """# Mutation check

Every method that handles a message, an event or a timer, and every method that these are made of, broken in turn: it
does nothing (`only return ...`), one of its comparisons is swapped, or one of its hop counts is forgotten. Each line
has the line that was broken, the method, what was done to it, and the first test that failed. The fastest tests run
first, so others may notice it, too. "Same" are those that do the same as the original, with the reason.

Written by `python -m benchmarks.mutation_check --write FILE`; do not edit it.
"""
_PLACES = ("tests/python_protocol/", "tests/")


def table(verdicts: Sequence[Verdict], reasons: Mapping[Key, str]) -> Table:
    """A row for each mutant."""
    made = Table("module", "line", "method", "broken", "noticed by", box=SIMPLE)
    for column in made.columns:
        column.overflow = "fold"
    for verdict in verdicts:
        mutant = verdict.mutant
        made.add_row(
            mutant.module.removeprefix("python_protocol/"),
            str(mutant.line),
            mutant.method,
            mutant.what,
            _fate(verdict, reasons),
        )
    return made


def write_list(file: Path, verdicts: Sequence[Verdict], reasons: Mapping[Key, str]) -> None:
    """Replaces the sections of those protocols in the file that were checked; the others stay."""
    sections = _read_sections(file)
    for protocol, ours in groupby(verdicts, lambda verdict: verdict.mutant.protocol):
        sections[protocol] = _section(tuple(ours), reasons)
    text = "".join(f"\n## {protocol}\n\n{section.strip()}\n" for protocol, section in sorted(sections.items()))
    file.write_text(HEAD + text, encoding="utf-8")


def _read_sections(file: Path) -> dict[str, str]:
    if not file.exists():
        return {}
    parts = file.read_text(encoding="utf-8").split("\n## ")[1:]
    return {title: body for title, _, body in (part.partition("\n") for part in parts)}


def _section(verdicts: Sequence[Verdict], reasons: Mapping[Key, str]) -> str:
    noticed = sum(verdict.noticed_by is not None for verdict in verdicts)
    same = sum(verdict.noticed_by is None and key(verdict.mutant) in reasons for verdict in verdicts)
    lines = [
        f"{len(verdicts)} mutants: {noticed} noticed, {same} the same, {len(verdicts) - noticed - same} not noticed."
    ]
    for module, ours in groupby(verdicts, lambda verdict: verdict.mutant.module):
        lines += ["", f"### {module}", ""]
        lines += [f"- {_describe(verdict, reasons)}" for verdict in ours]
    return "\n".join(lines)


def _describe(verdict: Verdict, reasons: Mapping[Key, str]) -> str:
    mutant = verdict.mutant
    return f"{mutant.line}, `{mutant.method}`: {mutant.what}: {_fate(verdict, reasons)}"


def _fate(verdict: Verdict, reasons: Mapping[Key, str]) -> str:
    if verdict.noticed_by is not None:
        return _shorten(verdict.noticed_by)
    reason = reasons.get(key(verdict.mutant))
    return "NOT NOTICED" if reason is None else f"same: {reason}"


def _shorten(test: str) -> str:
    for place in _PLACES:
        test = test.removeprefix(place)
    return test.partition("[")[0]
