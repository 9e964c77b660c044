"""The data extraction rate of a gateway against pure ALOHA, and what each switch does to it."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from scipy import stats

from roambus.extensions.lora.radio.extraction_rate import (
    LORASIM,
    SIMPLE,
    SWITCHES,
    Case,
    closed_form,
    extraction_rate,
    factors_of,
    mean_and_half_width,
)

RESULTS = Path(__file__).parents[2] / "results"
SEEDS = range(4)


def rate(setting: str, nodes: int, switch: str) -> float:
    """Return the mean of some short runs."""
    cases = [Case(setting, nodes, seed, packets=2000) for seed in SEEDS]
    return sum(extraction_rate(case, SWITCHES[switch]) for case in cases) / len(SEEDS)


def test_without_capture_it_is_that_of_pure_aloha() -> None:
    """exp(-2 G), at two loads; capture saves frames."""
    for nodes in (100, 400):
        case = Case("SF12, 4/8", nodes, 0)
        assert rate("SF12, 4/8", nodes, "any overlap loses both") == pytest.approx(closed_form(case), abs=0.02)
        assert rate("SF12, 4/8", nodes, "LoRaSim, capture") > closed_form(case) + 0.05


def test_each_switch_costs_frames() -> None:
    """Where it concerns any: of other spreading factors only where there are some."""
    rates = {name: rate("least airtime", 1600, name) for name in SWITCHES}
    order = ["LoRaSim, capture", "early preambles harm others", "powers add up", "imperfect orthogonality"]
    assert [rates[name] for name in order] == sorted((rates[name] for name in order), reverse=True)
    assert rates["1 demodulator"] < rates["8 demodulators"] <= rates["imperfect orthogonality"]
    assert rate("SF12, 4/5", 400, "imperfect orthogonality") == rate("SF12, 4/5", 400, "powers add up")


def test_the_least_airtime_is_that_of_the_least_factor_within_reach() -> None:
    """By the sensitivities that were measured."""
    case = Case("least airtime", 3, 0)
    assert factors_of(case, (-120.0, -127.0, -134.4)) == (7, 8, 11)
    assert factors_of(case._replace(setting="SF12, 4/5"), (-120.0,) * 3) == (12, 12, 12)


def test_a_mean_has_an_interval() -> None:
    """Of Student's distribution."""
    mean, half = mean_and_half_width([1.0, 2.0, 3.0])
    assert mean == 2
    assert half == pytest.approx(2.484, abs=0.001)


def table(name: str) -> list[dict[str, str]]:
    """Return the rows of a table of results."""
    with (RESULTS / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_recorded_rates_agree_with_lorasims() -> None:
    """In each case that both have, by Welch's test at 5 %, corrected for the number of cases."""
    switch = {"0": "any overlap loses both", "1": "LoRaSim, capture"}
    own = {tuple(row[key] for key in ("setting", "switch", "law", "nodes")): row for row in table("extraction.csv")}
    cases = table("lorasim.csv")
    assert len(cases) == 40
    for row in cases:
        mine = own[row["setting"], switch[row["full_collision"]], row["law"], row["nodes"]]
        assert row["seeds"] == mine["seeds"] == "10"
        errors = [float(each["half_width"]) / stats.t.ppf(0.975, 9) for each in (row, mine)]
        bound = stats.t.ppf(1 - 0.05 / len(cases) / 2, 9) * (errors[0] ** 2 + errors[1] ** 2) ** 0.5
        assert abs(float(row["rate"]) - float(mine["rate"])) < bound, row


def test_the_settings_are_what_their_names_say() -> None:
    """The simple check takes no part of a preamble for granted, and knows no capture."""
    assert (SIMPLE.needed, SIMPLE.preamble, SIMPLE.capture_db) == (8, 8, 300)
    assert (LORASIM.needed, LORASIM.capture_db, LORASIM.adds_up, LORASIM.is_imperfect) == (5, 6, False, False)
