"""Whatever the file system takes for a name is a name, and no pattern."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
import pytest

from roambus.spark.aggregation.aggregate import aggregate
from roambus.spark.aggregation.traces import list_traces
from tests.spark.synthetic import random_trace, write_trace

NAMES = [
    *("run [1]", "a?b", "{a,b}", "*", "**", "a\\b", "a\\[b", "#", "%20", "a b", "new\nline", "leading-"),
    *("naïve", "日本語", ":", "a:b", "$\\frac{", "~", "'", '"', "`", "&", ";", "a,b", "file:", "\x7f"),
    *("e\u0301", "x" * 200, "_hidden", ".hidden", os.fsdecode(b"\xff\xfe")),
]


@pytest.mark.usefixtures("session")
def test_any_name_of_a_folder_and_of_an_agent(tmp_path: Path) -> None:
    """Each is a level of the path to the results. Names of agents are text without control characters."""
    results = tmp_path.joinpath(*NAMES)
    for number, name in enumerate(NAMES):
        write_trace(results, f"agent={name}/seed={number}", random_trace(number, publications=3))
    endings = sorted(problem.rpartition("the name of a folder ")[2] for problem in aggregate(results))
    assert endings == [*["has control characters: remove or rename it"] * 2, "is not UTF-8: rename it"]
    refused = ("new\nline", "\x7f", NAMES[-1])
    seeds = [number for number, name in enumerate(NAMES) if name not in refused]
    assert sorted(pd.read_csv(results / "metrics" / "runs.csv")["seed"]) == seeds


@pytest.mark.parametrize(
    ("place", "formula"),
    [
        ("agent=a/speed==HYPERLINK(1)/seed=0", "=HYPERLINK(1)"),
        ("agent=@SUM(1)/seed=0", "@SUM(1)"),
        ("agent=a/+x=2/seed=0", "+x"),
        ("agent=a/speed=-1+cmd/seed=0", "-1+cmd"),
        ("agent=a/speed=-1.5e-3/seed=0", ""),
        ("agent=a/speed=+2/seed=0", ""),
        ("agent=a/buffer=-/seed=0", ""),
    ],
)
def test_a_name_that_a_spreadsheet_would_compute_is_refused(tmp_path: Path, place: str, formula: str) -> None:
    """It would stand in the tables as CSV. A number is none, nor is `-`, the value of an axis that an agent lacks."""
    _, problems = list_traces([write_trace(tmp_path, place, [])])
    assert [formula in line and "would be a formula" in line for line in problems.values()] == [True] * bool(formula)


@pytest.mark.parametrize("name", ["a\x1b]0;X\x07", "a\nb", "a\u202eb", "ä b", "日本"])
def test_a_name_with_control_characters_is_refused(tmp_path: Path, name: str) -> None:
    """Tables and figures would have it, and the warnings of those who draw them. Letters of any script are none."""
    _, problems = list_traces([write_trace(tmp_path, f"agent={name}/seed=0", [])])
    assert ["control characters" in line for line in problems.values()] == [True] * (not name.isprintable())


@pytest.mark.slow
@pytest.mark.usefixtures("session")
def test_a_name_does_not_stand_for_another(tmp_path: Path) -> None:
    """`a?b` is not `a#b`, though a pattern of that form would find it."""
    for name, seeds in (("a?b", [1]), ("a#b", [2]), ("[ab]", [3]), ("a", [4])):
        for seed in seeds:
            write_trace(tmp_path / name, f"agent=x/seed={seed}", random_trace(seed, publications=3))
    for name, seed in (("a?b", 1), ("a#b", 2), ("[ab]", 3)):
        aggregate(tmp_path / name)
        assert list(pd.read_csv(tmp_path / name / "metrics" / "runs.csv")["seed"]) == [seed]
