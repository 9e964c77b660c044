"""Judges deliveries on links that lose nothing: nothing lost, nothing twice, nothing unwanted, and hops that fit.

An agent is judged in the first network in which it delivers anything without addressing nodes to which it has no link:
protocols over an overlay need links between all nodes, others a tree. An agent that delivers nothing is not judged.

A weaker guarantee is no mistake. If losses differ between seeds, chance decides, and only losses between neighbours
count, or those of a burst where single notifications never fail. After a crash, a node has to deliver what it hears in
broadcasts and still wants, unless it writes a `drop`; an addressed frame can belong to a session that the crash ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from roambus.bridge.system.errors import AgentError
from roambus.extensions.vetting.findings import Finding, of_error, place_of_agent
from roambus.extensions.vetting.scenes import Job
from roambus.extensions.vetting.watching import RUNS, Calls
from roambus.extensions.vetting.workload import (
    BACK_S,
    BURST_S,
    CRASHES,
    FREEZES,
    NETWORKS,
    QUIET_S,
    SETTLED_S,
    Network,
    Observed,
    Pair,
    observe,
    since_s,
    wants,
)
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import Subscribe
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SECOND

DELIVERIES, RECOVERY = "deliveries", "recovery"
"""Names of checks."""
SEEDS = (1, 2, 3, 4)
LIMITS = "ttl", "hop_limit", "max_hops", "hops"
"""Names of a parameter that limits hops."""


@dataclass(frozen=True, slots=True)
class Judge:
    """An agent, and its runs."""

    job: Job
    agent_class: type[Agent]
    calls: Calls

    def observe(self, network: Network, seed: int = 1, faults: Iterable[tuple[NodeId, str]] = FREEZES) -> Observed:
        """Make a run; a node that knows no filters need not deliver its own notifications."""
        observed = observe(self.job, self.agent_class, self.calls, network, faults=faults, seed=seed)
        if not self.knows_filters:
            observed.wanted = {pair for pair in observed.wanted if observed.published[pair[0]][1] != pair[1]}
        return observed

    @property
    def knows_filters(self) -> bool:
        """Whether the agent hears of subscriptions: another one delivers everything."""
        return Subscribe in self.agent_class.handlers or self.agent_class.handle is not Agent.handle

    def check(self) -> Iterator[Finding]:
        """Return a finding for each kind of mistake; raise UserError."""
        try:
            yield from self._check()
        except AgentError as error:
            yield of_error(RUNS, error)

    def _check(self) -> Iterator[Finding]:
        observed = next(filter(is_judged, map(self.observe, NETWORKS)), None)
        if observed is None:
            return
        place = place_of_agent(self.agent_class)
        for problem in (*self._lost(observed), *twice(observed), *wrong_hops(observed), *self._unwanted(observed)):
            yield Finding(DELIVERIES, f"{observed.network.name}, {problem}", place)
        after = self.observe(observed.network, faults=CRASHES)
        for problem in (*ignored(after), *twice(after, SETTLED_S), *silent(after)):
            yield Finding(RECOVERY, f"{observed.network.name}, {problem}", place)
        for problem in self._beyond_limit(observed.network):
            yield Finding(DELIVERIES, f"{observed.network.name}, {problem}", place)

    def _unwanted(self, observed: Observed) -> Iterator[str]:
        return unwanted(observed) if self.knows_filters else iter(())

    def _lost(self, observed: Observed) -> Iterator[str]:
        lost = losses(observed)
        if not lost:
            return
        runs = [observed, *(self.observe(observed.network, seed) for seed in SEEDS[1:])]
        if counted := without_chance(runs):
            first = min(counted, key=lambda pair: (since_s(observed, pair), pair[1]))
            share = f"{len(counted)} of {len(observed.wanted)} are lost with each of {len(SEEDS)} seeds"
            yield f"{_named(observed, first)} is not delivered to node {first[1]}, which wants it: {share}"

    def _beyond_limit(self, network: Network) -> Iterator[str]:
        """Report that a limit of hops is one too many: other parameters of its name limit something else."""
        known = getattr(self.agent_class.parameters_type, "__dataclass_fields__", {})
        for name in (name for name in LIMITS if name in known):
            if all(self._farthest(network, f"{name}={limit}") == limit + 1 for limit in (1, 2)):
                yield f"notifications are delivered 2 hops from their publisher with {name}=1, and 3 with {name}=2"

    def _farthest(self, network: Network, parameter: str) -> int:
        job = replace(self.job, parameters=f"{self.job.parameters} {parameter}".strip())
        observed = observe(job, self.agent_class, self.calls, network)
        return max((observed.distance(pair) for pair in observed.counts.keys() & observed.wanted), default=0)


def is_judged(observed: Observed) -> bool:
    """Whether the network is one for the agent: it delivers something, and only addresses neighbours."""
    return bool(observed.delivered) and not observed.fails_without_link


def losses(observed: Observed) -> set[Pair]:
    """Return the wanted pairs that were not delivered."""
    return {pair for pair in observed.wanted if not observed.counts[pair]}


def without_chance(runs: list[Observed]) -> set[Pair]:
    """Return the losses that chance does not explain, from runs with different seeds."""
    lost = [losses(run) for run in runs]
    always = set.intersection(*lost)
    if all(one == always for one in lost):
        return always
    near = {pair for pair in always if runs[0].distance(pair) <= 1}
    ever = {_ways(runs[0], pair) for pair in set.union(*lost) if not _is_of_burst(runs[0], pair)}
    full = [{_ways(runs[0], pair) for pair in one if _is_of_burst(runs[0], pair)} for one in lost]
    bursts = set.intersection(*full) - ever
    return near | {pair for pair in lost[0] if _is_of_burst(runs[0], pair) and _ways(runs[0], pair) in bursts}


def _ways(observed: Observed, pair: Pair) -> tuple[int, int]:
    return observed.published[pair[0]][1], pair[1]


def _is_of_burst(observed: Observed, pair: Pair) -> bool:
    return observed.at(pair[0]) == BURST_S * SECOND


def twice(observed: Observed, from_s: int = 0) -> Iterator[str]:
    """Name a notification published from then on (s) that was delivered twice to one node."""
    again = {pair: count for pair, count in observed.counts.items() if count > 1 and since_s(observed, pair) >= from_s}
    if again:
        first = min(again, key=lambda pair: (since_s(observed, pair), pair[1]))
        problem = f"{_named(observed, first)} is delivered to node {first[1]} {again[first]} times"
        yield f"{problem}: so are {len(again)} of {len(observed.counts)}"


def unwanted(observed: Observed) -> Iterator[str]:
    """Name a notification that was delivered to a node that neither wanted it then nor when it was published."""
    for one in observed.delivered:
        pair = one.notification, one.node
        notification = observed.published[one.notification][2]
        if pair not in observed.wanted and not wants(one.node, notification, one.at):
            yield f"{_named(observed, pair)} is delivered to node {one.node}, which does not want it"
            return


def wrong_hops(observed: Observed) -> Iterator[str]:
    """Name a delivery that counts fewer hops than there are, or not one for a frame of the publisher's."""
    for one in observed.delivered:
        pair = one.notification, one.node
        least = observed.distance(pair)
        if one.hops < least or (one.is_direct and one.hops != 1):
            hops = f"hops={one.hops}: the publisher is {least} hops away"
            yield f"{_named(observed, pair)} is delivered to node {one.node} with {hops}"
            return


