"""The tables of the page on open choices: each function writes files into a folder, or returns what stands in one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import starmap
from pathlib import Path

import numpy as np
import pandas as pd

from docs.writers.factorial.design import (
    AGAIN,
    CONFIRMING,
    DESIGN,
    NAMES,
    SELECTING,
    UNCOUNTED,
    Extent,
    Reading,
    changes,
    extent_of,
    reading_in,
    reading_of,
    readings,
    write_sweep,
    write_sweeps,
)
from docs.writers.factorial.effects import (
    BARE,
    EFFECT,
    LINKED,
    WORLD,
    against_predictions,
    choices_by_side,
    effects,
    found_signs,
)
from docs.writers.factorial.kept import is_there, measured_readings, read_table
from docs.writers.factorial.model import coverage_table, foreseen, part_models
from docs.writers.factorial.published import published_sides
from docs.writers.factorial.quantities import (
    CLAIM,
    CLAIMS,
    MARGIN,
    PART,
    READING,
    margins_of,
    parts_of,
    results,
    row_means,
    verdicts,
    with_choices,
    without_acknowledgements,
)
from docs.writers.factorial.ranking import EXPECTED, power_table, ranked, top, verdicts_left_out
from docs.writers.factorial.rounds import SECOND, next_readings, pooled_margins, pooled_rows, single_changes
from docs.writers.factorial.sides import side_table
from roambus.bridge.runs.layout import SEED
from roambus.bridge.system.errors import UserError
from roambus.experiments.claims import SIGNIFICANCE, Part, Verdict, holm
from roambus.experiments.measurements import Measurements

PREDICTIONS = Path(__file__).parents[2] / "results" / "open-choices-together-predictions.csv"
REPRODUCTION = PREDICTIONS.parent / "reproduction"
ROWS, RANKED, AGAIN_RANKED, BY_HAND = "rows.csv", "ranked.csv", "ranked-again.csv", "expected.csv"
_DIGITS = "%.4g"
_ANALYSE = "write it with the task analyse"
NAME, CHANGES, WHICH = "name", "changes", "which"


def verdict_table(margins: pd.DataFrame, design: Mapping[str, Reading]) -> pd.DataFrame:
    """A row for each reading and count of messages: its choices, each claim's verdict, and how many hold."""
    rows = []
    for name, uncounted, of_result in results(margins):
        chosen = {choice: int(way) for choice, way in design[name].items()}
        said = verdicts(of_result)
        worded = {f"claim {claim}": verdict.value for claim, verdict in said.items()}
        rows.append({READING: name, **chosen, UNCOUNTED: uncounted, "hold": len(holding(said)), **worded})
    return pd.DataFrame(rows)


def holding(said: Mapping[int, Verdict]) -> list[int]:
    """The claims that hold."""
    return [claim for claim, verdict in said.items() if verdict is Verdict.HOLDS]


