"""Random histories of caching: clients that leave at any moment and come back, on trees of slow links."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, starmap
from random import Random

from roambus.bridge.scenario.definition import Command, Publication, Workload
from roambus.bridge.scenario.ideal import IdealLinks
from roambus.bridge.scenario.plans import Fault, FaultKind, LinkDelay, ParentChange
from roambus.python_protocol.events import Attach, Detach, Subscribe, Unsubscribe
from roambus.python_protocol.filters import Filter, parse_filter
from roambus.python_protocol.messages.fields import NOBODY, Names
from roambus.python_protocol.papers.caching import Caching
from roambus.python_protocol.papers.caching.broker import Broker
from roambus.python_protocol.vocabulary import MILLISECOND, SECOND, NodeId, Role, SimTime
from tests.support.runs import Row, of
from tests.support.scenarios import scenario
from tests.support.seen_agents import run_seen
from tests.support.slow_links import draw_brokers, draw_delays, of_links

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
        return Result(self, *run_seen(replace(bare, tree=tree), Caching))


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

    def out_of_order(self) -> list[list[str]]:
        """What was kept for a client and went to it in another order than that of each publisher."""
        handed_over: dict[tuple[object, ...], list[str]] = defaultdict(list)
        for row in of(self.rows, "replay"):
            handed_over[row["time_s"], row["node"], row["peer"]].append(row["notification_id"])
        return [its for its in handed_over.values() if any(starmap(_is_overtaken, combinations(its, 2)))]

    def given_up(self) -> list[Row]:
        """What went after a client that did not want it at any time at which it had said that it is back."""
        about = self._wanted_at_times()
        return [
            row
            for row in of(self.rows, "replay")
            if row["notification_id"] in about[row["peer"]] and not any(self._at_returns(row["peer"], row["time_s"]))
        ]

    def _wanted_at_times(self) -> dict[NodeId, set[str]]:
        """The notifications that a client wants, if at all, by the filter alone that it takes up and gives up."""
        steady = self.expected()
        all_of_them = {row["notification_id"] for row in of(self.rows, "publish")}
        return {client: {one for one in all_of_them if (one, client) not in steady} for client in self.history.wanted}

    def _at_returns(self, client: NodeId, until: float) -> Iterator[bool]:
        """Whether the client had this filter, each time up to then when it said that it is back."""
        wants = False
        for at, node, command in self.history.commands:
            if node == client and at / SECOND <= until:
                if isinstance(command, Attach):
                    yield wants
                elif isinstance(command, Subscribe | Unsubscribe) and command.filter == CHANGING:
                    wants = isinstance(command, Subscribe)

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
    if result.out_of_order():
        yield "kept messages out of order"
    if result.given_up():
        yield "sent though given up"


def draw(random: Random, *, freezes: bool = True, parameters: dict[str, str] | None = None) -> History:
    """Up to seven brokers, two clients that move and one that stays, two publishers."""
    parents = draw_brokers(random, 7)
    brokers = len(parents) + 1
    clients, count = range(brokers, brokers + _CLIENTS + 1), brokers + _CLIENTS + 1 + _PUBLISHERS
    parents |= {client: random.randrange(brokers) for client in range(brokers, count)}
    delays = draw_delays(random, parents, brokers, count)
    slowest = max(delay.delay for delay in delays)
    start, unit = 20 * slowest + SECOND, random.choice((slowest, 3 * slowest, slowest // 5 + MILLISECOND))
    wanted = {client: tuple(random.sample(STEADY, random.randint(1, 2))) for client in clients}
    commands = [Command(SECOND // 2, client, Subscribe(one)) for client, its in wanted.items() for one in its]
    moves: list[ParentChange] = []
    for mover in clients[:_CLIENTS]:
        for change, own in _visits(random, mover, brokers, start, unit, of_links(delays)):
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


def _is_overtaken(one: str, later: str) -> bool:
    """Whether these are of one publisher, which has published the first of them later."""
    (publisher, number), (other, other_number) = one.split("."), later.split(".")
    return publisher == other and int(number) > int(other_number)


def _role(node: NodeId, clients: range) -> Role:
    return Role.SUBSCRIBER if node in clients else Role.PUBLISHER


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
