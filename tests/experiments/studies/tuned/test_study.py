"""The study of the tuned profiles: its claims on made-up numbers, its ablations, and its tables."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import pandas as pd
import pytest

from roambus.experiments.claims import Verdict, check
from roambus.experiments.figures.figure import look_up
from roambus.experiments.measurements import Measurements
from roambus.experiments.studies.tuned.study import (
    MOVING_CLAIMS,
    ONLY,
    STATIC_CLAIMS,
    STUDY,
    WITHOUT,
    change_plans,
    change_tables,
    moving_plans,
)
from roambus.experiments.sweeps.sweep_file import read_sweep
from roambus.python_protocol.aodv import AodvParameters
from roambus.python_protocol.mft.parameters import MftParameters
from roambus.python_protocol.settings import Parameters, parse_parameters
from roambus.spark.aggregation.aggregate import mean_points
from roambus.spark.metrics import catalogue as c

AGENTS = ("mft", "mft-tuned", "aodv", "aodv-tuned", "flooding", "gossip", "gossip-repair")
MESSAGES = {"mft": 6000, "mft-tuned": 900, "aodv": 10000, "aodv-tuned": 2000, "flooding": 1000, "gossip": 300}
DELIVERED = {"mft": 0.7, "mft-tuned": 0.995, "aodv": 0.1, "aodv-tuned": 0.97, "flooding": 1.0, "gossip": 0.998}
Change = Callable[[dict[str, Any]], Mapping[str, float]]


def measured(
    change: Change = lambda _: {}, *, configs: Sequence[str] = ("C2", "C32"), agents: Sequence[str] = AGENTS
) -> Measurements:
    """Three seeds of which every claim is true; `change` gives other values to some runs."""
    runs = []
    for agent, config, seed in itertools.product(agents, configs, range(3)):
        run = {
            "agent": agent,
            "config": config,
            "speed": "8",
            "seed": seed,
            c.DELIVERY_RATE_ALL: (DELIVERED.get(agent, 0.9) if config == "C32" else 0.9995) + seed * 1e-4,
            c.MESSAGES_PER_NODE: float(MESSAGES.get(agent, 500) + seed),
            c.DELAY_MEAN_S: 0.5 + seed * 1e-3,
            c.HOPS_MEAN: 2.0,
            c.ENERGY_PER_NODE_MJ: 43000.0,
            c.MIGRATIONS: 0,
        }
        runs.append({**run, **change(run)})
    table = pd.DataFrame(runs)
    return Measurements(table, mean_points(table), {"agents": dict.fromkeys(agents)})


def verdicts(found: Measurements) -> list[Verdict]:
    return [claim.verdict for claim in check(MOVING_CLAIMS, found)]


def test_claims_hold_on_numbers_that_are_as_claimed() -> None:
    """All of them, in the sweep of moving nodes and in that of static ones."""
    assert verdicts(measured()) == [Verdict.HOLDS] * 6
    assert [claim.verdict for claim in check(STATIC_CLAIMS, measured(configs=("C16",)))] == [Verdict.HOLDS]


@pytest.mark.parametrize(
    ("number", "agent", "config", "metric", "value"),
    [
        (1, "mft-tuned", "C32", c.DELIVERY_RATE_ALL, 0.98),
        (1, "mft-tuned", "C32", c.DELAY_MEAN_S, 2.0),
        (2, "mft-tuned", "C32", c.MESSAGES_PER_NODE, 1100.0),
        (3, "aodv-tuned", "C32", c.DELIVERY_RATE_ALL, 0.9),
        (3, "aodv-tuned", "C32", c.MESSAGES_PER_NODE, 2600.0),
        (4, "mft-tuned", "C2", c.DELIVERY_RATE_ALL, 0.99),
        (5, "aodv-tuned", "C2", c.DELIVERY_RATE_ALL, 0.99),
        (6, "gossip", "C2", c.MESSAGES_PER_NODE, 1200.0),
        (6, "gossip", "C32", c.DELIVERY_RATE_ALL, 0.99),
    ],
)
def test_one_number_on_the_wrong_side_and_the_claim_does_not_hold(
    number: int, agent: str, config: str, metric: str, value: float
) -> None:
    """Only that claim, for the others do not look at it."""

    def change(run: dict[str, Any]) -> Mapping[str, float]:
        here = (run["agent"], run["config"]) == (agent, config)
        return {metric: value + run["seed"] * 1e-4} if here else {}

    found = verdicts(measured(change))
    assert found[number - 1] is Verdict.DOES_NOT_HOLD
    assert set(found[: number - 1] + found[number:]) == {Verdict.HOLDS}


def test_a_migration_in_every_static_run_refutes() -> None:
    """Two, so that the mean is above one."""
    (claim,) = check(STATIC_CLAIMS, measured(lambda _: {c.MIGRATIONS: 2}, configs=("C16",)))
    assert claim.verdict is Verdict.DOES_NOT_HOLD


def test_without_the_largest_size_its_claims_are_not_measured() -> None:
    """As in quick runs."""
    assert verdicts(measured(configs=("C2",)))[:3] == [Verdict.NOT_MEASURED] * 3


def test_every_metric_has_figures_over_size_and_over_speed() -> None:
    """Their names differ through the whole study, with those of the ablations."""
    plans = list(moving_plans(measured()))
    assert {plan.x for plan in plans} == {"config", "speed"}
    changes = [plan for protocol in ("mft", "aodv") for plan in change_plans(measured(), protocol)]
    names = [plan.name for plan in (*plans, *changes)]
    assert len(names) == len(set(names))


CHANGED = ("thesis", "tuned", "only-one", "without-one", "only-two-words", "without-two-words")


def test_an_ablation_shows_each_change_alone_and_left_out() -> None:
    """Two figures a metric, both with the profiles themselves; a row of the table for each profile and each change."""
    found = measured(agents=CHANGED)
    alone, left_out = list(change_plans(found, "mft"))[:2]
    assert [series.label for series in look_up(found, alone).series] == ["thesis", "tuned", "one", "two-words"]
    assert {line.place["agent"] for line in left_out.lines} == {"thesis", "tuned", "without-one", "without-two-words"}
    rows = change_tables("mft", found)["mft-changes.md"].split("## C32")[1].splitlines()
    assert [row.split("|")[1].strip() for row in rows if row.startswith("| ")][-4:] == [
        "thesis",
        "tuned",
        "one",
        "two-words",
    ]
    assert [cell.strip() for cell in rows[-1].split("|")[2:8:3]] == ["0.900 ± 0.000", "0.900 ± 0.000"]


USUAL: dict[str, tuple[type[Parameters], str]] = {"aodv": (AodvParameters, "rfc")}
if MftParameters.profiles:
    USUAL["mft"] = (MftParameters, "thesis")
"""The class of parameters of each ablation's protocol, and the profile that the tuned one is compared with."""


