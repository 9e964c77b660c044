"""Random histories of caching: clients that leave at any moment and come back, on trees of slow links."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from roambus.bridge.backends.ideal.topology import make_ideal
from roambus.bridge.host.host import Host
from roambus.bridge.scenario.happenings import Fault, FaultKind, LinkDelay, ParentChange
from roambus.bridge.scenario.ideal import IdealLinks
from roambus.bridge.scenario.scenario import Command, Publication, Workload
from roambus.bridge.trace.writer import TraceWriter
from roambus.python_protocol.caching import Caching
from roambus.python_protocol.caching.broker import Broker
from roambus.python_protocol.events import Attach, Detach, Subscribe, Unsubscribe
from roambus.python_protocol.filters import Filter, parse_filter
from roambus.python_protocol.messages.names import NOBODY, Names
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime
from tests.support.runs import Row, of
from tests.support.scenarios import scenario

LONGEST = 2 * SECOND
"""Of the delays that links have."""
STEADY = tuple(map(parse_filter, ("all", "topic = 1", "topic = 2", "topic < 2")))
"""Filters that clients have from the beginning to the end."""
CHANGING = parse_filter("topic = 3")
"""The filter that some clients take up and give up at any moment."""
TOPICS = (1, 2, 3)
_CLIENTS, _PUBLISHERS = 2, 2


@dataclass(frozen=True)
class History:
    """A tree of brokers, its clients, and what happens."""

    parents: dict[NodeId, NodeId]
    roles: tuple[Role, ...]
    delays: tuple[LinkDelay, ...]
    wanted: dict[NodeId, tuple[Filter, ...]]
    moves: tuple[ParentChange, ...]
    commands: tuple[Command, ...]
    faults: tuple[Fault, ...]
    end: SimTime
    parameters: dict[str, str]

    def carry_out(self) -> Result:
        """Runs it until all is quiet."""
        tree = (*(ParentChange(0, node, parent) for node, parent in self.parents.items()), *self.moves)
        bare = scenario(
            self.roles,
            Workload(commands=self.commands),
            time_limit=self.end,
            agent_parameters={"tree": "given", "link_layer": "false", **self.parameters},
            faults=self.faults,
            ideal=IdealLinks(delays=self.delays),
        )
        planted, trace, agents = replace(bare, tree=tree), TraceWriter(), dict[NodeId, Caching]()
        Host(planted, _watched(agents), make_ideal(planted), trace).run()
        return Result(self, agents, trace.table().to_pylist())


@dataclass(frozen=True)
class Result:
    """The agents as they are in the end, and the rows of the trace."""

    history: History
    agents: dict[NodeId, Caching]
    rows: list[Row]

    def expected(self) -> set[tuple[str, NodeId]]:
        """Which notification somebody wants from the beginning to the end."""
        published, found = Counter[NodeId](), set[tuple[str, NodeId]]()
        for _, node, command in self.history.commands:
            if isinstance(command, Publication):
                identifier, attributes = f"{node}.{published[node]}", dict(command.attributes)
                published[node] += 1
                for client, filters in self.history.wanted.items():
                    if any(all(one.matches(attributes) for one in its.constraints) for its in filters):
                        found.add((identifier, client))
        return found

    def delivered(self) -> Counter[tuple[str, NodeId]]:
        """How often each was."""
        return Counter((row["notification_id"], row["node"]) for row in of(self.rows, "deliver"))

    def phantoms(self) -> list[tuple[NodeId, NodeId, Filter]]:
        """Subscriptions of a client in the table of a broker at which it is not, or that it has given up."""
        found = []
        for node, broker in self.brokers():
            for one, interface in broker.table:
                client = self.agents[interface].client
                is_client = Role.BROKER not in self.history.roles[interface]
                if is_client and (client.broker != node or one not in client.filters):
                    found.append((node, interface, one))
        return found

    def kept(self) -> list[str]:
        """Messages that are still kept for somebody, though nobody is in movement any more."""
        rows = (row for _, broker in self.brokers() for row in broker.cache.listing(Names()).rows)
        return [message for message, holders in rows if holders != NOBODY]

    def brokers(self) -> Iterator[tuple[NodeId, Broker]]:
        """All of them, with their nodes."""
        for node, agent in self.agents.items():
            if isinstance(agent.broker, Broker):
                yield node, agent.broker


def wrong(history: History) -> Iterator[str]:
    """What does not hold in the end."""
    result = history.carry_out()
    delivered, expected = result.delivered(), result.expected()
    if expected - delivered.keys():
        yield "lost"
    if any(count > 1 for count in delivered.values()):
        yield "doubled"
    if result.phantoms():
        yield "phantom subscription"
    if result.kept():
        yield "kept for nobody"


def draw(random: Random, *, freezes: bool = True, parameters: dict[str, str] | None = None) -> History:
    """Up to seven brokers, two clients that move and one that stays, two publishers."""
    brokers = random.randint(1, 7)
    parents = {child: random.randrange(max(0, child - random.choice((1, 2, 7))), child) for child in range(1, brokers)}
    clients, count = range(brokers, brokers + _CLIENTS + 1), brokers + _CLIENTS + 1 + _PUBLISHERS
    parents |= {client: random.randrange(brokers) for client in range(brokers, count)}
    delays = _delays(random, parents, brokers, count)
    slowest = max(delay.delay for delay in delays)
    start, unit = 20 * slowest + SECOND, random.choice((slowest, 3 * slowest, slowest // 5 + MILLISECOND))
    wanted = {client: tuple(random.sample(STEADY, random.randint(1, 2))) for client in clients}
    commands = [Command(SECOND // 2, client, Subscribe(one)) for client, its in wanted.items() for one in its]
    moves: list[ParentChange] = []
    for mover in clients[:_CLIENTS]:
        for change, own in _visits(random, mover, brokers, start, unit, _towards(delays)):
            moves += change
            commands += own
    moments = [one.at for one in commands if one.at > start] or [start]
    commands += _publications(random, range(clients.stop, count), moments, unit)
    commands += _changes(random, clients, moments, unit)
    last = max(one.at for one in commands)
    moves.sort(key=lambda one: one.at)
    faults = _freezes(random, moments, slowest, _departures(parents, moves, brokers)) if freezes else ()
    return History(
        parents,
        tuple(Role.BROKER if node < brokers else _role(node, clients) for node in range(count)),
        delays,
        wanted,
        tuple(moves),
        tuple(sorted(commands, key=lambda one: one[:2])),
        faults,
        max([last, *(fault.at for fault in faults)]) + 60 * slowest + SECOND,
        {"cache_size": "100", "policy": random.choice(("fifo-regeneration", "fifo", "lifo")), **(parameters or {})},
    )


def _role(node: NodeId, clients: range) -> Role:
    return Role.SUBSCRIBER if node in clients else Role.PUBLISHER


def _delays(random: Random, parents: dict[NodeId, NodeId], brokers: int, count: int) -> tuple[LinkDelay, ...]:
    """All links alike, or each with a delay of its own; those of clients to every broker to which they may come."""
    typical, is_mixed = _delay(random), random.random() < 0.5
    links = [(child, parents[child]) for child in range(1, brokers)]
    links += [(client, broker) for client in range(brokers, count) for broker in range(brokers)]
    return tuple(LinkDelay(a, b, _delay(random) if is_mixed else typical) for a, b in links)


def _delay(random: Random) -> SimTime:
    times: float = (LONGEST / MILLISECOND) ** random.random()
    return round(MILLISECOND * times)


def _towards(delays: tuple[LinkDelay, ...]) -> dict[tuple[NodeId, NodeId], SimTime]:
    return {(one.a, one.b): one.delay for one in delays}


def _visits(  # noqa: PLR0917  # who, where, when, and how far it is
    random: Random,
    mover: NodeId,
    brokers: int,
    start: SimTime,
    unit: SimTime,
    delay: dict[tuple[NodeId, NodeId], SimTime],
) -> Iterator[tuple[list[ParentChange], list[Command]]]:
    """Up to five absences; a client keeps its link until its goodbye has arrived."""
    now, home = start + random.randrange(unit), None
    for _ in range(random.randint(0, 5)):
        longest = max(delay[mover, broker] for broker in range(brokers)) if home is None else delay[mover, home]
        gone = now + longest + 1 + random.randrange(unit)
        back, home = gone + 1 + random.randrange(unit), random.randrange(brokers)
        yield (
            [ParentChange(gone, mover, None), ParentChange(back, mover, home)],
            [Command(now, mover, Detach()), Command(back, mover, Attach())],
        )
        now = back + 1 + random.randrange(unit)


def _publications(random: Random, publishers: range, moments: list[SimTime], unit: SimTime) -> Iterator[Command]:
    """Near what else happens."""
    for publisher in publishers:
        for _ in range(random.randint(0, 6)):
            at = random.choice(moments) + random.randrange(2 * unit) - unit // 2
            yield Command(at, publisher, Publication((("topic", random.choice(TOPICS)),)))


def _changes(random: Random, clients: range, moments: list[SimTime], unit: SimTime) -> Iterator[Command]:
    """Some clients take up a filter, and give it up, and so on."""
    for client in clients:
        times = sorted(random.choice(moments) + random.randrange(unit) for _ in range(random.choice((0, 0, 1, 2, 3))))
        for place, at in enumerate(times):
            yield Command(at, client, Unsubscribe(CHANGING) if place % 2 else Subscribe(CHANGING))


def _departures(parents: dict[NodeId, NodeId], moves: list[ParentChange], brokers: int) -> dict[NodeId, list[SimTime]]:
    """When clients lose their links to each broker."""
    homes, found = dict(parents), {broker: list[SimTime]() for broker in range(brokers)}
    for move in moves:
        if move.parent is None:
            found[homes[move.node]].append(move.at)
        else:
            homes[move.node] = move.parent
    return found


def _freezes(
    random: Random, moments: list[SimTime], slowest: SimTime, departures: dict[NodeId, list[SimTime]]
) -> tuple[Fault, ...]:
    """Each of some brokers freezes once, but not while it would lose the goodbye that a client has said to it."""
    faults: list[Fault] = []
    for broker, gone in departures.items():
        at = random.choice(moments)
        until = at + 1 + random.randrange(4 * slowest)
        if random.random() < 0.4 and not any(at <= one <= until for one in gone):
            faults += [Fault(at, broker, FaultKind.FREEZE), Fault(until, broker, FaultKind.RECOVER)]
    return tuple(sorted(faults, key=lambda fault: fault.at))


def _watched(agents: dict[NodeId, Caching]) -> type[Caching]:
    class Watched(Caching):
        """The same agent, but each that is made can be looked at."""

        def __init__(self, node: NodeId, roles: Role, parameters: Any, random: Random) -> None:
            super().__init__(node, roles, parameters, random)
            agents[node] = self

    return Watched
