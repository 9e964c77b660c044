"""The tables on the page of open choices, from the files beside it.

Each table is found on the page by its heading row, and written anew from its file. So no number in a table is copied
by hand. The page's sentences are not written here.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from docs.writers.factorial.design import UNCOUNTED
from docs.writers.factorial.effects import LINKED, WORLD
from docs.writers.factorial.kept import read_table
from docs.writers.factorial.published import PUBLISHED
from docs.writers.factorial.quantities import CLAIM, PART, READING
from docs.writers.factorial.ranking import EXPECTED
from docs.writers.factorial.sides import JUDGED, MILDER, STRICTER
from roambus.bridge.system.errors import UserError
from roambus.experiments.claims import Verdict

PAGE = "open-choices.md"
OPEN = (3, 4, 11, 12, 13, 16)
"""Claims whose verdict is open in the readings that the model ranks first."""
UNSEEN = (2, 3, 4, 11, 12, 13)
"""Claims that three seeds can miss."""

DECIDED = (3, 12, 13)
"""Claims that part the readings of most claims."""
MOST = 9
"""Claims that a reading of the table of pooled ones has at least."""
_COUNTED = (Verdict.HOLDS, Verdict.DOES_NOT_HOLD, Verdict.NOT_SIGNIFICANT)

Row = Sequence[object]


def write_page(folder: Path, out: Path) -> None:
    """Write the page's tables anew from the files of the folder; raises UserError, OSError."""
    page = out / PAGE
    text = page.read_text(encoding="utf-8")
    for table in page_tables(folder):
        text = rewritten(text, table)
    page.write_text(text, encoding="utf-8")


def page_tables(folder: Path) -> Iterator[list[str]]:
    """Yield the lines of each table; raises UserError."""
    run = _read(folder / "run.csv")
    yield _run_lines(run)
    if (file := folder / "pooled.csv").is_file():
        yield _pooled_lines(_read(file))
        yield _single_lines(_read(folder / "single.csv"))
    for name, head in (("ranked.csv", "First round"), ("ranked-again.csv", "Second round")):
        if (file := folder / name).is_file():
            yield _ranked_lines(_read(file), head)
            yield _kept_promises(_read(file), run, head)
    if (file := folder / "foreseen.csv").is_file():
        yield _foreseen_lines(_read(file))
    yield _power_lines(_read(folder / "power.csv"))
    sides = _read(folder / "sides.csv")
    yield _side_lines(sides)
    yield _words_of_sides(sides)


def rewritten(text: str, table: Sequence[str]) -> str:
    """The text with this table in place of that with the same heading row; raises UserError for none."""
    lines = text.split("\n")
    if table[0] not in lines:
        raise UserError(f"{PAGE}: no table has the heading {table[0]}")
    first = last = lines.index(table[0])
    while last < len(lines) and lines[last].startswith("|"):
        last += 1
    return "\n".join([*lines[:first], *table, *lines[last:]])


def _read(file: Path) -> pd.DataFrame:
    return read_table(file, "write it with the other tasks", dtype=str, keep_default_na=False)


def _lines(head: Sequence[str], rows: Sequence[Row]) -> list[str]:
    return [f"| {' | '.join(map(str, cells))} |" for cells in (head, ["---"] * len(head), *rows)]


def _run_lines(run: pd.DataFrame) -> list[str]:
    head = ["Reading", "Choices the other way", "Acks count", "s", "Expected", "Seeds", "Found", "Claims that hold"]
    rows = [
        [
            row["name"],
            row["changes"] or "none",
            _acks(row),
            row["seconds"],
            row[EXPECTED],
            row["seeds"] or "not run",
            row["found"],
            row["which"],
            row["found with fresh"],
            row["found by Holm"],
        ]
        for row in run.to_dict("records")
    ]
    return _lines([*head, "With fresh seeds", "By Holm over claims"], rows)


def _pooled_lines(pooled: pd.DataFrame) -> list[str]:
    """The readings of most claims, with the seeds of all their results."""
    most = pooled[pooled["found"].astype(int) >= MOST]
    rows = [
        (row["changes"], _acks(row), row["seeds"], row["found"], row["which"], row["found by Holm"])
        for row in most.to_dict("records")
    ]
    head = ("Choices the other way", "Acks count", "Seeds in all", "Found", "Claims that hold", "By Holm over claims")
    return _lines(head, rows)


def _single_lines(single: pd.DataFrame) -> list[str]:
    """The change of the parts of open claims by each choice alone; a star is significance."""
    chosen = single[single[CLAIM].isin(list(map(str, DECIDED)))]
    rows = [
        (choice, of_choice["pairs"].iloc[0], *map(_change, of_choice.to_dict("records")))
        for choice, of_choice in chosen.groupby("choice", sort=False)
    ]
    parts = chosen.drop_duplicates([CLAIM, PART])
    titles = (f"{claim}: {re.split('[,:]', part)[0]}" for claim, part in zip(parts[CLAIM], parts[PART], strict=True))
    return _lines(["Choice", "Pairs", *titles], rows)


