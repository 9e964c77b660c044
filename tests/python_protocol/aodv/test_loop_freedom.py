"""No route ever leads in a circle, whatever links and nodes do (RFC 3561, abstract: "loop freedom at all times")."""

from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.scenario import LinkChange, Workload
from python_protocol.simtime import MILLISECOND, SECOND
from tests.python_protocol.aodv.watched import Outage, Watched
from tests.support.graphs import edges
from tests.support.runs import Edges, publishing, run

NODES = 6
FIRST_NUMBERS = [0, 2**31 - 4, 2**32 - 4]
"""Where own numbers start: at the RFC's 0, where a signed number turns negative, and before 0 comes again."""

links = st.lists(edges(NODES), min_size=NODES, max_size=2 * NODES)
times = st.integers(0, 25_000).map(lambda milliseconds: milliseconds * MILLISECOND)
changes = st.lists(
    st.tuples(times, edges(NODES), st.booleans()).map(lambda change: LinkChange(change[0], *change[1], change[2])),
    max_size=25,
)
outages = st.lists(
    st.tuples(st.integers(0, NODES - 1), times, times.map(lambda time: time // 10)).map(
        lambda outage: Outage(outage[0], outage[1], outage[1] + outage[2])
    ),
    max_size=2,
    unique_by=lambda outage: outage.node,
)
modes = st.fixed_dictionaries(
    {
        "profile": st.sampled_from(["rfc", "thesis"]),
        "link_layer": st.sampled_from(["true", "false"]),
        "local_repair": st.sampled_from(["true", "false"]),
        "gratuitous_rrep": st.sampled_from(["true", "false"]),
    }
)


def all_to_all() -> Workload:
    """Every node publishes for every other one, often enough that routes are used, expire and break."""
    workloads = [
        publishing(node, range(NODES), start=0, until=40 * SECOND, interval=(2 + node) * SECOND)
        for node in range(NODES)
    ]
    publications = tuple(entry for workload in workloads for entry in workload.publications)
    return Workload(workloads[0].subscriptions, publications)


@given(links, changes, outages, modes, st.tuples(st.sampled_from(FIRST_NUMBERS), st.integers(0, 1000)))
@settings(max_examples=40, deadline=None)
def test_routes_are_free_of_loops_at_all_times(
    graph: Edges,
    moves: list[LinkChange],
    failures: list[Outage],
    mode: dict[str, str],
    numbers: tuple[int, int],
) -> None:
    """Every event is followed by a look at every route that leads over the node that it changed."""
    first, seed = numbers
    Watched.prepare(failures, first)
    run(Watched, NODES, graph, all_to_all(), changes=moves, time_limit=45 * SECOND, parameters=mode, seed=seed)
    assert len(Watched.agents) == NODES