@pytest.mark.parametrize("protocol", USUAL)
def test_the_changes_of_an_ablation_are_those_of_the_profile(protocol: str) -> None:
    """All of them together make the tuned profile of the other one, and without any of them it is the other one."""
    kind, usual = USUAL[protocol]
    agents = read_sweep(f"tuned-{protocol}-changes").agents
    for prefix, profile in ((ONLY, "tuned"), (WITHOUT, usual)):
        together: dict[str, str] = {}
        for agent in agents:
            if agent.label.startswith(prefix):
                together |= dict(agent.parameters)
        made, wanted = (behaviour(parse_parameters(kind, one)) for one in (together, {"profile": profile}))
        assert made == wanted


def behaviour(parameters: Any) -> dict[str, Any]:
    """What parameters come to, whatever profile they are said to be of."""
    named = {name: value for name, value in asdict(parameters).items() if name not in {"profile", "hello_always"}}
    return {**named, "hellos": getattr(parameters, "sends_hellos_always", None)}


def test_each_change_stands_alone_and_is_left_out() -> None:
    """Of both protocols, and each ablation has both profiles."""
    for protocol in ("mft", "aodv"):
        labels = [agent.label for agent in read_sweep(f"tuned-{protocol}-changes").agents]
        alone, left_out = (
            {one.removeprefix(each) for one in labels if one.startswith(each)} for each in (ONLY, WITHOUT)
        )
        assert alone == left_out
        assert len(labels) == 2 + 2 * len(alone)


def test_the_main_sweep_has_places_of_the_thesis_with_more_agents() -> None:
    """Some of its sizes and speeds, and fewer seeds and shorter runs, so that it ends; frames are of 802.15.4."""
    thesis, tuned = read_sweep("thesis"), STUDY.sweeps[0].asked
    for own, whole in zip(tuned.axes, thesis.axes, strict=True):
        assert own.name == whole.name
        assert own.values.items() <= whole.values.items()
    assert set(tuned.seeds) < set(thesis.seeds)
    assert dict(tuned.fixed) == {"frame_limit": 127, "fragments": True, "time_limit": 200, "publish_until": 143}
    assert [agent.label for agent in tuned.agents] == list(AGENTS)
