"""The study of routing: its flows, its metrics and its claims, on small tables and traces."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import pandas as pd
import pytest

from roambus.bridge.formats.ini import parse_scenario
from roambus.experiments.claims import Verdict, check
from roambus.experiments.inventory import TEMPLATES
from roambus.experiments.measurements import Measurements
from roambus.experiments.templates.template import Values, find_template
from roambus.extensions.routing.study.study import (
    CLAIMS,
    PACKET_BYTES,
    ROUTING,
    ROUTING_BYTES,
    ROUTING_PACKETS,
    routing_plans,
)
from roambus.spark.aggregation.aggregate import mean_points
from roambus.spark.metrics import catalogue as c
from tests.spark.synthetic import measured, send

Effects = Mapping[tuple[str, str], tuple[float, float, float]]
"""Of an agent at a speed: its delivery rate, routing packets, and bytes of a packet."""
AS_CLAIMED: Effects = {
    ("dsdv", "1"): (0.97, 1000, 27),
    ("dsdv", "3"): (0.70, 1050, 27),
    ("dsr", "1"): (0.99, 50, 35),
    ("dsr", "3"): (0.97, 200, 36),
    ("aodv", "1"): (0.98, 100, 27),
    ("aodv", "3"): (0.96, 900, 27),
}


def measurements(effects: Effects) -> Measurements:
    """Three seeds at one size and number of flows."""
    runs = pd.DataFrame(
        {
            "agent": agent,
            "size": "18",
            "flows": "3",
            "speed": speed,
            "seed": seed,
            c.DELIVERY_RATE_ALL: rate + 0.001 * seed,
            ROUTING_PACKETS: packets + seed * len(agent),
            PACKET_BYTES: size + 0.1 * seed,
            **dict.fromkeys((c.DELAY_MEAN_S, c.HOPS_MEAN, c.air_bytes_per_node.column, ROUTING_BYTES), 1.0 + seed),
        }
        for ((agent, speed), (rate, packets, size)), seed in itertools.product(effects.items(), range(3))
    )
    return Measurements(runs, mean_points(runs), metrics=(*c.METRICS, *ROUTING.metrics))


def test_claims_hold_where_the_numbers_are_as_claimed() -> None:
    """Each has a verdict of its own."""
    assert {claim.verdict for claim in check(CLAIMS, measurements(AS_CLAIMED))} == {Verdict.HOLDS}


@pytest.mark.parametrize(
    ("place", "effects", "number"),
    [
        (("dsdv", "1"), (0.60, 1000, 27), 1),
        (("dsdv", "3"), (0.99, 1050, 27), 2),
        (("dsr", "3"), (0.80, 200, 36), 3),
        (("aodv", "3"), (0.80, 900, 27), 4),
        (("dsr", "1"), (0.99, 50, 20), 5),
        (("aodv", "3"), (0.96, 110, 27), 6),
        (("dsdv", "3"), (0.70, 3000, 27), 7),
        (("dsr", "3"), (0.97, 10, 36), 8),
    ],
)
def test_a_claim_does_not_hold_where_the_numbers_are_otherwise(
    place: tuple[str, str], effects: tuple[float, float, float], number: int
) -> None:
    """It is the one that these numbers are about."""
    claims = {claim.number: claim.verdict for claim in check(CLAIMS, measurements({**AS_CLAIMED, place: effects}))}
    assert claims[number] is Verdict.DOES_NOT_HOLD


def test_there_is_a_figure_for_each_metric_size_and_number_of_flows() -> None:
    """Over speed."""
    plans = list(routing_plans(measurements(AS_CLAIMED)))
    assert len(plans) == 6
    assert plans[0].name == "delivery-rate-all-size-18-flows-3"
    assert {plan.x for plan in plans} == {"speed"}


def test_routing_packets_are_those_without_a_notification() -> None:
    """Acknowledgements and fragments do not count."""
    rows = [
        send(1.0, 0, "RREQ", size=20),
        send(1.1, 1, "RREP", size=16),
        send(1.2, 0, "PACKET", size=30),
        send(1.3, 0, "PACKET", size=40),
        send(1.4, 0, "ACK", size=4),
    ]
    assert measured(ROUTING.metrics, rows) == {ROUTING_PACKETS: 2, ROUTING_BYTES: 36, PACKET_BYTES: 35}


@pytest.mark.parametrize(
    ("nodes", "flows", "ends"), [(18, 3, [3, 4, 5]), (18, 10, [10, 11, 12, 13, 14, 15, 16, 17, 0, 1])]
)
def test_a_flow_goes_from_a_node_to_another(nodes: int, flows: int, ends: list[int]) -> None:
    """Sources are the first nodes."""
    template = find_template("flows")
    variables: Values = {
        "seed": 0,
        "agent": "gpsr",
        "agent_parameters": "",
        "nodes": nodes,
        "flows": flows,
        "noise": 10,
    }
    scenario = parse_scenario(template.render(variables), template.file, TEMPLATES)
    publications = scenario.workload.publications
    assert [publication.node for publication in publications] == list(range(flows))
    assert [dict(publication.attributes)["destination"] for publication in publications] == ends
    assert {node.position_noise_m for node in scenario.nodes} == {10}
