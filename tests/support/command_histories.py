"""Random histories of a client that is cut off at any moment, commanded at any moment, and back in the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from roambus.bridge.scenario.definition import Command, Publication, Workload
from roambus.bridge.scenario.ideal import IdealLinks
from roambus.bridge.scenario.plans import LinkDelay, ParentChange
from roambus.python_protocol.brokers.agent import BrokerAgent
from roambus.python_protocol.events import Subscribe, Unsubscribe
from roambus.python_protocol.filters import Filter, parse_filter
from roambus.python_protocol.vocabulary import MILLISECOND, SECOND, NodeId, Role, SimTime
from tests.support.runs import Row, of
from tests.support.scenarios import scenario
from tests.support.seen_agents import run_seen
from tests.support.slow_links import draw_brokers, draw_delays

TOPICS = (1, 2)
FILTERS = {topic: parse_filter(f"topic = {topic}") for topic in TOPICS}
_MOVERS = 2


@dataclass(frozen=True)
class History:
    """A tree of brokers, movers, and last a publisher at each broker; where the movers are when, and what they say."""

    brokers: int
    parents: dict[NodeId, NodeId]
    delays: tuple[LinkDelay, ...]
    moves: tuple[ParentChange, ...]
    commands: tuple[Command, ...]
    quiet: SimTime
    """How long everything that was said takes to arrive."""

    @property
    def movers(self) -> range:
        """Those who are cut off, and commanded."""
        return range(self.brokers, self.publishers[0])

    @property
    def publishers(self) -> range:
        """They stay, one at each broker, and publish one notification a topic when all is quiet."""
        return range(self.brokers + _MOVERS, 2 * self.brokers + _MOVERS)

    @property
    def end(self) -> SimTime:
        """When the last command has had its effect."""
        return max(*(one.at for one in self.moves), *(one.at for one in self.commands)) + self.quiet

    def wanted(self) -> dict[NodeId, set[Filter]]:
        """What each mover wants in the end."""
        found: dict[NodeId, set[Filter]] = {mover: set() for mover in self.movers}
        for _, node, command in self.commands:
            if isinstance(command, Subscribe):
                found[node].add(command.filter)
            elif isinstance(command, Unsubscribe):
                found[node].discard(command.filter)
        return found

    def carry_out(self, agent: type[BrokerAgent], parameters: Mapping[str, str]) -> Result:
        """Runs it until all is quiet, and asks who gets what."""
        late = [
            Command(self.end + topic, publisher, Publication((("topic", topic),)))
            for topic in TOPICS
            for publisher in self.publishers
        ]
        roles = [Role.BROKER] * self.brokers + [Role.SUBSCRIBER] * _MOVERS + [Role.PUBLISHER] * self.brokers
        bare = scenario(
            roles,
            Workload(commands=(*self.commands, *late)),
            time_limit=self.end + self.quiet,
            agent_parameters={"tree": "given", "link_layer": "false", **parameters},
            ideal=IdealLinks(delays=self.delays),
        )
        tree = (*(ParentChange(0, node, parent) for node, parent in self.parents.items()), *self.moves)
        return Result(self, *run_seen(replace(bare, tree=tree), agent))


@dataclass(frozen=True)
class Result:
    """The agents as they are in the end, and the rows of the trace."""

    history: History
    agents: dict[NodeId, BrokerAgent]
    rows: list[Row]

    def delivered(self) -> Counter[tuple[str, NodeId]]:
        """How often each mover got each notification."""
        return Counter((row["notification_id"], row["node"]) for row in of(self.rows, "deliver"))

    def expected(self) -> set[tuple[str, NodeId]]:
        """Who wants what."""
        wanted, count = self.history.wanted(), self.history.brokers
        published = [row["notification_id"] for row in of(self.rows, "publish")]  # of one topic after the other
        topics = zip(published, (topic for topic in TOPICS for _ in range(count)), strict=True)
        return {(one, mover) for one, topic in topics for mover in wanted if FILTERS[topic] in wanted[mover]}

    def wrong_tables(self) -> list[NodeId]:
        """The brokers in whose tables a filter is not as often as there are clients that want it."""
        wanted = Counter(one for its in self.history.wanted().values() for one in its)
        tables = {node: Counter(one for one, *_ in self._table(node)) for node in range(self.history.brokers)}
        return [node for node, table in tables.items() if table != wanted]

    def _table(self, node: NodeId) -> Any:
        broker: Any = self.agents[node].broker
        return broker.table


def wrong(history: History, agent: type[BrokerAgent], parameters: Mapping[str, str]) -> Iterator[str]:
    """What does not hold in the end."""
    result = history.carry_out(agent, parameters)
    delivered, expected = result.delivered(), result.expected()
    if expected - delivered.keys():
        yield "not told of what was subscribed to"
    if delivered.keys() - expected or [row for row in of(result.rows, "drop") if row["detail"] == "not subscribed"]:
        yield "not told of what was given up"
    if any(count > 1 for count in delivered.values()):
        yield "doubled"
    if result.wrong_tables():
        yield "wrong table"


def draw(random: Random, *, moves: bool) -> History:
    """Up to seven brokers; without `moves` who is cut off is back at the same broker."""
    parents = draw_brokers(random, 7)
    brokers = len(parents) + 1
    count = brokers + _MOVERS
    parents |= {client: random.randrange(brokers) for client in range(brokers, count)}
    parents |= {count + broker: broker for broker in range(brokers)}
    delays = draw_delays(random, parents, brokers, count + brokers)
    slowest = max(delay.delay for delay in delays)
    unit = random.choice((slowest, 3 * slowest, slowest // 5 + MILLISECOND))
    tree, commands = list[ParentChange](), list[Command]()
    for mover in range(brokers, brokers + _MOVERS):
        homes = range(brokers) if moves else range(parents[mover], parents[mover] + 1)
        own = list(_absences(random, mover, homes, unit))
        tree += own
        commands += _commands(random, mover, [one.at for one in own], unit)
    tree.sort(key=lambda one: one.at)
    ordered = tuple(sorted(commands, key=lambda one: one.at))
    return History(brokers, parents, delays, tuple(tree), ordered, 60 * slowest + SECOND)


def _absences(random: Random, mover: NodeId, homes: range, unit: SimTime) -> Iterator[ParentChange]:
    """Up to five, whatever is under way."""
    now = SECOND
    for _ in range(random.randint(1, 5)):
        gone = now + 1 + random.randrange(unit)
        now = gone + 1 + random.randrange(unit)
        yield ParentChange(gone, mover, None)
        yield ParentChange(now, mover, random.choice(homes))


def _commands(random: Random, mover: NodeId, moments: list[SimTime], unit: SimTime) -> Iterator[Command]:
    """Near the absences, and in them; a filter may be taken up or given up twice in a row."""
    for _ in range(random.randint(1, 8)):
        at = max(SECOND // 2, random.choice(moments) + random.randrange(2 * unit) - unit)
        about = FILTERS[random.choice(TOPICS)]
        yield Command(at, mover, Subscribe(about) if random.random() < 0.6 else Unsubscribe(about))
