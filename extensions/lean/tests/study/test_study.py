"""The study of interest: who is chosen in a cell, its maps and its claims, on small tables; and a small real sweep."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import roambus
from roambus.experiments.claims import Verdict, check
from roambus.experiments.figures.drawing import draw
from roambus.experiments.measurements import Measurements
from roambus.experiments.reporting.figure_files import draw_figures
from roambus.experiments.sweeps.sweep import expand
from roambus.extensions.lean.study.map import MapFigure
from roambus.extensions.lean.study.study import CLAIMS, STUDY, choose, interest_maps, interest_tables
from roambus.notebook import Settings
from roambus.spark.aggregation.aggregate import aggregate, mean_points
from roambus.spark.metrics import catalogue as c

HERE = {"rate": "10", "speed": "2", "interest": "0.125"}
Row = tuple[Sequence[float], Sequence[float]]
"""What an agent delivers in time and its bytes, for each seed."""


def cell(agents: Mapping[str, Row], oracles: Sequence[str] = ()) -> Measurements:
    """Measurements at one place."""
    runs = pd.DataFrame(
        {
            "agent": agent,
            **HERE,
            "seed": seed,
            c.delivery_rate_in_time.column: rate,
            c.DELIVERY_RATE_ALL: 1.0,
            c.air_bytes_per_node.column: cost,
            c.ENERGY_PER_NODE_MJ: 6000.0 + seed + cost / 1e9,
        }
        for agent, (rates, costs) in agents.items()
        for seed, (rate, cost) in enumerate(zip(rates, costs, strict=True))
    )
    return Measurements(runs, mean_points(runs), {"agents": dict.fromkeys(agents), "oracle_subscribers": list(oracles)})


GOOD, FAIR, BAD = (0.998, 0.997, 0.999), (0.985, 0.995, 0.999), (0.9, 0.91, 0.905)
CHEAP, DEAR = (1000.0, 1100.0, 1200.0), (2000.0, 2200.0, 2400.0)


def chosen(agents: Mapping[str, Row], oracles: Sequence[str] = ()) -> tuple[list[str], bool]:
    """Who reaches the cell, the cheapest first, and whether that is sure."""
    found = choose(cell(agents, oracles), c.air_bytes_per_node.column, HERE)
    assert found is not None
    return [candidate.agent for candidate in found.reaching], found.is_sure


def test_of_those_that_deliver_in_time_the_cheapest_is_chosen() -> None:
    """One that costs less and delivers too little does not count."""
    assert chosen({"a": (GOOD, DEAR), "b": (GOOD, CHEAP), "c": (BAD, (1.0, 1.0, 1.0))}) == (["b", "a"], True)


def test_the_ratio_is_that_of_runs_with_equal_seeds() -> None:
    """Seeds differ by more than the agents do, and still each pair says the same."""
    found = choose(
        cell({"a": (GOOD, (1000, 3000, 9000)), "b": (GOOD, (1100, 3300, 9900))}), c.air_bytes_per_node.column, HERE
    )
    assert found is not None
    assert found.reaching[1].over(found.reaching[0]) == pytest.approx((1.1, 1.1))
    assert found.is_sure


@pytest.mark.parametrize(
    "agents",
    [
        pytest.param({"a": (GOOD, (1000, 2000, 3000)), "b": (GOOD, (2000, 1000, 4000))}, id="costs overlap"),
        pytest.param({"a": (FAIR, CHEAP), "b": (GOOD, DEAR)}, id="a cheaper one may reach it"),
        pytest.param({"a": ((0.991, 0.999, 0.983), CHEAP)}, id="the chosen one may miss it"),
        pytest.param({"a": (GOOD[:1], CHEAP[:1]), "b": (GOOD[:1], DEAR[:1])}, id="one seed"),
    ],
)
def test_a_choice_that_other_seeds_could_change_is_not_sure(agents: Mapping[str, Row]) -> None:
    """It is drawn, and as what it is."""
    assert chosen(agents)[1] is False


def test_where_nobody_delivers_in_time_the_nearest_is_named() -> None:
    """It is sure where all are far away, and not where somebody's interval reaches the target."""
    assert chosen({"a": (BAD, CHEAP), "b": ((0.8, 0.81, 0.8), DEAR)}) == ([], True)
    assert chosen({"a": (BAD, CHEAP), "b": ((0.98, 0.995, 0.985), DEAR)}) == ([], False)
    (cells,) = maps(cell({"a": (BAD, CHEAP), "b": ((0.8, 0.81, 0.8), DEAR)}))[0].panels.values()
    assert cells["2", "1/8"].words == ("nobody", "nearest: a, 0.905")


def test_a_cell_that_is_not_sure_is_hatched(tmp_path: Path) -> None:
    """By lines that are not there in the same cell when it is sure; the words are the same."""
    drawn = []
    for name, rates in (("sure", GOOD), ("unsure", (0.991, 0.999, 0.983))):
        (figure, _) = maps(cell({"a": (rates, CHEAP)}))
        draw(replace(figure, name=name), tmp_path)
        drawn.append((tmp_path / f"{name}.svg").read_text(encoding="utf-8"))
    sure, unsure = (text.count("<path") for text in drawn)
    assert unsure > sure + 10
    assert all(">no other<" in text for text in drawn)


