"""Random histories of replicated brokers: slow links, brokers that fail one after the other, clients that leave."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from roambus.bridge.scenario.definition import Command
from roambus.bridge.scenario.plans import Fault, FaultKind, LinkChange, LinkDelay
from roambus.python_protocol.events import Attach, Detach, Subscribe, Unsubscribe
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.papers.replicated.site_state import Peer
from roambus.python_protocol.papers.replicated.sites import Site, Sites
from roambus.python_protocol.vocabulary import MILLISECOND, SECOND, NodeId, SimTime
from tests.python_protocol.papers.replicated.network import (
    QUIET,
    Result,
    about,
    check_copies,
    check_deliveries,
    check_fifo,
    check_silence,
    check_tables,
    check_total,
    links_of,
    published,
    run,
    sites_of,
)
from tests.support.runs import of

TOPICS = 2
LONGEST = 2 * SECOND
"""Of the delays that links have."""
CRASHES_FROM = 1 * SECOND
"""When the first broker crashes in a history of crashes at any instant, long after all know of the subscription."""
ALL_RUN_AFTER = 10 * SECOND
"""When something is published in such a history that must be delivered: the last broker has returned seconds before."""
SERVES_WITHIN = 200 * MILLISECOND
"""Two time-outs, for what is published then."""
_TIME_OUTS = ("20ms", "100ms", "400ms")
_SETTLING = 60
"""Delays for which a history waits until all know of the subscriptions, a broker has a copy, or a client is back."""


@dataclass(frozen=True)
class History:
    """A network, who wants what in the end, and what happens."""

    sites: Sites
    delays: tuple[LinkDelay, ...]
    parameters: dict[str, str]
    wanted: dict[Peer, set[int]]
    commands: tuple[Command, ...]
    faults: tuple[Fault, ...]
    changes: tuple[LinkChange, ...]

    @property
    def slowest(self) -> SimTime:
        """The longest delay of a link."""
        return max(delay.delay for delay in self.delays)

    def carry_out(self) -> Result:
        """Runs it until everything has passed that follows from it, were it at the slowest link."""
        quiet = QUIET + 500 * self.slowest
        return run(self.sites, self.commands, self.faults, self.parameters, self.delays, self.changes, quiet)


@dataclass(frozen=True)
class Drawing:
    """What a history has, beside subscriptions and publications."""

    faults: bool = True
    absences: bool = True


def draw(random: Random, of: Drawing = Drawing()) -> History:  # frozen
    """One to three sites, with a client or two each, up to ten publications."""
    sites = _sites(random)
    delays = _delays(random, sites)
    unit = max(delay.delay for delay in delays) + 10 * MILLISECOND
    moments = _Moments(random, 2 * SECOND + 3 * _SETTLING * unit, _SETTLING * unit)
    clients = [client for site in sites for client in site.clients]
    wanted = {client: {topic for topic in range(TOPICS) if random.random() < 0.6} for client in clients}
    commands = [Command(0, client, Subscribe(about(topic))) for client in clients for topic in wanted[client]]
    commands += [
        Command(moments.any(), random.choice(clients), published(random.randrange(TOPICS)))
        for _ in range(random.randint(1, 10))
    ]
    commands += _unsubscriptions(random, moments, wanted)
    away = [absence for one in clients for absence in _absences(random, moments, one)] if of.absences else []
    commands += [command for absence in away for command in absence.commands()]
    return History(
        sites,
        delays,
        _parameters(random),
        wanted,
        tuple(sorted(commands, key=lambda command: command.at)),
        tuple(fault for site in sites for fault in _failures(random, moments, site)) if of.faults else (),
        tuple(sorted((one for absence in away for one in absence.links(sites)), key=lambda change: change.at)),
    )


def wrong(history: History) -> Iterator[str]:
    """What does not hold in the end."""
    return wrong_in(history, history.carry_out())


def wrong_in(history: History, result: Result) -> Iterator[str]:
    """The same, of a run that was carried out."""
    checks: dict[str, Callable[[], None]] = {
        "lost, doubled or not wanted": lambda: check_deliveries(result),
        "tables are wrong": lambda: check_tables(result, _filters(history)),
        "copies differ, or something waits": lambda: check_copies(result),
        "never quiet": lambda: check_silence(result),
    }
    if history.parameters["order"] != "none":
        checks["out of a publisher's order"] = lambda: check_fifo(result)
    if history.parameters["order"] == "total":
        checks["out of the total order"] = lambda: check_total(result)
    for name, check in checks.items():
        try:
            check()
        except AssertionError:
            yield name


def draw_crashes(random: Random) -> History:
    """A site whose brokers crash and return at any instant, whatever the others do; later all run, and p publishes.

    Moments are close together, because a history is a matter of the order of a few messages of 1 ms each.
    """
    sites = sites_of([None], [2])
    publisher, subscriber = sites[0].clients
    delays = tuple(LinkDelay(a, b, random.choice((1, 1, 1, 3, 20)) * MILLISECOND) for a, b in links_of(sites))
    span = random.choice((20, 100, 1000)) * MILLISECOND
    faults = sorted(
        (fault for broker in sites[0].brokers for fault in _crashes(random, broker, span)), key=lambda fault: fault.at
    )
    moments = [CRASHES_FROM - 2 * MILLISECOND + random.randrange(span) for _ in range(random.randint(0, 4))]
    moments += [ALL_RUN_AFTER + number * SECOND for number in range(2)]
    commands = [Command(0, subscriber, Subscribe(about(0)))]
    commands += [Command(at, publisher, published(0)) for at in sorted(moments)]
    parameters = _parameters(random) | {"time_out": "100ms"}
    return History(sites, delays, parameters, {publisher: set(), subscriber: {0}}, tuple(commands), tuple(faults), ())


def _crashes(random: Random, broker: NodeId, span: SimTime) -> Iterator[Fault]:
    """Up to two crashes or freezes of one broker, at instants of half a millisecond as of whole ones."""
    moments = sorted(random.sample(range(2 * span // MILLISECOND), 2 * random.choice((0, 1, 1, 2))))
    for number, moment in enumerate(moments):
        failure = FaultKind.CRASH if random.random() < 0.85 else FaultKind.FREEZE
        at = CRASHES_FROM + moment * MILLISECOND // 2
        yield Fault(at, broker, FaultKind.RECOVER if number % 2 else failure)


@dataclass(frozen=True)
class Verdict:
    """How many brokers were down or without a copy at once, how many without a copy, and what does not hold."""

    missing: int
    empty: int
    found: tuple[str, ...]


def judge(history: History) -> Verdict:
    """Nothing is lost as long as one at most was missing; and the site serves as long as a copy was left."""
    result = history.carry_out()
    empty = _most(result.copies)
    downs = [(fault.at, fault.node, fault.kind is FaultKind.RECOVER) for fault in history.faults]
    missing = max(empty, _most_missing(result.copies, downs))
    found = list(_serves(history, result)) if empty < len(history.sites[0].brokers) else []
    if missing <= 1:
        found += wrong_in(history, result)
    return Verdict(missing, empty, tuple(found))


def _serves(history: History, result: Result) -> Iterator[str]:
    """One leader, which both others follow, and what is published when all run again is delivered in time."""
    try:
        check_copies(result)
        check_silence(result)
    except AssertionError:
        yield "does not serve"
        return
    published_at = ALL_RUN_AFTER / SECOND
    late = [row for row in of(result.rows, "deliver") if row["time_s"] >= published_at]
    if not late or late[-1]["time_s"] > published_at + 1 + SERVES_WITHIN / SECOND:
        yield "what is published when all run is late or lost"


def _most(changes: Sequence[tuple[SimTime, NodeId, bool]]) -> int:
    """How many nodes at most were without something at once."""
    without: set[NodeId] = set()
    most = 0
    for _, node, has in changes:
        (without.discard if has else without.add)(node)
        most = max(most, len(without))
    return most


def _most_missing(copies: Sequence[tuple[SimTime, NodeId, bool]], downs: Sequence[tuple[SimTime, NodeId, bool]]) -> int:
    """How many at most were down or without a copy at once; what happens at one instant counts as all at once."""
    changes = [(at, has, (node, kind)) for kind, rows in enumerate((copies, downs)) for at, node, has in rows]
    without: set[tuple[NodeId, int]] = set()
    most = 0
    for _, has, what in sorted(changes):
        (without.discard if has else without.add)(what)
        most = max(most, len({node for node, _ in without}))
    return most


@dataclass(frozen=True)
class _Moments:
    """When something can happen."""

    random: Random
    busy: SimTime
    settling: SimTime

    def any(self) -> SimTime:
        """While the network is busy."""
        return self.settling + self.random.randrange(self.busy)

    def follow(self) -> Iterator[tuple[SimTime, SimTime]]:
        """Spans of time one after the other, with time between to settle; up to three."""
        now = self.settling
        for _ in range(self.random.choice((0, 0, 1, 2, 3))):
            start = now + self.random.randrange(self.busy // 2)
            now = start + 1 + self.random.randrange(self.random.choice((SECOND, self.settling)))
            yield start, now
            now += self.settling


@dataclass(frozen=True)
class _Absence:
    """The links of a client are gone for a while."""

    client: NodeId
    since: SimTime
    until: SimTime

    def commands(self) -> list[Command]:
        return [Command(self.since, self.client, Detach()), Command(self.until, self.client, Attach())]

    def links(self, sites: Sites) -> list[LinkChange]:
        brokers = sites[sites.of_node[self.client]].brokers
        moments = ((self.since, False), (self.until, True))
        return [LinkChange(at, self.client, broker, up) for at, up in moments for broker in brokers]


def _sites(random: Random) -> Sites:
    count = random.randint(1, 3)
    parents = [None, *(random.randrange(site) for site in range(1, count))]
    return sites_of(parents, [random.randint(1, 2) for _ in range(count)])


def _delays(random: Random, sites: Sites) -> tuple[LinkDelay, ...]:
    """All links alike, or each with a delay of its own; short and long ones are as likely."""
    typical = _delay(random)
    is_mixed = random.random() < 0.5
    return tuple(LinkDelay(a, b, _delay(random) if is_mixed else typical) for a, b in links_of(sites))


def _delay(random: Random) -> SimTime:
    times: float = (LONGEST / MILLISECOND) ** random.random()
    return round(MILLISECOND * times)


def _parameters(random: Random) -> dict[str, str]:
    return {
        "routing": random.choice(("filtering", "flooding")),
        "order": random.choice(("none", "fifo", "total")),
        "time_out": random.choice(_TIME_OUTS),
        "piece_size": random.choice(("30", "60000")),
    }


def _unsubscriptions(random: Random, moments: _Moments, wanted: dict[Peer, set[int]]) -> list[Command]:
    """Subscribes to a topic at any moment, and unsubscribes long before it is published or never."""
    commands = []
    for client, topics in wanted.items():
        for topic in sorted(topics):
            if random.random() < 0.2:
                commands.append(Command(moments.any() + moments.busy * 2, client, Unsubscribe(about(topic))))
                topics.remove(topic)
    return commands


def _failures(random: Random, moments: _Moments, site: Site) -> Iterator[Fault]:
    """One broker of the site after the other crashes or freezes, and recovers."""
    for start, end in moments.follow():
        broker = random.choice(site.brokers)
        yield Fault(start, broker, random.choice((FaultKind.CRASH, FaultKind.FREEZE)))
        yield Fault(end, broker, FaultKind.RECOVER)


def _absences(random: Random, moments: _Moments, client: NodeId) -> list[_Absence]:
    """A client leaves and returns, some clients more than once."""
    return [_Absence(client, start, end) for start, end in moments.follow()]


def _filters(history: History) -> dict[NodeId, list[Filter]]:
    return {client: [about(topic) for topic in topics] for client, topics in history.wanted.items()}
