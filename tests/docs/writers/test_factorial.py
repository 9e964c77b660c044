"""The factorial over the open choices: the design separates main effects, and the analysis finds what was put in."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from docs.writers.factorial import (
    CHOICES,
    UNCOUNTED,
    Judged,
    against_predictions,
    best_readings,
    chains,
    design_columns,
    effects,
    judged,
    main,
    predicted,
    readings,
    sweep_text,
    without_acknowledgements,
)
from roambus.experiments.claims import Verdict
from roambus.experiments.sweeps.sweep_file import read_sweep
from roambus.spark.metrics import catalogue as c
from tests.experiments.measured import measurements


def test_no_main_effect_shares_its_column_with_another_or_with_a_pair() -> None:
    columns = design_columns()
    assert len(columns) == len(CHOICES) + len(chains())
    for column, two in itertools.combinations(columns.values(), 2):
        assert column @ two == 0


def test_acknowledgements_that_do_not_count_are_no_messages() -> None:
    """A quarter of all here, of nodes as of the whole."""
    measured = measurements(seeds=2)
    runs = measured.runs.assign(sent_ACK=measured.runs[c.MESSAGES] / 4)
    left = without_acknowledgements(replace(measured, runs=runs)).runs
    for metric in (c.MESSAGES, c.MESSAGES_PER_NODE):
        assert left[metric].to_numpy() == pytest.approx(runs[metric].to_numpy() * 0.75)


def test_every_reading_is_a_sweep_of_both_protocols_and_the_first_changes_nothing(tmp_path: Path) -> None:
    for number, reading in enumerate(readings()):
        file = tmp_path / f"{number}.toml"
        file.write_text(sweep_text(reading, (2, 8), 3), encoding="utf-8")
        sweep = read_sweep(str(file))
        assert [agent.label for agent in sweep.agents] == ["mft", "aodv"]
    nothing = dict.fromkeys(readings()[0], False)
    assert "mft.parameters = {  }" in sweep_text(nothing, (2, 8), 3)


def test_an_effect_that_was_put_in_is_found_and_decides_which_reading_is_best() -> None:
    rng = np.random.default_rng(1)
    found = {}
    for number, reading in enumerate(readings(), start=1):
        margin = -1.0 + (2.0 if reading["load"] else 0.0) + rng.normal(0, 0.05, 3)
        for uncounted in (False, True):
            rows = [(1, "part", seed, value + 0.5 * uncounted) for seed, value in enumerate(margin)]
            table = pd.DataFrame(rows, columns=["claim", "part", "seed", "margin"])
            found[number, uncounted] = Judged({1: Verdict.NOT_SIGNIFICANT}, table)
    table = effects(found)
    counted = table[table[UNCOUNTED] == 0].set_index("effect")
    assert counted["half"]["load"] == pytest.approx(1.0, abs=0.02)
    assert counted["p"]["load"] < 0.001
    without = table[table[UNCOUNTED] == 1].set_index("effect")
    change = without["half"].to_dict()["mean"] - counted["half"].to_dict()["mean"]
    assert change == pytest.approx(0.5)
    mains = counted.loc[[choice.name for choice in CHOICES], "significant"]
    assert mains["load"]
    assert mains.sum() < 3, "some by chance"
    best = predicted(table).iloc[0]
    assert best["claims"] == 1
    assert best["load"]
    assert best["changes"] == 1
    assert [reading["load"] for reading in best_readings(table, 2)] == [True, False]
    signs = pd.DataFrame({"1": ["+", "", "-"]}, index=["load", "places", UNCOUNTED])
    compared = against_predictions(table, signs).set_index("choice")
    assert compared["found"].to_dict() == {"load": "+", "places": "", UNCOUNTED: "+"}


def test_a_margin_is_positive_on_the_claimed_side() -> None:
    measured = measurements(configs=("C2", "C4", "C8"), speeds=("2", "8"), seeds=3)
    judgement = judged(measured)
    for claim, verdict in judgement.verdicts.items():
        if verdict is Verdict.HOLDS:
            parts = judgement.margins[judgement.margins["claim"] == claim].groupby("part")["margin"].mean()
            assert (parts > 0).all()


def test_tables_without_a_place_to_go_are_a_mistake(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyse", str(tmp_path)]) == 1
    assert "--out says where the tables go" in capsys.readouterr().err