def ignored(observed: Observed) -> Iterator[str]:
    """Name a notification that a node heard after a crash, wanted, and neither delivered nor dropped."""
    known = observed.heard - observed.dropped
    lost = [pair for pair in losses(observed) & known if since_s(observed, pair) >= SETTLED_S]
    if lost:
        first = min(lost, key=lambda pair: (since_s(observed, pair), pair[1]))
        problem = f"{_named(observed, first)} reaches node {first[1]}, which wants it, and is not delivered"
        yield f"{problem}: so are {len(lost)} after nodes 0, 3 and 5 crashed, and recovered"


def silent(observed: Observed) -> Iterator[str]:
    """Name a timer that ran out again and again before its node crashed, and never after the recovery."""
    for (node, key), times in observed.timers.items():
        is_regular = sum(QUIET_S[0] <= time / SECOND < QUIET_S[1] for time in times) > 2  # again and again
        if is_regular and node in dict(CRASHES) and not any(time / SECOND >= BACK_S for time in times):
            yield f"the timer {key!r} of node {node} is not set again after the node has crashed and recovered"
            return


def _named(observed: Observed, pair: Pair) -> str:
    _, node, notification = observed.published[pair[0]]
    what = " and ".join(f"{name} = {value!r}" for name, value in notification.attributes)
    return f"notification {pair[0]} ({what}) that node {node} publishes at {since_s(observed, pair):g} s"
