"""Random histories: a network and its events, drawn within a question's limits, and shrunk.

A history is a transcript. Commands are drawn from the question's `may` lines; the last ones are probes. Each history
first draws a style (swarm testing: Groce et al., 2012): omitted lines, waits for quiet, spacing, the busiest nodes. A
fault (freeze, cut-off, absence) ends before the probes. Shrinking is greedy: a step stays if the history stays equally
wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from random import Random
from typing import Any, NamedTuple

from roambus.bridge.scenario.definition import DEPARTURE
from roambus.bridge.scenario.plans import FaultKind, ParentChange
from roambus.bridge.transcript.commands import Apply, Command, Fail, Leave, Move, PublishEvent, Relink, Return
from roambus.bridge.transcript.document import parse_document, parse_positive
from roambus.bridge.transcript.head import Head, read_head
from roambus.bridge.transcript.network import Network
from roambus.extensions.exploring.counterexamples import Sentences
from roambus.extensions.exploring.networks import (
    Delays,
    Sketch,
    any_delay,
    draw_delays,
    draw_network,
    draw_place,
)
from roambus.extensions.exploring.property_checker import probes
from roambus.extensions.exploring.scenario_file import May, MayReader, Question
from roambus.extensions.exploring.world import World, do
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.simtime import MICROSECOND, MILLISECOND, SECOND, SimTime, format_time

_LONGEST_DELAY = 2 * SECOND
_SETTLING = 100
"""A history waits this multiple of the longest delay, and at least a second, for quiet."""
_NAME = re.compile(r"[bspn]\d+")
_BEGINS, _ENDS, _AWAY = ("crashes", "freezes", "detaches"), ("recovers", "attaches"), ("detaches", "attaches")
_SOONEST = {"recovers": MILLISECOND, "attaches": DEPARTURE + MILLISECOND, "freezes": MICROSECOND}
"""A crash is noticed before the recovery, a goodbye is sent before the departure, a backlog before the next freeze."""
_UNITS = (SECOND, 100 * MILLISECOND, 10 * MILLISECOND, MILLISECOND, MILLISECOND // 2)


class TimedCommand(NamedTuple):
    """A command and its delay after the previous one; None waits until that has settled."""

    text: str
    after: SimTime | None = None

    @property
    def soonest(self) -> SimTime:
        """The shortest delay after the previous command."""
        return next((soon for verb, soon in _SOONEST.items() if f" {verb}" in self.text), 0)

    def rounder(self) -> Iterator[TimedCommand]:
        """The same at simpler times."""
        if self.after is not None:
            units = [unit for unit in _UNITS if self.after % unit]
            times = [
                rounded for unit in units for rounded in (self.after // unit * unit, -(-self.after // unit) * unit)
            ]
            earliest = [self.soonest] * (self.after > self.soonest)
            yield self._replace(after=None)
            yield from (self._replace(after=time) for time in (*times, *earliest) if time >= self.soonest)


@dataclass(frozen=True)
class History:
    """A network, its delays, commands, and final probes."""

    sketch: Sketch
    delays: Delays
    slot: SimTime
    timed: tuple[TimedCommand, ...]
    probes: tuple[str, ...]
    lines: frozenset[str] = frozenset()
    """The lines of the question of which something happens."""

    def head(self) -> Iterator[str]:
        """The lines that draw the network."""
        yield from self.sketch.lines()
        yield from (f"delay {links} {format_time(delay)}".replace("  ", " ") for links, delay in self.delays)
        yield f"slot {format_time(self.slot)}"

    def commands(self) -> Iterator[str]:
        """The lines below the head."""
        for text, after in self.timed:
            yield (f"> {text}" if after is None else f"> after {format_time(after)} {text}")
        yield from (f"> {probe}" for probe in self.probes)

    @property
    def unfinished(self) -> set[tuple[str, str]]:
        """The nodes down or away at the end, with the cause."""
        said = (step.text.split()[:2] for step in self.timed)
        last = {(name, verb in _AWAY): (name, verb) for name, verb in said if verb in (*_BEGINS, *_ENDS)}
        return {pair for pair in last.values() if pair[1] in _BEGINS}

    def smaller(self) -> Iterator[History]:
        """Histories one step smaller, the greatest steps first."""
        timed, delays = self.timed, self.delays
        yield from (replace(self, timed=fewer) for fewer in self._shorter())
        yield from (replace(self, probes=(probe,)) for probe in self.probes if len(self.probes) > 1)
        yield from map(self._in, self.sketch.simpler())
        simpler: list[Delays] = [(("", delay),) for _, delay in delays if len(delays) > 1]
        simpler += [delays[:at] + delays[at + 1 :] for at in range(1, len(delays))]
        simpler += [(("", MILLISECOND), *delays[1:])] * (delays[0][1] != MILLISECOND)
        yield from (replace(self, delays=fewer) for fewer in simpler)
        rounder = ((place, rounded) for place, step in enumerate(timed) for rounded in step.rounder())
        yield from (replace(self, timed=(*timed[:place], rounded, *timed[place + 1 :])) for place, rounded in rounder)

    def _shorter(self) -> Iterator[tuple[TimedCommand, ...]]:
        """Fewer commands: without many in a row, one, or the two ends of a fault."""
        timed, size = self.timed, len(self.timed)
        while size:
            yield from (timed[:begin] + timed[begin + size :] for begin in range(0, len(timed), size))
            size //= 2
        said = [step.text.split()[:2] for step in timed]
        for (first, (name, verb)), (last, end) in combinations(enumerate(said), 2):
            ends = (*_ENDS, "moves") if verb in (*_BEGINS, "is") else ()  # is cut off
            if end[0] == name and end[1] in ends:
                yield (*timed[:first], *timed[first + 1 : last], *timed[last + 1 :])

    def _in(self, sketch: Sketch) -> History:
        """The same history in a smaller network, without commands about missing nodes."""
        there = {process for name, _ in sketch.nodes for process in name.split("/")}
        is_there: Callable[[str], bool] = lambda text: set(_NAME.findall(text)) <= there  # noqa: E731
        delays = [(" ".join(filter(is_there, links.split())), delay) for links, delay in self.delays]
        kept = tuple(delay for place, delay in enumerate(delays) if delay[0] or not place)
        timed = tuple(step for step in self.timed if is_there(step.text))
        return History(sketch, kept, self.slot, timed, tuple(filter(is_there, self.probes)))


def shrink(history: History, is_wrong: Callable[[History], bool]) -> Iterator[History]:
    """Ever smaller wrong histories, found by greedy steps."""
    smaller: History | None = history
    while smaller is not None:
        yield (history := smaller)
        possible = (
            candidate
            for candidate in history.smaller()
            if candidate.timed and candidate.unfinished <= history.unfinished
        )
        smaller = next(filter(is_wrong, possible), None)


class HistoryGenerator:
    """Draws histories that a question allows."""

    def __init__(self, question: Question, agent_line: str) -> None:
        given = (line.split() for line in question.head)
        settings = {words[0]: words[1] for words in given if len(words) == 2 and words[0] in ("slot", "delay")}
        self._question = question
        self._slot, self._delay = (
            parse_positive(its) if (its := settings.get(name)) else 0 for name in ("slot", "delay")
        )
        own = (line for line in question.head if line.strip() and not re.match(r"agent |slot |delay \S+$", line))
        self._head = (agent_line, *own)

    def draw(self, seed: int) -> History:
        """The history of a seed."""
        random = Random(f"history/{seed}")
        sketch = draw_network(random, self._question.family)
        most = self._slot // _SETTLING if self._slot else _LONGEST_DELAY
        is_storm = random.random() < _STORMS
        if sketch.nodes:
            leaves = any("departure" in text for _, text in self._question.may)
            delays = draw_delays(random, sketch, most, is_storm=is_storm, leaves=leaves)
        else:
            delays = (("", self._delay or random.choice((MILLISECOND, any_delay(random, most)))),)
        longest, shortest = (end(delay for _, delay in delays) for end in (max, min))
        slot = self._slot or max(SECOND, _SETTLING * longest)
        history = History(sketch, delays, slot, (), ())
        drawn = read_head(parse_document(self._question.path, self.text(history)))
        times = random.choice((longest, longest // 5 + MILLISECOND, shortest)), slot
        script = _Script(self._question, drawn, random, times, is_storm)
        timed, probes = script.draw()
        return replace(history, timed=tuple(timed), probes=tuple(probes), lines=frozenset(script.lines))

    def text(self, history: History) -> str:
        """A history as a transcript."""
        commands = tuple(history.commands()) or ("> wait 0s",)
        return "\n".join((*self._head, *history.head(), "", *commands, ""))


class _Script:
    """Draws what happens, in a world that follows it; its style is drawn first, so that histories differ in kind."""

    def __init__(
        self,
        question: Question,
        drawn: tuple[Head, Network],
        random: Random,
        times: tuple[SimTime, SimTime],
        storm: bool,
    ) -> None:
        """`times`: the unit of delays, and the slot."""
        head, self._network = drawn
        self._random, (self._unit, self._slot), self._is_storm = random, times, storm
        self._quiet, self._far, self._near, self._leaves_out = map(random.choice, _STYLES)
        self._is_fine = random.random() < _FINE
        if storm:
            self._quiet, self._far, self._leaves_out, self._is_fine = 0.0, 0.0, 0.0, True
        self._sentences = Sentences(self._network, head.vocabulary)
        nodes = range(len(self._network.processes))
        self._brokers = frozenset(filter(self._network.is_broker, nodes))
        self._faults = _Faults(self._network)
        reader = MayReader(self._network, head.vocabulary)
        walks = [text for _, text in question.may if _WALKS.fullmatch(text)]
        self._walks = {f"may {text}": int(text.split()[0]) for text in walks}
        self._may = [
            self._faults.read(text) or reader.read(text) for _, text in question.may if not _WALKS.fullmatch(text)
        ]
        self._last: list[NodeId] = []
        self.lines: set[str] = set()
        """The lines of which something was drawn."""
        cast = random.sample(nodes, min(len(nodes), random.choice((1, 2, 3, len(nodes)))))
        clients = [node for node in nodes if node not in self._brokers]
        self._cast = clients if storm and self._brokers and clients else cast
        """The busiest nodes; clients in a storm."""

    def draw(self) -> tuple[list[TimedCommand], list[str]]:
        """The commands, and the probes: everybody who can publishes what anybody wants."""
        network, timed = self._network, list[TimedCommand]()
        nodes = range(len(network.processes))
        world = World.of(len(nodes), network.links, tuple(map(network.parents.get, nodes)) if network.is_tree else ())

        def add(command: Command, after: SimTime | None = None) -> World:
            step = TimedCommand(self._sentences.command(command))
            timed.append(step if after is None else step._replace(after=max(after, step.soonest)))
            return self._faults.follow(command, world)

        for may in self._turns():
            if may is None:
                timed.append(self._walk())
                self.lines |= self._walks.keys()
            elif options := [option for option in may.options(world) if self._faults.allow(option)]:
                chosen = self._pick(options)
                self.lines.add(f"may {may.text}")
                world = add(chosen, None if may.when_quiet or not timed else self._after())
        recovers = any("recover" in may.text for may in self._may)
        recoveries = [Fail(node, FaultKind.RECOVER) for node in sorted(world.down) if recovers]
        for last in (*recoveries, *self._faults.ends(world, self._random)):
            world = add(last)
        publishers = {node for node in nodes if Role.PUBLISHER in network.roles(node)}
        return timed, list(map(self._sentences.command, probes(world, publishers)))

    def _after(self) -> SimTime | None:
        """The delay of a command after the previous one."""
        random = self._random
        if random.random() < self._quiet:
            return None
        if random.random() < self._far:
            times: float = (self._slot / self._unit) ** random.random()
            return round(self._unit * times) // MICROSECOND * MICROSECOND
        fine = self._unit // MICROSECOND
        return random.randrange(fine) * MICROSECOND if self._is_fine else random.randrange(9) * self._unit // 2

    def _turns(self) -> list[May | None]:
        """The order of the lines, None for a walk; many subscriptions come first."""
        early, late, random = list[May | None](), list[May | None](), self._random
        for may in self._may:
            left_out = random.random() < self._leaves_out
            least = may.times if self._is_storm else 1
            for _ in range(0 if left_out or not may.times else random.randint(least, may.times)):
                is_early = "subscri" in may.text and not may.text.startswith("un") and random.random() < _EARLY
                (early if is_early else late).append(may)
        late += [None] * random.randint(0, sum(self._walks.values()))
        random.shuffle(late)
        return early + late

    def _pick(self, options: Sequence[Command]) -> Command:
        """Pick a command, perhaps about a recent node; half of all changes are cuts."""
        random = self._random
        cast = [option for option in options if _nodes_of(option)[0] in self._cast]
        chosen_from = cast if cast and random.random() < _BY_CAST else options
        near = [command for command in chosen_from if set(_nodes_of(command)) & set(self._last)]
        chosen_from = near if near and random.random() < self._near else chosen_from
        kinds = [[command for command in chosen_from if _is_cut(command) is cut] for cut in (True, False)]
        chosen = random.choice(random.choice([kind for kind in kinds if kind]))
        self._last = [*self._last, *_nodes_of(chosen)][-4:]
        return chosen

    def _walk(self) -> TimedCommand:
        name = self._network.node_name(self._random.randrange(len(self._network.processes)))
        side = round(max(max(place) for place in self._network.places.values()))
        return TimedCommand(f"{name} moves to {draw_place(self._random, side)}", self._after())


_STYLES = ((0.1, 0.3, 0.6, 0.9), (0.0, 0.1, 0.4), (0.0, 0.4, 0.8), (0.0, 0.2, 0.5))
"""The shares of waits for quiet, long delays, commands near others, and omitted lines."""
_FINE, _EARLY = 0.3, 0.4
_BY_CAST = 0.7
_STORMS = 0.25
"""One of this number of histories is a storm: everything happens before earlier events have ended."""
_WALKS = re.compile(r"\d{1,3} walks?")
_FAULTS = re.compile(r"(\d{1,3}) (freeze|absence|departure)s?( when quiet)?")


def _is_cut(command: Command) -> bool:
    return (isinstance(command, Move) and command.parent is None) or (isinstance(command, Relink) and not command.up)


def _nodes_of(command: Command) -> tuple[NodeId, ...]:
    found = (getattr(command, name, None) for name in ("node", "a", "b", "parent", "broker"))
    return tuple(node for node in found if node is not None)


class _Faults:
    """The faults that have begun: frozen nodes, cut-off and detached clients."""

    def __init__(self, network: Network) -> None:
        self._nodes = range(len(network.processes))
        self._brokers = frozenset(filter(network.is_broker, self._nodes))
        self._frozen: set[NodeId] = set()
        self._away: set[NodeId] = set()
        self._homes: dict[NodeId, NodeId] = {}
        """The brokers of the clients that are cut off, if these return to the same broker."""
        self._keeps_homes = False

    def read(self, text: str) -> May | None:
        """Read "3 freezes" or "2 absences when quiet"; None for another line."""
        match = _FAULTS.fullmatch(text)
        if match is None:
            return None
        self._keeps_homes |= match[2] == "absence"
        # A beginning and an end have a turn each.
        return May(text, 2 * int(match[1]), partial(self._options, match[2]), when_quiet=bool(match[3]))

    def allow(self, command: Command) -> bool:
        """Whether a command makes sense for a node that may be frozen, cut off or away."""
        match command:
            case Apply(node) | Fail(node, FaultKind.CRASH):
                return node not in self._frozen
            case PublishEvent(node):
                return node not in self._frozen | self._away
            case Move(node, parent):
                return node not in self._away and parent == self._homes.get(node, parent)
        return True

    def follow(self, command: Any, world: World) -> World:
        """The world after a command."""
        node = getattr(command, "node", -1)
        if isinstance(command, Leave | Return):
            self._away ^= {node}
            change = ParentChange(0, node, getattr(command, "broker", None))
            return world.after(change) if world.parents else world
        if isinstance(command, Fail):
            self._frozen = self._frozen | {node} if command.kind is FaultKind.FREEZE else self._frozen - {node}
        elif isinstance(command, Move):
            self._homes.pop(node, None)
            home = world.parents[node]
            if command.parent is None and home is not None and node not in self._brokers and self._keeps_homes:
                self._homes[node] = home
        thaws = isinstance(command, Fail) and command.kind is not FaultKind.CRASH and node not in world.down
        return world if thaws else do(command, world, self._brokers).world

    def ends(self, world: World, random: Random) -> Iterator[Command]:
        """The ends of all that has begun."""
        yield from (Fail(node, FaultKind.RECOVER) for node in sorted(self._frozen))
        yield from (Move(node, home) for node, home in sorted(self._homes.items()))
        yield from (random.choice(self._returns(node, world)) for node in sorted(self._away))

    def _options(self, kind: str, world: World) -> Iterator[Command]:
        """The faults of a kind that can begin or end."""
        for node in self._nodes:
            is_client = node not in self._brokers
            is_placed = bool(world.parents) and world.parents[node] is not None
            if kind == "freeze" and (node in self._frozen or node not in world.down | self._away):
                yield Fail(node, FaultKind.RECOVER if node in self._frozen else FaultKind.FREEZE)
            elif kind == "absence" and is_client and (node in self._homes or is_placed):
                yield Move(node, self._homes.get(node))
            elif kind == "departure" and is_client and node in self._away:
                yield from self._returns(node, world)
            elif kind == "departure" and is_client and node not in world.down | self._frozen:
                yield from [Leave(node)] * (is_placed or not world.parents)

    def _returns(self, node: NodeId, world: World) -> list[Return]:
        brokers = sorted(self._brokers - world.down) or sorted(self._brokers)
        return [Return(node, broker) for broker in (brokers if world.parents else [None])]