def claim_table(margins: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """A row for each claim: in how many results it holds and does not, and which choices help and harm it.

    It leans to its side in a result where the means of all its parts do. Choices stand for readings with and without
    a link layer alone; those whose sign differs between the two stand once more.
    """
    said = [(verdicts(of_result), of_result) for _, _, of_result in results(margins)]
    rows = []
    for claim in sorted(set(margins[CLAIM])):
        words = [verdict_by_claim[claim] for verdict_by_claim, _ in said]
        leaning = sum(leans(of_result[of_result[CLAIM] == claim]) for _, of_result in said)
        counts = (words.count(Verdict.HOLDS), leaning, words.count(Verdict.DOES_NOT_HOLD))
        sides = [text for world in (LINKED, BARE) for text in choices_by_side(table, claim, world).values()]
        rows.append((claim, CLAIMS[claim].text, *counts, *sides, " ".join(turned(table, claim))))
    sides = [f"{world}: {side}" for world in (LINKED, BARE) for side in ("helped by", "harmed by")]
    return pd.DataFrame(
        rows, columns=[CLAIM, "text", "holds", "leans", "does not hold", *sides, "turned by the link layer"]
    )


def leans(margins: pd.DataFrame) -> bool:
    """Whether the means of all parts are on the claimed side."""
    return bool((margins.groupby(PART)[MARGIN].mean() > 0).all())


def turned(table: pd.DataFrame, claim: int) -> list[str]:
    """The choices with a significant effect on a part of the claim in each world, of opposite signs."""
    mains = table[(table[CLAIM] == claim) & (table[UNCOUNTED] == 0) & table[EFFECT].isin(NAMES)]
    found = []
    for (choice, _), rows in mains.groupby([EFFECT, PART], sort=False):
        signs = {found_signs(rows[rows[WORLD] == world]) for world in (LINKED, BARE)}
        if signs == {"+", "-"}:
            found.append(str(choice))
    return list(dict.fromkeys(found))


def write_design(folder: Path) -> None:
    """Write the sweeps of the design; raises OSError."""
    write_sweeps(folder, readings(), DESIGN)


def write_asked(folder: Path, out: Path) -> None:
    """Write the sweep of each reading with an expectation; raises UserError, OSError."""
    for row in read_expectations(out).fillna("").to_dict("records"):
        extent = AGAIN if row[NAME].startswith(SECOND) else CONFIRMING
        if row.get("speeds"):
            extent = extent_of(row["speeds"], row["seeds"], row["seconds"])
        write_sweep(folder, row[NAME], reading_of(row[CHANGES]), extent)


def write_analysis(folder: Path, out: Path) -> None:
    """Write the design with its verdicts, rows, effects, predictions and model; raises UserError, OSError."""
    margins = margins_of(measured_readings(readings(), folder, out))
    table = effects(margins)
    expected = pd.read_csv(PREDICTIONS, index_col="choice", dtype=str, keep_default_na=False)
    verdict_table(margins, readings()).to_csv(out / "readings.csv", index=False)
    unlike_claims(row_means(margins)).to_csv(out / ROWS, index=False, float_format="%.6g")
    claim_table(margins, table).to_csv(out / "claims.csv", index=False)
    table.to_csv(out / "effects.csv", index=False, float_format="%.3g")
    against_predictions(table, expected).to_csv(out / "predictions.csv", index=False)
    _write_model(out)


def unlike_claims(rows: pd.DataFrame) -> pd.DataFrame:
    """Without the claims of the second count whose rows all equal those of the first: they are not about messages."""
    repeated = rows.duplicated([column for column in rows if column != UNCOUNTED])
    return rows[~repeated.groupby([rows[CLAIM], rows[UNCOUNTED]]).transform("all")]


# The model, and the readings to run


def read_rows(out: Path) -> pd.DataFrame:
    """The means of the design's rows, each with its choices; raises UserError."""
    return with_choices(read_table(out / ROWS, _ANALYSE, dtype={READING: str}), readings())


def _write_model(out: Path) -> None:
    """Write the model's coverage of rows left out, the verdicts that it expects of these, and power."""
    rows = read_rows(out)
    models = part_models(rows[rows[UNCOUNTED] == 0])
    coverage_table(models).to_csv(out / "coverage.csv", index=False, float_format=_DIGITS)
    verdicts_left_out(models, read_verdicts(out)).to_csv(out / "left-out.csv", index=False, float_format="%.3f")
    power_table(models).to_csv(out / "power.csv", index=False, float_format=_DIGITS)


def write_ranked(folder: Path, out: Path) -> None:
    """Write the readings to run with their expectations; raises UserError, OSError."""
    _expect_nothing_yet(out / RANKED)
    rows = read_rows(out)
    _write_chosen(top(ranked(rows)), out / RANKED, folder, CONFIRMING)


def write_again(folder: Path, out: Path) -> None:
    """Write a second round, from a model of all that was run, and its coverage; raises UserError, OSError."""
    _expect_nothing_yet(out / AGAIN_RANKED)
    confirmed = _confirmed(_alike(read_expectations(out)), folder, out)
    named = {**readings(), **confirmed}
    results = ((named[name], measured) for name, measured in measured_readings(named, folder, out))
    rows = pooled_rows(pooled_margins(results))
    models = part_models(rows[rows[UNCOUNTED] == 0])
    coverage_table(models).to_csv(out / "coverage-again.csv", index=False, float_format=_DIGITS)
    _write_chosen(next_readings(rows, confirmed.values()), out / AGAIN_RANKED, folder, AGAIN)


def _alike(asked: pd.DataFrame) -> pd.DataFrame:
    """The expectations of runs that are as long as the design's."""
    return asked[asked["seconds"] == str(DESIGN.time_limit)]


def _confirmed(asked: pd.DataFrame, folder: Path, out: Path) -> dict[str, Reading]:
    """The readings with these expectations that were run, by name."""
    named = zip(asked[NAME], asked[CHANGES], strict=True)
    return {name: reading_of(str(words)) for name, words in named if is_there(name, folder, out)}


def _write_together(table: pd.DataFrame, out: Path) -> None:
    """Write what was found by reading, and by choice, and what the design's model gave readings outside of it."""
    pooled_table(table).to_csv(out / "pooled.csv", index=False)
    single_changes(table).to_csv(out / "single.csv", index=False, float_format=_DIGITS)
    if (out / ROWS).is_file():
        rows, first = pooled_rows(table), read_rows(out)
        new = rows[(rows[UNCOUNTED] == 0) & ~rows[READING].isin(map(changes, readings().values()))]
        models = part_models(first[first[UNCOUNTED] == 0])
        foreseen(models, new).to_csv(out / "foreseen.csv", index=False, float_format=_DIGITS)


def pooled_table(table: pd.DataFrame) -> pd.DataFrame:
    """A row for each different reading and count of messages: its seeds, and the claims that hold."""
    rows = []
    for words, uncounted, of_result in results(table):
        said = holding(verdicts(of_result))
        by_holm = corrected(parts_of(of_result))
        numbers = (of_result[SEED].nunique(), len(said), " ".join(map(str, said)), len(by_holm))
        rows.append((words, uncounted, *numbers))
    return pd.DataFrame(rows, columns=[CHANGES, UNCOUNTED, "seeds", "found", WHICH, "found by Holm"])


def _expect_nothing_yet(file: Path) -> None:
    """Raise UserError if there are expectations: new ones after the runs would be none."""
    if file.exists():
        raise UserError(f"{file}: expectations are written once, before the runs: remove the file to begin again")


def _write_chosen(chosen: pd.DataFrame, file: Path, folder: Path, extent: Extent) -> None:
    expectations(chosen, extent).to_csv(file, index=False, float_format="%.2f")
    write_sweeps(folder, {row[NAME]: reading_in(row) for _, row in chosen.iterrows()}, extent)


def expectations(chosen: pd.DataFrame, extent: Extent) -> pd.DataFrame:
    """The chosen readings as a table of expectations of these runs, like the one by hand."""
    claims = [column for column in chosen if str(column).startswith("claim ")]
    head = chosen[[NAME]].copy()
    head[CHANGES] = [changes(reading_in(row)) for _, row in chosen.iterrows()]
    head[UNCOUNTED] = chosen[UNCOUNTED]
    head = head.assign(seeds=extent.seed_count, seconds=extent.time_limit)
    return pd.concat([head, chosen[[EXPECTED, "9 or more", "10 or more", *claims]]], axis=1)


def read_verdicts(out: Path) -> pd.DataFrame:
    """The verdicts on the design's rows by reading, with acknowledgements as messages; raises UserError."""
    table = read_table(out / "readings.csv", _ANALYSE, dtype={READING: str})
    return table[table[UNCOUNTED] == 0].set_index(table[READING].str.zfill(2)[table[UNCOUNTED] == 0])


# Readings that were run


def write_confirmed(folder: Path, out: Path) -> None:
    """Write expected and found counts of the readings run, and their quantities; raises UserError, OSError."""
    asked = read_expectations(out)
    confirmed = _confirmed(asked, folder, out)
    measured = dict(measured_readings(confirmed, folder, out))
    margins = margins_of(measured.items()) if measured else None
    run_table(asked, margins).to_csv(out / "run.csv", index=False)
    ways = dict(zip(asked[NAME], asked[UNCOUNTED], strict=True))
    counted = ((name, _as_counted(runs, ways[name])) for name, runs in measured.items())
    sides = [published_sides(REPRODUCTION), *starmap(side_table, counted)]
    pd.concat(sides).to_csv(out / "sides.csv", index=False)
    if margins is not None:
        quantity_table(margins).to_csv(out / "best.csv", index=False, float_format=_DIGITS)
    if alike := [(confirmed[name], measured[name]) for name in _alike(asked)[NAME] if name in measured]:
        _write_together(pooled_margins(alike), out)


def _as_counted(measured: Measurements, uncounted: str) -> Measurements:
    """The runs with the count of messages that the expectation is about."""
    return without_acknowledgements(measured) if int(uncounted) else measured


def read_expectations(out: Path) -> pd.DataFrame:
    """The expectations by hand and by the model, in one table; raises UserError."""
    there = [out / name for name in (BY_HAND, RANKED, AGAIN_RANKED) if (out / name).is_file()]
    tables = [pd.read_csv(file, dtype=str, keep_default_na=False) for file in there]
    if not tables:
        raise UserError(f"{out}: neither {BY_HAND} nor {RANKED} is there: write one with the task rank")
    return pd.concat(tables, ignore_index=True)


def run_table(asked: pd.DataFrame, margins: pd.DataFrame | None) -> pd.DataFrame:
    """A row for each expectation: the number found, which claims, and the same on fresh seeds and by Holm.

    A reading that was not run has empty cells. An expectation is about one count of messages.
    """
    rows = []
    for _, row in asked.iterrows():
        reading_of(str(row[CHANGES]))  # a word that is no choice would go unseen
        said = {column: row[column] for column in (NAME, CHANGES, UNCOUNTED, "seconds", EXPECTED)}
        rows.append({**said, **_found(margins, str(row[NAME]), int(row[UNCOUNTED]))})
    return pd.DataFrame(rows)


def _found(margins: pd.DataFrame | None, name: str, uncounted: int) -> dict[str, object]:
    if margins is None or name not in set(margins[READING]):
        return dict.fromkeys(["seeds", "found", WHICH, "fresh seeds", "found with fresh", "found by Holm"], "")
    of_result = margins[(margins[READING] == name) & (margins[UNCOUNTED] == uncounted)]
    fresh = of_result[of_result[SEED] >= SELECTING]
    said = holding(verdicts(of_result))
    return {
        "seeds": of_result[SEED].nunique(),
        "found": len(said),
        WHICH: " ".join(map(str, said)),
        "fresh seeds": fresh[SEED].nunique(),
        "found with fresh": len(holding(verdicts(fresh))),
        "found by Holm": len(corrected(parts_of(of_result))),
    }


def corrected(parts: Mapping[int, list[Part]]) -> list[int]:
    """The claims that hold with Holm's correction over all claims of the reading.

    A claim's p is the largest of its parts, or 1 if a part is on the other side.
    """
    largest = [max(part.p if part.supports else 1.0 for part in of_claim) for of_claim in parts.values()]
    adjusted = holm([1.0 if np.isnan(p) else p for p in largest])
    return [claim for claim, p in zip(parts, adjusted, strict=True) if p < SIGNIFICANCE]


def quantity_table(margins: pd.DataFrame) -> pd.DataFrame:
    """A row for each part of each result: mean, interval, p, and the seeds above, at and below the bound."""
    rows = []
    for name, uncounted, of_result in results(margins):
        said = verdicts(of_result)
        for claim, part in _each_part(parts_of(of_result)):
            values = of_result[(of_result[CLAIM] == claim) & (of_result[PART] == part.label)][MARGIN]
            signs = (int((values > 0).sum()), int((values == 0).sum()), int((values < 0).sum()))
            numbers = (part.mean, part.half_width, part.seeds, part.p, *signs)
            rows.append((name, uncounted, claim, said[claim].value, part.label, *numbers))
    columns = ["verdict", PART, "margin", "half_width_95", "seeds", "p", "above", "tied", "below"]
    return pd.DataFrame(rows, columns=[READING, UNCOUNTED, CLAIM, *columns])


def _each_part(parts: Mapping[int, Iterable[Part]]) -> Iterable[tuple[int, Part]]:
    return ((claim, part) for claim, of_claim in parts.items() for part in of_claim)