def _change(row: Mapping[Hashable, str]) -> str:
    change, half = (_rounded(float(row[column])) for column in ("change", "half"))
    return f"{change} ± {half}{' *' if row['significant'] == 'True' else ''}"


def _rounded(number: float) -> str:
    """Four decimals, or none for messages."""
    return f"{number:.0f}" if abs(number) >= 1 else f"{round(number, 4) + 0.0:.4f}"


def _acks(row: Mapping[Hashable, str]) -> str:
    return "no" if row[UNCOUNTED] == "1" else "yes"


def _ranked_lines(ranked: pd.DataFrame, title: str) -> list[str]:
    head = [title, "Choices the other way", "Acks count", "Expected", "9 or more", "10 or more"]
    rows = [
        [
            row["name"],
            row["changes"],
            _acks(row),
            *(row[column] for column in (EXPECTED, "9 or more", "10 or more")),
            *(row[f"claim {claim}"] for claim in OPEN),
        ]
        for row in ranked.to_dict("records")
    ]
    return _lines([*head, *(f"P({claim})" for claim in OPEN)], rows)


def _kept_promises(ranked: pd.DataFrame, run: pd.DataFrame, title: str) -> list[str]:
    """For each claim the number of readings that the model expects to make it hold, of those run, and that found."""
    found = run[run["found"] != ""].set_index("name")["which"].str.split()
    there = ranked[ranked["name"].isin(found.index)]
    claims = [column for column in ranked if str(column).startswith("claim ")]
    rows = [
        (
            column.removeprefix("claim "),
            f"{there[column].astype(float).sum():.1f}",
            sum(column.removeprefix("claim ") in found[name] for name in there["name"]),
        )
        for column in map(str, claims)
    ]
    return _lines(
        [f"{title}: claim", "Readings expected to make it hold", "Found"], [*rows, ("readings run", "", len(there))]
    )


def _foreseen_lines(foreseen: pd.DataFrame) -> list[str]:
    """For each claim the margins of readings outside of the design, and those inside of their intervals."""
    rows = [
        (claim, of_claim[READING].nunique(), len(of_claim), (of_claim["inside"] == "True").sum())
        for claim, of_claim in [*foreseen.groupby(CLAIM, sort=False), ("all", foreseen)]
    ]
    return _lines(["Claim", "Readings run later", "Margins", "Inside of 95 % intervals"], rows)


def _power_lines(power: pd.DataFrame) -> list[str]:
    numbers = ("3", "10", "30")
    chosen = power[(power[WORLD] == LINKED) & power[CLAIM].isin([str(claim) for claim in UNSEEN])]
    margins, missed = ([f"{what} {n} seeds" for n in numbers] for what in ("seen with", "leaning, unseen with"))
    open_rows = chosen[(chosen[missed].astype(int) > 0).any(axis=1)]
    rows = [
        [row[CLAIM], _short(row[PART]), *(row[n] for n in margins), row["leaning"], *(row[n] for n in missed)]
        for row in open_rows.to_dict("records")
    ]
    unseen = [f"unseen with {n}" for n in numbers]
    return _lines(["Claim", "Part", "3 seeds", "10", "30", "Rows that lean", *unseen], rows)


def _short(part: str) -> str:
    return part.removesuffix(", mean over speeds")


def _side_lines(sides: pd.DataFrame) -> list[str]:
    """A row for the published defaults, and one that counts the verdicts of all readings that were run."""
    rows: list[Row] = []
    for claim, of_claim in sides.groupby(CLAIM, sort=False):
        published = of_claim["result"] == PUBLISHED
        found = dict(zip(of_claim["side"][published], of_claim["verdict"][published], strict=True))
        ran = of_claim[~published]
        counts = {str(side): _counts(of_side["verdict"]) for side, of_side in ran.groupby("side")}
        for cells, verdicts in (
            ((claim, of_claim["sentence"].iloc[0], "defaults"), found),
            (("", "", f"{ran['result'].nunique()} results"), counts),
        ):
            rows.append((*cells, *(verdicts.get(side, "") for side in (STRICTER, JUDGED, MILDER))))
    return _lines(["Claim", "Sentence, in our words", "Result", "Stricter", "As judged", "Milder"], rows)


def _counts(verdicts: pd.Series[str]) -> str:
    """How many hold, do not hold, and are not significant."""
    return " / ".join(str((verdicts == each.value).sum()) for each in _COUNTED)


def _words_of_sides(sides: pd.DataFrame) -> list[str]:
    others = sides[sides["side"] != JUDGED].drop_duplicates([CLAIM, "side"])
    return _lines(["Claim", "Side", "Reading"], others[[CLAIM, "side", "reading"]].to_numpy().tolist())
