"""Writes which choices, of those that the thesis' text leaves open, decide which of its claims.

python -m docs.writers.open_choices results/open-agents results/open-settings \
    results/uniform results/steady --page docs/results/open-choices.md

Each folder holds aggregated results: of the sweeps `open-agents` and `open-settings`, whose variants become columns of
a table of the claims that do not hold, and of the sweep `thesis`, which become columns of a table of all claims. What
is not given is left out. Without --page the tables are printed; with it they go between its marks.

A claim that comes out otherwise than in the thesis has two possible causes: the thesis is wrong, or we have filled a
gap of its text otherwise than its author. So every gap that we know of became a choice, each choice was run the other
way round, and the claims were read again. A sign that flips is due to one choice: everything else stays as it was.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click

from roambus.bridge.runs.layout import SWEEP
from roambus.bridge.system.errors import RoambusError, UserError
from roambus.experiments.claims import Claim, Verdict
from roambus.experiments.measurements import Measurements, markdown_table, read_measurements, renamed
from roambus.experiments.studies.thesis.claims import AODV, FURTHER_CLAIMS, MFT, THESIS_CLAIMS, check_all
from roambus.spark.aggregation.aggregate import mean_points
from roambus.spark.metrics import catalogue as c

BASE, UNCOUNTED = "base", "without-acks"
CHOICE = "choice"
OPEN_CLAIMS = (3, 6, 7, 9, 12, 14, 15)
"""Those that do not hold in the reproduction."""
BEGIN, END = "<!-- tables -->", "<!-- end of tables -->"
_SIGNS = {Verdict.HOLDS: "+", Verdict.DOES_NOT_HOLD: "-", Verdict.NOT_MEASURED: ""}
_ACKS = f"{c.SENT_PREFIX}ACK"


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim with its verdict; `leans` if that is not significant, and all means lie on the claimed side."""

    claim: Claim
    leans: bool

    @property
    def sign(self) -> str:
        """The verdict as a table has it."""
        return _SIGNS.get(self.claim.verdict, "(+)" if self.leans else "(-)")


def findings(measured: Measurements) -> dict[int, Finding]:
    """All sixteen claims, by their numbers."""
    found = {}
    for claim, test in zip(check_all(measured), (*THESIS_CLAIMS, *FURTHER_CLAIMS), strict=True):
        is_open = claim.verdict is Verdict.NOT_SIGNIFICANT
        found[claim.number] = Finding(claim, is_open and all(part.supports for part in test.parts(measured)))
    return found


# Variants


def variants_of_agents(measured: Measurements) -> Iterator[tuple[str, Measurements]]:
    """Each choice with the agents that make it; the other protocol is that of the base."""
    for name in dict.fromkeys(agent.partition("-")[2] for agent in measured.agents):
        chosen = {protocol: f"{protocol}-{name}" if name else protocol for protocol in (MFT, AODV)}
        there = {name: agent if agent in measured.agents else name for name, agent in chosen.items()}
        yield name or BASE, renamed(measured, there)
        if not name:
            yield UNCOUNTED, without_acknowledgements(renamed(measured, there))


def without_acknowledgements(measured: Measurements) -> Measurements:
    """The same runs, with the link layer's acknowledgements not counted as messages."""
    runs = measured.runs
    left = runs[c.MESSAGES] - runs.get(_ACKS, 0)
    per_node = runs[c.MESSAGES_PER_NODE] * left / runs[c.MESSAGES]
    counted = runs.assign(**{c.MESSAGES: left, c.MESSAGES_PER_NODE: per_node})
    return replace(measured, runs=counted, points=mean_points(counted))


def variants_of_settings(measured: Measurements) -> Iterator[tuple[str, Measurements]]:
    """Each value of the axis of choices, which is then no axis any more."""
    for name in measured.values(CHOICE):
        runs = measured.runs[measured.runs[CHOICE] == name].drop(columns=CHOICE)
        axes = {axis: values for axis, values in measured.sweep["axes"].items() if axis != CHOICE}
        yield name, replace(measured, runs=runs, points=mean_points(runs), sweep={**measured.sweep, "axes": axes})


# Tables

Findings = dict[int, Finding]


def merged(columns: dict[str, Findings], more: Mapping[str, Measurements]) -> None:
    """Adds the claims of each column; of one that is there already, only those that were not measured."""
    for name, measured in more.items():
        known = columns.setdefault(name, {})
        for number, found in findings(measured).items():
            if number not in known or known[number].claim.verdict is Verdict.NOT_MEASURED:
                known[number] = found


def sign_table(columns: Mapping[str, Findings], numbers: Sequence[int]) -> str:
    """A row for each claim, a sign for each column.

    + holds, - does not hold, (+) and (-) are not significant with all means on the claimed side or not.
    """
    signs = [[str(number), *(found[number].sign for found in columns.values())] for number in numbers]
    return markdown_table(["claim", *columns], signs)


def number_list(columns: Mapping[str, Findings], numbers: Sequence[int]) -> str:
    """The quantities behind the signs, column by column."""
    lines = []
    for name, found in columns.items():
        claims = (found[number].claim for number in numbers)
        evidence = (f"- {claim.number}, {claim.verdict.value}: {'; '.join(claim.evidence)}" for claim in claims)
        lines += [f"\n**{name}**\n", *evidence]
    return "\n".join(lines) + "\n"


def tables(results: Sequence[Path]) -> tuple[str, str]:
    """Return the tables of signs, and the quantities behind them, in Markdown; raises UserError."""
    variants: dict[str, Findings] = {}
    whole: dict[str, Findings] = {}
    for folder in results:
        measured = read_measurements(folder)
        sweep = measured.sweep.get(SWEEP, folder.name)
        match sweep:
            case "open-agents":
                merged(variants, dict(variants_of_agents(measured)))
            case "open-settings":
                merged(variants, dict(variants_of_settings(measured)))
            case "thesis":
                merged(whole, {folder.name: measured})
            case _:
                raise UserError(f"{folder}: it holds results of {sweep}, not of open-agents, open-settings or thesis")
    parts = [part for part in ((variants, OPEN_CLAIMS), (whole, range(1, 17))) if part[0]]
    return "\n".join(sign_table(*part) for part in parts), "\n".join(number_list(*part) for part in parts)


def write(page: Path, text: str, numbers: str) -> None:
    """Put the tables between the marks of the page, and the quantities beside it; raises UserError, OSError."""
    before = page.read_text(encoding="utf-8")
    if BEGIN not in before or END not in before:
        raise UserError(f"{page} has no {BEGIN} and {END} to write between")
    head, tail = before.partition(BEGIN)[0], before.partition(END)[2]
    page.write_text(f"{head}{BEGIN}\n\n{text}\n{END}{tail}", encoding="utf-8")
    page.with_name(f"{page.stem}-numbers.txt").write_text(numbers.lstrip(), encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints or writes; see the head of this file."""
    parser = argparse.ArgumentParser(description="which open choices decide which claims of the thesis")
    parser.add_argument("results", nargs="+", type=Path)
    parser.add_argument("--page", type=Path)
    asked = parser.parse_args(arguments)
    try:
        found = tables(asked.results)
        if asked.page is None:
            click.echo("\n".join(found))
        else:
            write(asked.page, *found)
    except (RoambusError, OSError) as error:
        click.echo(f"error: {error}", err=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
