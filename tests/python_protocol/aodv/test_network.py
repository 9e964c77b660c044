"""AODV in networks of ideal links: delivery, shortest ways, and what follows a break."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roambus.bridge.scenario.definition import Workload
from roambus.bridge.scenario.plans import LinkChange
from roambus.python_protocol.aodv import Aodv
from roambus.python_protocol.simtime import SECOND
from tests.support.graphs import connected_graphs
from tests.support.runs import Edges, Row, distances, of, publishing, run

MODES = [
    {"profile": "rfc"},
    {"profile": "thesis"},
    {"profile": "derived", "hello_always": "on", "destination_only": "true"},
    {"link_layer": "false"},
    {"profile": "thesis", "link_layer": "false"},
    {"destination_only": "true", "gratuitous_rrep": "true", "rrep_ack": "true", "local_repair": "true"},
]
SQUARE: Edges = [(0, 1), (1, 2), (2, 3), (0, 4), (4, 5), (5, 3)]
"""Two ways of three hops from 0 to 3."""
LONG_ENOUGH = 120 * SECOND
"""For a node with derived constants, which sends one request a second, to search a dozen destinations ring by ring."""


def delivered(rows: list[Row]) -> list[tuple[int, str]]:
    return [(row["node"], row["notification_id"]) for row in of(rows, "deliver")]


@pytest.mark.parametrize("mode", MODES)
@given(connected_graphs(), st.integers(0, 100))
@settings(max_examples=8)
def test_everything_arrives_once_in_a_static_connected_graph(
    mode: dict[str, str], graph: tuple[int, Edges], seed: int
) -> None:
    """Every subscriber gets every notification, whatever the options, and nothing is dropped."""
    nodes, links = graph
    workload = publishing(0, range(nodes), start=SECOND, until=4 * SECOND)
    rows = run(Aodv, nodes, links, workload, time_limit=LONG_ENOUGH, parameters=mode, seed=seed)
    published = [row["notification_id"] for row in of(rows, "publish")]
    assert sorted(delivered(rows)) == sorted((node, entry) for node in range(nodes) for entry in published)
    assert of(rows, "drop") == []


@pytest.mark.parametrize("mode", MODES)
@given(connected_graphs(12), st.integers(0, 100))
@settings(max_examples=10)
def test_routes_of_a_static_graph_are_shortest(mode: dict[str, str], graph: tuple[int, Edges], seed: int) -> None:
    """With links of equal delay, no jitter and the D flag: the first request to arrive took a shortest way."""
    nodes, links = graph
    parameters = {**mode, "broadcast_jitter": "0s", "destination_only": "true"}
    assert hops_taken(nodes, links, parameters, seed) == shortest_ways(nodes, links)


@pytest.mark.parametrize("mode", MODES)
@given(connected_graphs(12), st.integers(0, 100))
@settings(max_examples=10)
def test_the_hops_of_a_delivery_are_those_that_the_packet_took(
    mode: dict[str, str], graph: tuple[int, Edges], seed: int
) -> None:
    """With jitter, and answers of nodes on the way, a way can be longer than the shortest; it is never told shorter."""
    nodes, links = graph
    rows = run(
        Aodv, nodes, links, publishing(0, [nodes - 1], start=SECOND, until=2 * SECOND), parameters=mode, seed=seed
    )
    (delivery,) = of(rows, "deliver")
    transmissions = [row for row in of(rows, "send") if row["message_type"] == "PACKET"]
    assert delivery["hops"] == len(transmissions)
    assert delivery["hops"] >= shortest_ways(nodes, links)[nodes - 1, 0]


@pytest.mark.parametrize(("jitter", "lengths"), [("0s", {2}), ("10ms", {2, 3})])
def test_jitter_can_let_a_longer_way_win(jitter: str, lengths: set[int]) -> None:
    """Two ways, of two and of three hops: the destination answers the request that arrives first, and only that."""
    pentagon = [(0, 1), (1, 2), (0, 3), (3, 4), (4, 2)]
    workload = publishing(0, [2], start=SECOND, until=2 * SECOND)
    parameters = {"broadcast_jitter": jitter, "ttl_start": "3"}
    runs = [run(Aodv, 5, pentagon, workload, parameters=parameters, seed=seed) for seed in range(20)]
    assert {row["hops"] for rows in runs for row in of(rows, "deliver")} == lengths


def hops_taken(nodes: int, links: Edges, parameters: dict[str, str], seed: int) -> dict[tuple[int, int], int]:
    """(subscriber, publisher) to hops, where the first and the last node publish once for all others."""
    parts = [
        publishing(publisher, range(nodes), start=start * SECOND, until=(start + 1) * SECOND)
        for publisher, start in ((0, 3), (nodes - 1, 6))
    ]
    workload = Workload(parts[0].subscriptions, parts[0].publications + parts[1].publications)
    rows = run(Aodv, nodes, links, workload, time_limit=LONG_ENOUGH, parameters=parameters, seed=seed)
    return {(row["node"], int(row["notification_id"].split(".")[0])): row["hops"] for row in of(rows, "deliver")}


def shortest_ways(nodes: int, links: Edges) -> dict[tuple[int, int], int]:
    """What `hops_taken` is at best."""
    ways = {publisher: distances(nodes, links, publisher) for publisher in (0, nodes - 1)}
    return {
        (node, publisher): way for publisher, found in ways.items() for node, way in enumerate(found) if way is not None
    }


@pytest.mark.parametrize("mode", MODES)
def test_after_a_break_another_way_is_found(mode: dict[str, str]) -> None:
    """Whichever of the two ways is in use, one of the breaks hits it; within seconds everything arrives again."""
    changes = [
        LinkChange(8 * SECOND, 1, 2, False),
        LinkChange(16 * SECOND, 1, 2, True),
        LinkChange(16 * SECOND, 4, 5, False),
    ]
    rows = run(Aodv, 6, SQUARE, publishing(0, [3], start=SECOND, until=26 * SECOND), changes=changes, parameters=mode)
    arrived = [row["time_s"] for row in of(rows, "deliver")]
    for start, end in ((1, 8), (12, 16), (20, 26)):
        published = [row for row in of(rows, "publish") if start < row["time_s"] < end - 0.5]
        assert len([time for time in arrived if start < time < end]) >= len(published)


@pytest.mark.parametrize("profile", ["rfc", "thesis"])
def test_a_break_is_reported_to_the_publisher_which_searches_again(profile: str) -> None:
    """Section 6.11: a RERR from the node before the break, then a RREQ from the publisher."""
    changes = [LinkChange(8 * SECOND, 1, 2, False)]
    parameters = {"profile": profile, "link_layer": "false", "ttl_start": "35"}
    workload = publishing(0, [3], start=SECOND, until=20 * SECOND)
    rows = run(Aodv, 6, SQUARE[:3], workload, changes=changes, parameters=parameters)
    after = [(row["node"], row["message_type"]) for row in of(rows, "send") if row["time_s"] > 8]
    assert (1, "RERR") in after
    assert (0, "RREQ") in after[after.index((1, "RERR")) :]
    assert not [row for row in of(rows, "deliver") if row["time_s"] > 8.1]


def test_a_partition_drops_what_waits_and_a_merge_finds_the_way_again() -> None:
    """Without any way, packets are given up with their reason; with one, later ones arrive."""
    changes = [LinkChange(0, 0, 1, False), LinkChange(60 * SECOND, 0, 1, True)]
    workload = publishing(0, [1], start=SECOND, until=90 * SECOND)
    rows = run(Aodv, 2, [(0, 1)], workload, changes=changes, time_limit=100 * SECOND)
    reasons = {row["detail"] for row in of(rows, "drop")}
    assert reasons == {"no route"}
    assert {row["peer"] for row in of(rows, "drop")} == {1}
    assert min(row["time_s"] for row in of(rows, "deliver")) > 60
    assert len(of(rows, "deliver")) + len(of(rows, "drop")) == len(of(rows, "publish"))


def test_the_same_seed_gives_the_same_run() -> None:
    """Jitter and hello times come from the seed alone."""
    workload = publishing(0, [3], start=SECOND, until=5 * SECOND)
    runs = [run(Aodv, 6, SQUARE, workload, parameters={"profile": "thesis"}, seed=seed) for seed in (1, 1, 2)]
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]


def transcript(rows: list[Row]) -> list[str]:
    """Each packet sent as "time node -> peer MESSAGE", and deliveries, in order; times in ms after the first."""
    kept = [row for row in rows if row["event"] in ("send", "deliver")]
    start = kept[0]["time_s"]
    return [_line(row, round((row["time_s"] - start) * 1000)) for row in kept]


def _line(row: Row, milliseconds: int) -> str:
    if row["event"] == "deliver":
        return f"{milliseconds} {row['node']} delivers after {row['hops']} hops"
    return f"{milliseconds} {row['node']} -> {'all' if row['peer'] is None else row['peer']} {row['message_type']}"


def test_a_discovery_in_a_line_of_four() -> None:
    """Two rings are searched; the answer and the packet go along the line (links of 1 ms, no jitter)."""
    parameters = {"broadcast_jitter": "0s", "link_layer": "false"}
    workload = publishing(0, [3], start=SECOND, until=2 * SECOND)
    rows = run(Aodv, 4, [(0, 1), (1, 2), (2, 3)], workload, parameters=parameters, time_limit=3 * SECOND)
    lines = [line for line in transcript(rows) if "HELLO" not in line]
    assert lines == [
        "0 0 -> all RREQ",
        "1 1 -> all RREQ",
        "320 0 -> all RREQ",
        "321 1 -> all RREQ",
        "322 2 -> all RREQ",
        "323 3 -> 2 RREP",
        "324 2 -> 1 RREP",
        "325 1 -> 0 RREP",
        "326 0 -> 1 PACKET",
        "327 1 -> 2 PACKET",
        "328 2 -> 3 PACKET",
        "329 3 delivers after 3 hops",
    ]
