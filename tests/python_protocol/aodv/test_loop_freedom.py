"""No route ever leads in a circle, whatever the links do (RFC 3561, abstract: "loop freedom at all times")."""

from collections.abc import Iterable
from random import Random
from typing import ClassVar

from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.scenario import LinkChange, Workload
from python_protocol.actions import Action
from python_protocol.aodv import Aodv, AodvParameters
from python_protocol.aodv.routing_table import RouteState
from python_protocol.events import Event
from python_protocol.roles import NodeId, Role
from python_protocol.simtime import MILLISECOND, SECOND, SimTime
from tests.support.graphs import edges
from tests.support.runs import Edges, publishing, run

NODES = 6


class Watched(Aodv):
    """Follows, after each of its events, every route of its own through the tables of all nodes."""

    agents: ClassVar[dict[NodeId, Aodv]] = {}

    def __init__(self, node: NodeId, roles: Role, parameters: AodvParameters, random: Random) -> None:
        super().__init__(node, roles, parameters, random)
        self.agents[node] = self

    def handle(self, event: Event, now: SimTime) -> Iterable[Action]:
        actions = super().handle(event, now)
        for route in self.table:
            path = self.follow(route.destination, now)
            assert len(path) == len(set(path)), f"the way to {route.destination} is {path} at {now}"
        return actions

    def follow(self, destination: NodeId, now: SimTime) -> list[NodeId]:
        """The nodes on the way to `destination`, as far as it goes, or up to its first repetition."""
        path: list[NodeId] = [self.node]
        while path[-1] != destination and path[-1] not in path[:-1]:
            route = self.agents[path[-1]].table.get(destination)
            if route is None or route.state is not RouteState.VALID or route.lifetime <= now:
                break
            path.append(route.next_hop)
        return path


links = st.lists(edges(NODES), min_size=NODES, max_size=2 * NODES)
changes = st.lists(
    st.tuples(st.integers(0, 12_000), edges(NODES), st.booleans()).map(
        lambda change: LinkChange(change[0] * MILLISECOND, *change[1], change[2])
    ),
    max_size=25,
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
        publishing(node, range(NODES), start=0, until=14 * SECOND, interval=(2 + node) * SECOND)
        for node in range(NODES)
    ]
    publications = tuple(entry for workload in workloads for entry in workload.publications)
    return Workload(workloads[0].subscriptions, publications)


@given(links, changes, modes, st.integers(0, 1000))
@settings(max_examples=40, deadline=None)
def test_routes_are_free_of_loops_at_all_times(
    graph: Edges, moves: list[LinkChange], mode: dict[str, str], seed: int
) -> None:
    """Every event is followed by a look at every route of the node that it changed."""
    Watched.agents.clear()
    run(Watched, NODES, graph, all_to_all(), changes=moves, time_limit=15 * SECOND, parameters=mode, seed=seed)
    assert len(Watched.agents) == NODES