def test_who_is_told_the_subscribers_does_not_compete() -> None:
    """A designer cannot choose that, but the cell says what it would bring."""
    measured = cell({"a": (GOOD, DEAR), "knowing": (GOOD, CHEAP)}, oracles=["knowing"])
    assert chosen({"a": (GOOD, DEAR), "knowing": (GOOD, CHEAP)}, oracles=["knowing"]) == (["a"], True)
    (cells,) = maps(measured)[0].panels.values()
    assert cells["2", "1/8"].words[-1] == "oracle: knowing, 1.1 kB"


def test_costs_that_are_alike_choose_nobody() -> None:
    """Energy is that of listening, whatever is sent."""
    energy = maps(cell({"a": (GOOD, DEAR), "b": (GOOD, CHEAP)}))[1]
    (cells,) = energy.panels.values()
    assert cells["2", "1/8"].agent == ""
    assert cells["2", "1/8"].words == ("alike: 6 J", "b", "a")


def maps(measured: Measurements) -> list[MapFigure]:
    return list(interest_maps(measured))


def test_the_sweep_has_every_cell_with_every_agent() -> None:
    """At each rate as long as it takes, and with frames as IEEE 802.15.4 has them."""
    (sweep,) = STUDY.sweeps
    points = {(point.agent.label, point.axes): point.variables for point in expand(sweep.asked)}
    agents = {agent for agent, _ in points}
    assert {"flooding", "gossip", "gossip-repair", "mft-lean", "mft", "aodv-derived"} == agents
    assert len(points) == len(agents) * 4 * 2 * 3
    assert {variables["frame_limit"] for variables in points.values()} == {127}
    rates = {float(str(v["publishers"])) / float(str(v["publish_interval"])) for v in points.values()}
    assert rates == {1.0, 10.0}


Change = Callable[[str, Mapping[str, str]], float | None]


def everywhere(change: Change) -> Measurements:
    """Three seeds at every cell, of which all claims hold unless `change` gives what an agent delivers in time."""
    (sweep,) = STUDY.sweeps
    values = [list(axis.values) for axis in sweep.asked.axes]
    rows = []
    for agent, place, seed in itertools.product(sweep.asked.agents, itertools.product(*values), range(3)):
        at = dict(zip((axis.name for axis in sweep.asked.axes), place, strict=True))
        late = (agent.label == "flooding" and at["rate"] == "10") or agent.label == "aodv-derived"
        rate = change(agent.label, at) or (0.5 if late else 0.999)
        bytes_sent = {"mft": 9000.0, "mft-lean": 1000.0}.get(agent.label, 3000.0)
        rows.append(
            {
                "agent": agent.label,
                **at,
                "seed": seed,
                c.delivery_rate_in_time.column: rate + seed * 1e-5,
                c.DELIVERY_RATE_ALL: 1.0,
                c.air_bytes_per_node.column: bytes_sent + seed,
                c.ENERGY_PER_NODE_MJ: 6000.0,
            }
        )
    runs = pd.DataFrame(rows)
    return Measurements(runs, mean_points(runs), {"agents": {agent.label: None for agent in sweep.asked.agents}})


def test_claims_hold_where_numbers_are_as_claimed_and_one_cell_refutes() -> None:
    """Gossip that is late in one of 24 cells does not deliver everywhere; the other claims do not mind."""
    assert {claim.verdict for claim in check(CLAIMS, everywhere(lambda *_: None))} == {Verdict.HOLDS}

    def late(agent: str, at: Mapping[str, str]) -> float | None:
        return 0.9 if agent == "gossip" and at == {"rate": "1", "speed": "8", "interest": "1"} else None

    first, *others = check(CLAIMS, everywhere(late))
    assert first.verdict is Verdict.DOES_NOT_HOLD
    assert {claim.verdict for claim in others} == {Verdict.HOLDS}


def test_the_table_says_the_same_as_the_maps() -> None:
    """A row a cell, marked where it is not sure."""
    table = interest_tables(cell({"a": (FAIR, CHEAP), "b": (GOOD, DEAR)}))["interest.md"]
    assert "| 10 | 2 | 1/8 | a; 1.1 kB, 0.9930; b 2.00 times (?) |" in table


@pytest.mark.slow
@pytest.mark.usefixtures("session")
def test_the_maps_of_a_small_real_sweep_stand_in_its_report(tmp_path: Path) -> None:
    """With few nodes, so that it is quick: both maps are drawn, and the report has their words and who is told."""
    viewer = pytest.importorskip("roambus.extensions.viewer.report")
    few: Settings = {"publishers": 2, "subscribers": 4, "brokers": 2, "side": 30, "speed": 2, "rate": 10}
    agents = ["gossip", "flooding", "aodv-derived"]
    roambus.sweep("interest", agents, settings={**few, "interest": [0.25, 1]}, seeds=2, out=tmp_path, workers=1)
    aggregate(tmp_path)
    page = viewer.write_report(tmp_path).read_text(encoding="utf-8")
    assert "Who delivers at least 0.99 within a second for the least: bytes on the air" in page
    assert "The scenario gives the publishers of AODV, derived constants the list of subscribers." in page
    draw_figures(tmp_path)
    for cost in ("air-bytes-per-node", "energy-per-node-mj"):
        drawn = (tmp_path / "figures" / f"interest-map-{cost}.svg").read_text(encoding="utf-8")
        assert all(f">{text}<" in drawn for text in ("1/4", "all", "10 publications a second"))
        assert "kB, " in drawn or "alike: " in drawn
