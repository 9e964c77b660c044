"""Which open choices decide which claims: variants are told apart, and the table says what the claims say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from docs.writers.open_choices import (
    BEGIN,
    END,
    OPEN_CLAIMS,
    findings,
    main,
    merged,
    sign_table,
    variants_of_agents,
    variants_of_settings,
)
from roambus.experiments.claims import Verdict
from roambus.experiments.measurements import Measurements
from roambus.experiments.sweeps.sweep_file import read_sweep
from roambus.spark.aggregation.aggregate import mean_points
from roambus.spark.metrics import catalogue as c
from tests.experiments.measured import measurements, plausible, write_measurements
from tests.support.documents import page


def labelled(agent: str, config: str, speed: str, seed: int) -> dict[str, Any]:
    """Plausible numbers of the protocol; without its link layer AODV takes most hops at C4."""
    run = plausible(agent.partition("-")[0], config, speed, seed)
    acks = {"sent_ACK": run[c.MESSAGES] // 4}
    hops = 9.0 if (agent, config) == ("aodv-bare", "C4") else 2.0
    return {**run, **acks, c.HOPS_MEAN: hops + seed / 100}


def of_agents() -> Measurements:
    agents = ("mft", "aodv", "aodv-bare", "mft-slow-timers", "aodv-slow-timers")
    found = measurements(labelled, configs=("C2", "C4", "C8"), speeds=("8",), seeds=3, agents=agents)
    return replace(found, sweep={**found.sweep, "study": None, "sweep": "open-agents"})


def of_settings() -> Measurements:
    found = measurements(labelled, configs=("C2", "C4"), speeds=("8",), seeds=3)
    runs = pd.concat([found.runs.assign(choice=name) for name in ("late-start", "quarter-load")], ignore_index=True)
    order = [
        "agent",
        "config",
        "speed",
        "choice",
        *(name for name in found.runs if name not in {"agent", "config", "speed"}),
    ]
    axes = {**found.sweep["axes"], "choice": ["late-start", "quarter-load"]}
    sweep = {**found.sweep, "axes": axes, "study": None, "sweep": "open-settings"}
    return replace(found, runs=runs[order], points=mean_points(runs[order]), sweep=sweep)


def test_a_choice_of_one_protocol_is_compared_with_the_base_of_the_other() -> None:
    """AODV alone is without its link layer; timers are slow in both."""
    found, variants = of_agents(), dict(variants_of_agents(of_agents()))
    assert list(variants) == ["base", "without-acks", "bare", "slow-timers"]
    for name, mft, aodv in (("bare", "mft", "aodv-bare"), ("slow-timers", "mft-slow-timers", "aodv-slow-timers")):
        for agent, label in (("mft", mft), ("aodv", aodv)):
            chosen = variants[name].runs[variants[name].runs.agent == agent]
            assert chosen[c.MESSAGES].tolist() == found.runs[found.runs.agent == label][c.MESSAGES].tolist()
        assert variants[name].agents == ["mft", "aodv"]


def test_a_choice_decides_the_claims_about_it() -> None:
    """The seventh holds with the hops that the variant has, and in no other one."""
    verdicts = {name: findings(measured)[7].claim.verdict for name, measured in variants_of_agents(of_agents())}
    assert verdicts.pop("bare") is Verdict.HOLDS
    assert Verdict.HOLDS not in verdicts.values()


def test_acknowledgements_that_do_not_count_are_no_messages() -> None:
    """A quarter of all here, of nodes as of the whole."""
    variants = dict(variants_of_agents(of_agents()))
    counted, base = (variants[name].runs for name in ("without-acks", "base"))
    assert (counted[c.MESSAGES] / base[c.MESSAGES]).to_numpy() == pytest.approx(0.75, abs=1e-3)
    assert (counted[c.MESSAGES_PER_NODE] / base[c.MESSAGES_PER_NODE]).to_numpy() == pytest.approx(0.75, abs=1e-3)


def test_settings_are_variants_without_their_axis() -> None:
    """Claims know sizes and speeds only."""
    variants = dict(variants_of_settings(of_settings()))
    assert list(variants) == ["late-start", "quarter-load"]
    assert all(variant.axes == ["config", "speed"] for variant in variants.values())


def test_what_one_sweep_did_not_measure_another_one_can_add() -> None:
    """A verdict that there is stays."""
    columns: dict[str, Any] = {}
    merged(columns, {"base": measurements(configs=("C2", "C4"), speeds=("8",), seeds=3)})
    before = columns["base"][7]
    assert sign_table(columns, [12]).splitlines()[-1] == "| 12 |  |"
    merged(columns, {"base": measurements(configs=("C2", "C8"), speeds=("2", "8"), seeds=3)})
    assert columns["base"][7] is before
    assert sign_table(columns, [12]).splitlines()[-1] in {f"| 12 | {sign} |" for sign in ("+", "-", "(+)", "(-)")}


@pytest.fixture
def results(tmp_path: Path) -> list[str]:
    """Of all three sweeps that the program knows."""
    thesis = measurements(configs=("C2", "C4"), speeds=("2", "8"), seeds=3)
    sweeps = {"agents": of_agents(), "settings": of_settings(), "uniform": thesis, "steady": thesis}
    for name, sweep in sweeps.items():
        (tmp_path / name).mkdir()
        write_measurements(sweep, tmp_path / name)
    return [str(tmp_path / name) for name in sweeps]


def test_the_tables_go_between_the_marks_of_the_page(results: list[str], tmp_path: Path) -> None:
    """What stands around them stays; each table has its claims, and its variants as columns."""
    page = tmp_path / "page.md"
    page.write_text(f"Before.\n{BEGIN}\nreplaced\n{END}\nAfter.\n")
    assert main([*results, "--page", str(page)]) == 0
    text = page.read_text()
    assert text.startswith("Before.\n")
    assert text.endswith("\nAfter.\n")
    assert "replaced" not in text
    first = "| claim | base | without-acks | bare | slow-timers | late-start | quarter-load |"
    assert first in text
    assert "| claim | uniform | steady |" in text
    rows = text.partition(first)[2].partition("| claim")[0].splitlines()[2:]
    assert [int(row.split("|")[1]) for row in rows if row] == list(OPEN_CLAIMS)
    numbers = (tmp_path / "page-numbers.txt").read_text()
    assert numbers.startswith("**base**")
    assert "**steady**" in numbers


def test_a_page_without_marks_is_an_error(
    results: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """So are results of another sweep; nothing is written."""
    page = tmp_path / "page.md"
    page.write_text("No marks.\n")
    assert main([results[0], "--page", str(page)]) == 1
    assert "has no <!-- tables --> and <!-- end of tables -->" in capsys.readouterr().err
    other = tmp_path / "flooding"
    other.mkdir()
    flooding = measurements(configs=("C2",), speeds=("8",), seeds=2, agents=("flooding",))
    write_measurements(replace(flooding, sweep={**flooding.sweep, "sweep": "flooding"}), other)
    assert main([str(other)]) == 1
    assert "results of flooding, not of open-agents" in capsys.readouterr().err
    assert page.read_text() == "No marks.\n"


def test_every_variant_of_the_page_is_in_a_sweep() -> None:
    """And every one of a sweep in the page's table of variants."""
    text = page("open-choices").read_text(encoding="utf-8")
    named = {
        line.split("|")[1].strip()
        for line in text.partition("## One choice at a time")[2].partition("Predictions were written")[0].splitlines()
        if line.startswith("| ")
    }
    agents = {agent.label.partition("-")[2] or "base" for agent in read_sweep("open-agents").agents}
    (choices,) = (axis for axis in read_sweep("open-settings").axes if axis.name == "choice")
    assert named - {"Variant"} == agents | set(choices.values) | {"without-acks"}
