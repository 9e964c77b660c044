"""No route ever leads in a circle, whatever links and nodes do (RFC 3561, abstract: "loop freedom at all times")."""

from collections.abc import Iterable

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from roambus.bridge.scenario.definition import Workload
from roambus.bridge.scenario.plans import Fault, FaultKind, LinkChange
from roambus.bridge.system.errors import AgentError
from roambus.python_protocol.aodv.routing_table import RoutingTable
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime
from tests.python_protocol.aodv.watched import Watched
from tests.support.graphs import edges
from tests.support.runs import Edges, publishing, run

NODES = 6
TIME_LIMIT = 45 * SECOND
KINDS = [FaultKind.CRASH, FaultKind.FREEZE]
FIRST_NUMBERS = [0, 2**31 - 4, 2**32 - 4]
"""Where own numbers start: at the RFC's 0, where a signed number turns negative, and before 0 comes again."""

links = st.lists(edges(NODES), min_size=NODES, max_size=2 * NODES)
times = st.integers(0, 25_000).map(lambda milliseconds: milliseconds * MILLISECOND)
changes = st.lists(
    st.tuples(times, edges(NODES), st.booleans()).map(lambda change: LinkChange(change[0], *change[1], change[2])),
    max_size=25,
)
outages = st.lists(
    st.tuples(st.integers(0, NODES - 1), st.integers(1, 25_000), st.integers(1, 3000), st.sampled_from(KINDS)),
    min_size=1,
    max_size=2,
    unique_by=lambda outage: outage[0],
)
modes = st.fixed_dictionaries(
    {
        "profile": st.sampled_from(["rfc", "thesis", "derived"]),
        "link_layer": st.sampled_from(["true", "false"]),
        "local_repair": st.sampled_from(["true", "false"]),
        "gratuitous_rrep": st.sampled_from(["true", "false"]),
    }
)
seeds = st.integers(0, 1000)
whole_runs = settings(max_examples=40, phases=[Phase.explicit, Phase.reuse, Phase.generate])
"""Each example is a run of TIME_LIMIT: to shrink one would take minutes."""


def faults(planned: Iterable[tuple[NodeId, int, int, FaultKind]]) -> list[Fault]:
    """Of outages (node, start in ms, length in ms, what happens), in the order of time."""
    starts = [Fault(start * MILLISECOND, node, kind) for node, start, _, kind in planned]
    ends = [Fault((start + length) * MILLISECOND, node, FaultKind.RECOVER) for node, start, length, _ in planned]
    return sorted(starts + ends, key=lambda fault: fault.at)


def all_to_all() -> Workload:
    """Every node publishes for every other one, often enough that routes are used, expire and break."""
    return together(
        publishing(node, range(NODES), start=0, until=40 * SECOND, interval=(2 + node) * SECOND)
        for node in range(NODES)
    )


def together(workloads: Iterable[Workload]) -> Workload:
    """All subscriptions and publications of several workloads."""
    parts = list(workloads)
    subscriptions = dict.fromkeys(entry for part in parts for entry in part.subscriptions)
    return Workload(tuple(subscriptions), tuple(entry for part in parts for entry in part.publications))


@given(links, changes, modes, st.sampled_from(FIRST_NUMBERS), seeds)
@whole_runs
def test_routes_are_free_of_loops_while_links_come_and_go(
    graph: Edges, moves: list[LinkChange], mode: dict[str, str], first: int, seed: int
) -> None:
    """Every event is followed by a look at every route that leads over the node that it changed."""
    Watched.prepare(first_sequence=first)
    run(Watched, NODES, graph, all_to_all(), changes=moves, time_limit=TIME_LIMIT, parameters=mode, seed=seed)
    assert len(Watched.agents) == NODES


@given(links, changes, modes, outages, seeds)
@whole_runs
def test_routes_are_free_of_loops_while_nodes_crash_and_freeze(
    graph: Edges,
    moves: list[LinkChange],
    mode: dict[str, str],
    planned: list[tuple[NodeId, int, int, FaultKind]],
    seed: int,
) -> None:
    """Section 6.13: nobody relies on a node that has forgotten its routes and takes part again."""
    Watched.prepare()
    run(
        Watched,
        NODES,
        graph,
        all_to_all(),
        changes=moves,
        faults=faults(planned),
        time_limit=TIME_LIMIT,
        parameters=mode,
        seed=seed,
    )
    assert len(Watched.agents) == NODES


class SeesCirclesOnly(Watched):
    """A node that lets the order along a way be broken, to see what comes of it."""

    def check_order(self, now: SimTime) -> None:
        """Nothing."""


def lose_a_way_back(agent: type[Watched]) -> None:
    """Data from 0 to 4 keeps the way back to 0 alive at 3, while 2 has lost its own, and wants to send to 0 much later.

    At first it goes 0-1-2-3-4. Then the link 1-2 breaks; 1, which sends to 4 itself, finds the detour 1-5-6-2, and
    answers when 0 asks, too: so that request does not get to 2, which loses its way to 0 over 1 and learns no other.
    """
    detour = [LinkChange(4 * SECOND, *ends, True) for ends in ((1, 5), (5, 6), (6, 2))]
    workload = together(
        [
            publishing(0, [4], start=SECOND, until=40 * SECOND),
            publishing(1, [4], start=3 * SECOND, until=40 * SECOND),
            publishing(2, [0], start=35 * SECOND, until=36 * SECOND),
        ]
    )
    Watched.prepare()
    changes = [*detour, LinkChange(6 * SECOND, 1, 2, False)]
    run(agent, 7, [(0, 1), (1, 2), (2, 3), (3, 4)], workload, changes=changes, time_limit=40 * SECOND)


def test_a_lost_way_is_remembered_as_long_as_data_keeps_it_alive_elsewhere() -> None:
    """Section 6.11: an entry is kept for DELETE_PERIOD at least, and longer while the originator's data passes."""
    lose_a_way_back(Watched)
    remembered = Watched.agents[2].table.get(0)
    assert remembered is not None
    assert remembered.next_hop != 3


def test_by_the_published_rfc_a_way_kept_alive_by_data_becomes_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sections 6.2 and 6.11: once 2 has deleted its entry, 3 offers it the way to 0 that leads over 2 itself."""
    monkeypatch.setattr(RoutingTable, "extend", extend_as_in_the_rfc)
    with pytest.raises(AgentError, match=r"the way to 0 is \[2, 3, 2\]"):
        lose_a_way_back(SeesCirclesOnly)


def extend_as_in_the_rfc(table: RoutingTable, destination: NodeId, until: SimTime, now: SimTime) -> None:
    """Only an active route lives longer."""
    route = table.active(destination, now)
    if route is not None:
        route.lifetime = max(route.lifetime, until)
