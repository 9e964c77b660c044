"""Random histories: a network and its events, drawn within a question's limits, and shrunk.

A history is a transcript. Commands are drawn from the question's `may` lines; the last ones are probes. Each history
first draws a style (swarm testing: Groce et al., 2012): omitted lines, waits for quiet, spacing, the busiest nodes. A
spell (freeze, cut-off, absence) ends before the probes. Shrinking is greedy: a step stays if the history stays equally
wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from roambus.bridge.scenario.definition import DEPARTURE
from roambus.bridge.scenario.plans import FaultKind, ParentChange
from roambus.bridge.transcript.commands import Apply, Command, Fail, Leave, Move, PublishEvent, Relink, Return
from roambus.bridge.transcript.document import parse_document, parse_positive
from roambus.bridge.transcript.head import Head, read_head
from roambus.bridge.transcript.network import Network
from roambus.experiments.exploring.counterexamples import Sentences
from roambus.experiments.exploring.probes import matching
from roambus.experiments.exploring.random_networks import Sketch, any_delay, draw_delays, draw_network, draw_place
from roambus.experiments.exploring.scenario_file import May, MayReader, Question
from roambus.experiments.exploring.world import World, do
from roambus.python_protocol.vocabulary import MICROSECOND, MILLISECOND, SECOND, NodeId, Role, SimTime, format_time

_LONGEST_DELAY = 2 * SECOND
_SETTLING = 100
"""A history waits this multiple of the longest delay, and at least a second, for quiet."""
_NAME = re.compile(r"[bspn]\d+")


@dataclass(frozen=True)
class TimedCommand:
    """A command and its delay after the previous one; None waits until that has settled."""

    text: str
    after: SimTime | None = None

    @property
    def names(self) -> set[str]:
        """The nodes that it names."""
        return set(_NAME.findall(self.text))

    @property
    def soonest(self) -> SimTime:
        """The shortest delay after the previous command.

        A crash is noticed before the recovery, a goodbye is sent before the departure, and a recovered node gets its
        backlog before it freezes again.
        """
        return next((soon for verb, soon in _SOONEST.items() if f" {verb}" in self.text), 0)


_SOONEST = {"recovers": MILLISECOND, "attaches": DEPARTURE + MILLISECOND, "freezes": MICROSECOND}


@dataclass(frozen=True)
class History:
    """A network, its delays, commands, and final probes."""

    sketch: Sketch
    delays: tuple[tuple[str, SimTime], ...]
    """A delay and its links, as in the head; the first applies to all other links."""
    slot: SimTime
    timed: tuple[TimedCommand, ...]
    probes: tuple[str, ...]

    def head(self) -> Iterator[str]:
        """The lines that draw the network."""
        yield from self.sketch.lines()
        yield from (f"delay {links} {format_time(delay)}".replace("  ", " ") for links, delay in self.delays)
        yield f"slot {format_time(self.slot)}"

    def commands(self) -> Iterator[str]:
        """The lines below the head."""
        for step in self.timed:
            yield (f"> {step.text}" if step.after is None else f"> after {format_time(step.after)} {step.text}")
        yield from (f"> {probe}" for probe in self.probes)

    @property
    def unfinished(self) -> set[tuple[str, str]]:
        """The nodes down or away at the end, with the cause."""
        last: dict[tuple[str, bool], str] = {}
        for name, verb in (step.text.split()[:2] for step in self.timed):
            if verb in _BEGINS or verb in _ENDS:
                last[name, verb in _AWAY] = verb
        return {(name, verb) for (name, _), verb in last.items() if verb in _BEGINS}

    def smaller(self) -> Iterator[History]:
        """Histories one step smaller, the greatest steps first."""
        timed = self.timed
        yield from self._shorter()
        if len(self.probes) > 1:
            yield from (replace(self, probes=(one,)) for one in self.probes)
        yield from (self._in(sketch) for sketch in self.sketch.simpler())
        if len(self.delays) > 1:
            yield from (self._paced(((("", delay)),)) for _, delay in self.delays)
            yield from (self._paced(self.delays[:at] + self.delays[at + 1 :]) for at in range(1, len(self.delays)))
        if self.delays[0][1] != MILLISECOND:
            yield self._paced((("", MILLISECOND), *self.delays[1:]))
        for place, step in enumerate(timed):
            for after in _rounder(step):
                yield replace(self, timed=(*timed[:place], replace(step, after=after), *timed[place + 1 :]))

    def _shorter(self) -> Iterator[History]:
        """With fewer commands: without many in a row, one, or a spell's two ends."""
        timed = self.timed
        size = len(timed)
        while size:
            for begin in range(0, len(timed), size):
                yield replace(self, timed=timed[:begin] + timed[begin + size :])
            size //= 2
        for first, last in self._intervals():
            yield replace(self, timed=(*timed[:first], *timed[first + 1 : last], *timed[last + 1 :]))

    def _intervals(self) -> Iterator[tuple[int, int]]:
        """Pairs of beginning and end, which only make sense together."""
        said = [step.text.split()[:2] for step in self.timed]
        for first, (name, verb) in enumerate(said):
            if verb in (*_BEGINS, "is"):  # is cut off
                ends = (
                    at
                    for at, one in enumerate(said)
                    if at > first and one in ([name, end] for end in (*_ENDS, "moves"))
                )
                yield from ((first, last) for last in ends)

    def _paced(self, delays: tuple[tuple[str, SimTime], ...]) -> History:
        return replace(self, delays=delays)

    def _in(self, sketch: Sketch) -> History:
        """The same history in a smaller network, without commands about missing nodes."""
        there = {process for name, _ in sketch.nodes for process in name.split("/")}
        there |= {end for link in sketch.links for end in link}
        timed = tuple(one for one in self.timed if one.names <= there)
        probes = tuple(one for one in self.probes if set(_NAME.findall(one)) <= there)
        delays = [
            (" ".join(one for one in links.split() if set(_NAME.findall(one)) <= there), it)
            for links, it in self.delays
        ]
        kept = tuple(one for place, one in enumerate(delays) if one[0] or not place)
        return replace(self, sketch=sketch, timed=timed, probes=probes, delays=kept)


_BEGINS, _ENDS, _AWAY = ("crashes", "freezes", "detaches"), ("recovers", "attaches"), ("detaches", "attaches")


def _rounder(step: TimedCommand) -> Iterator[SimTime | None]:
    after = step.after
    if after is None:
        return
    yield None
    for unit in (SECOND, 100 * MILLISECOND, 10 * MILLISECOND, MILLISECOND, MILLISECOND // 2):
        for rounded in (after // unit * unit, -(-after // unit) * unit):
            if after % unit and rounded >= step.soonest:
                yield rounded
    if after > step.soonest:
        yield step.soonest


def shrink(history: History, is_wrong: Callable[[History], bool], is_over: Callable[[], bool]) -> History:
    """The smallest wrong history found by greedy steps."""
    goes_on = True
    while goes_on and not is_over():
        goes_on = False
        for smaller in history.smaller():
            if is_over():
                break
            if smaller.timed and smaller.unfinished <= history.unfinished and is_wrong(smaller):
                history, goes_on = smaller, True
                break
    return history


@dataclass
class _Style:
    """What a history is like."""

    random: Random
    unit: SimTime
    slot: SimTime
    is_storm: bool
    quiet: float = field(init=False)
    far: float = field(init=False)
    near: float = field(init=False)
    leaves_out: float = field(init=False)
    is_fine: bool = field(init=False)

    def __post_init__(self) -> None:
        """Draw a history's probabilities, so that histories differ in kind."""
        random = self.random
        self.quiet = random.choice((0.1, 0.3, 0.6, 0.9))
        self.far = random.choice((0.0, 0.1, 0.4))
        self.near = random.choice((0.0, 0.4, 0.8))
        self.leaves_out = random.choice((0.0, 0.2, 0.5))
        self.is_fine = random.random() < 0.3
        if self.is_storm:
            self.quiet, self.far, self.leaves_out, self.is_fine = 0.0, 0.0, 0.0, True

    def after(self) -> SimTime | None:
        """The delay of a command after the previous one."""
        random = self.random
        if random.random() < self.quiet:
            return None
        if random.random() < self.far:
            times: float = (self.slot / self.unit) ** random.random()
            return round(self.unit * times) // MICROSECOND * MICROSECOND
        if self.is_fine:
            return random.randrange(self.unit // MICROSECOND) * MICROSECOND
        return random.randrange(9) * self.unit // 2


class Drawer:
    """Draws histories that a question allows."""

    def __init__(self, question: Question, agent_line: str) -> None:
        self._question = question
        self._agent_line = agent_line
        self._slot, self._delay = (self._given(name) for name in ("slot", "delay"))

    def _given(self, name: str) -> SimTime | None:
        """A setting of the question that has one value."""
        given = [line.split()[1:] for line in self._question.head if line.startswith(f"{name} ")]
        return parse_positive(given[0][0]) if given and len(given[0]) == 1 else None

    def draw(self, seed: int) -> History:
        """The history of a seed."""
        random = Random(f"history/{seed}")
        sketch = draw_network(random, self._question.family)
        most = _LONGEST_DELAY if self._slot is None else self._slot // _SETTLING
        is_storm = random.random() < _STORMS
        if sketch.nodes:
            leaves = any("departure" in text for _, text in self._question.may)
            delays = draw_delays(random, sketch, most, is_storm=is_storm, leaves=leaves)
        else:
            delays = (("", self._delay or random.choice((MILLISECOND, any_delay(random, most)))),)
        longest = max(delay for _, delay in delays)
        slot = self._slot or max(SECOND, _SETTLING * longest)
        history = History(sketch, delays, slot, (), ())
        head, network = read_head(parse_document(self._question.path, self.text(history)))
        unit = random.choice((longest, longest // 5 + MILLISECOND, min(delay for _, delay in delays)))
        style = _Style(random, unit, slot, is_storm)
        world, timed = _Script(self._question, head, network, style).draw()
        return replace(
            history, timed=tuple(timed), probes=tuple(_probes(world, network, Sentences(network, head.vocabulary)))
        )

    def text(self, history: History) -> str:
        """A history as a transcript."""
        own = [line for line in self._question.head if line.strip() and not self._is_drawn(line)]
        return (
            "\n".join((self._agent_line, *own, *history.head(), "", *(tuple(history.commands()) or ("> wait 0s",))))
            + "\n"
        )

    def _is_drawn(self, line: str) -> bool:
        """Whether a history draws a line of its own in place of this one."""
        keyword, _, rest = line.partition(" ")
        return keyword in ("agent", "slot") or (keyword == "delay" and len(rest.split()) == 1)


class _Script:
    """Draws what happens, in a world that follows it."""

    def __init__(self, question: Question, head: Head, network: Network, style: _Style) -> None:
        self._network = network
        self._style = style
        self._random = style.random
        self._sentences = Sentences(network, head.vocabulary)
        self._brokers = frozenset(one for one in range(len(network.processes)) if network.is_broker(one))
        self._walks = sum(int(text.split()[0]) for _, text in question.may if _WALKS.fullmatch(text))
        reader = MayReader(network, head.vocabulary)
        self._intervals = _Intervals(network)
        self._may = [
            self._intervals.read(text) or reader.read(text) for _, text in question.may if not _WALKS.fullmatch(text)
        ]
        self._recovers = any("recover" in one.text for one in self._may)
        self._last: list[NodeId] = []
        nodes = range(len(network.processes))
        self._cast = set(self._random.sample(nodes, min(len(nodes), self._random.choice((1, 2, 3, len(nodes))))))
        """The busiest nodes; clients in a storm."""
        clients = set(nodes) - self._brokers
        self._cast = clients if style.is_storm and self._brokers and clients else self._cast

    def draw(self) -> tuple[World, list[TimedCommand]]:
        """The final world, and its history."""
        world, timed = _world(self._network), list[TimedCommand]()
        for may in self._turns():
            if may is None:
                timed.append(self._walk())
                continue
            options = [one for one in may.options(world) if self._intervals.allow(one)]
            if options:
                command = self._pick(options)
                world = self._do(command, world)
                after = None if may.when_quiet or not timed else self._style.after()
                step = TimedCommand(self._sentences.command(command), after)
                timed.append(step if after is None else replace(step, after=max(after, step.soonest)))
        recoveries = [Fail(node, FaultKind.RECOVER) for node in sorted(world.down) if self._recovers]
        for last in (*recoveries, *self._intervals.ends(world, self._random)):
            world = self._do(last, world)
            timed.append(TimedCommand(self._sentences.command(last)))
        return world, timed

    def _do(self, command: Command, world: World) -> World:
        self._intervals.note(command, world)
        match command:
            case Leave(node) if world.parents:
                return world.after(ParentChange(0, node, None))
            case Return(node, broker) if world.parents:
                return world.after(ParentChange(0, node, broker))
            case Leave() | Return() | Fail(_, FaultKind.FREEZE):
                return world
            case Fail(node, FaultKind.RECOVER) if node not in world.down:
                return world
        return do(command, world, self._brokers).world

    def _turns(self) -> Iterator[May | None]:
        """The order of the lines; many subscriptions come first."""
        early, late = list[May | None](), list[May | None]()
        for may in self._may:
            left_out = self._random.random() < self._style.leaves_out
            least = may.times if self._style.is_storm else 1
            for _ in range(0 if left_out or not may.times else self._random.randint(least, may.times)):
                is_early = "subscri" in may.text and not may.text.startswith("un") and self._random.random() < 0.4
                (early if is_early else late).append(may)
        late += [None] * self._random.randint(0, self._walks)
        self._random.shuffle(late)
        return iter(early + late)

    def _pick(self, options: Sequence[Command]) -> Command:
        """Pick a command, perhaps about a recent node; half of all changes are cuts."""
        cast = [one for one in options if _nodes_of(one)[0] in self._cast]
        chosen_from = cast if cast and self._random.random() < _BY_CAST else options
        near = [one for one in chosen_from if set(_nodes_of(one)) & set(self._last)]
        chosen_from = near if near and self._random.random() < self._style.near else chosen_from
        kinds = [[one for one in chosen_from if _is_cut(one) is cut] for cut in (True, False)]
        chosen = self._random.choice(self._random.choice([kind for kind in kinds if kind]))
        self._last = [*self._last, *_nodes_of(chosen)][-4:]
        return chosen

    def _walk(self) -> TimedCommand:
        node = self._random.randrange(len(self._network.processes))
        side = round(max(max(place) for place in self._network.places.values()))
        return TimedCommand(
            f"{self._network.node_name(node)} moves to {draw_place(self._random, side)}", self._style.after()
        )


_BY_CAST = 0.7
_STORMS = 0.25
"""One of this number of histories is a storm: everything happens before earlier events have ended."""
_WALKS = re.compile(r"\d{1,3} walks?")


def _is_cut(command: Command) -> bool:
    return (isinstance(command, Move) and command.parent is None) or (isinstance(command, Relink) and not command.up)


def _nodes_of(command: Command) -> tuple[NodeId, ...]:
    match command:
        case Apply(node) | PublishEvent(node) | Fail(node) | Leave(node):
            return (node,)
        case Move(node, parent) | Return(node, parent):
            return (node,) if parent is None else (node, parent)
        case Relink(a, b):
            return a, b
    return ()


class _Intervals:
    """The open intervals: frozen nodes, cut-off and detached clients."""

    def __init__(self, network: Network) -> None:
        self._network = network
        nodes = range(len(network.processes))
        self._brokers = [node for node in nodes if network.is_broker(node)]
        self._clients = [node for node in nodes if not network.is_broker(node)]
        self._frozen: set[NodeId] = set()
        self._away: set[NodeId] = set()
        self._homes: dict[NodeId, NodeId] = {}
        """The brokers of the clients that are cut off."""
        self._keeps_homes = False
        """Whether cut-off clients return to the same broker."""
        self._kinds: dict[str, Callable[[World], Iterator[Command]]] = {
            "freeze": self._freezes,
            "absence": self._absences,
            "departure": self._departures,
        }

    def read(self, text: str) -> May | None:
        """Read "3 freezes" or "2 absences when quiet"; None for another line."""
        match = _INTERVALS.fullmatch(text)
        if match is None:
            return None
        self._keeps_homes |= match[2] == "absence"
        # A beginning and an end have a turn each.
        return May(text, 2 * int(match[1]), self._kinds[match[2]], when_quiet=bool(match[3]))

    def allow(self, command: Command) -> bool:
        """Whether a command makes sense for a node that may be frozen, cut off or away."""
        match command:
            case Apply(node):
                return node not in self._frozen
            case PublishEvent(node):
                return node not in self._frozen | self._away
            case Move(node):
                return node not in self._away and (node not in self._homes or command.parent == self._homes[node])
            case Fail(node, FaultKind.CRASH):
                return node not in self._frozen
        return True

    def note(self, command: Command, world: World) -> None:
        """Follows what happens."""
        match command:
            case Fail(node, FaultKind.FREEZE):
                self._frozen.add(node)
            case Fail(node):
                self._frozen.discard(node)
            case Leave(node):
                self._away.add(node)
            case Return(node):
                self._away.discard(node)
            case Move(node, None) if node in self._clients and self._keeps_homes:
                home = world.parents[node]
                self._homes |= {} if home is None else {node: home}
            case Move(node):
                self._homes.pop(node, None)

    def ends(self, world: World, random: Random) -> Iterator[Command]:
        """The ends of all that has begun."""
        yield from (Fail(node, FaultKind.RECOVER) for node in sorted(self._frozen))
        yield from (Move(node, home) for node, home in sorted(self._homes.items()))
        for node in sorted(self._away):
            yield random.choice(list(self._returns(node, world)))

    def _freezes(self, world: World) -> Iterator[Command]:
        for node in range(world.nodes):
            if node in self._frozen:
                yield Fail(node, FaultKind.RECOVER)
            elif node not in world.down | self._away:
                yield Fail(node, FaultKind.FREEZE)

    def _absences(self, world: World) -> Iterator[Command]:
        for node in self._clients if world.parents else ():
            if node in self._homes or world.parents[node] is not None:
                yield Move(node, self._homes.get(node))

    def _departures(self, world: World) -> Iterator[Command]:
        for node in self._clients:
            if node in self._away:
                yield from self._returns(node, world)
            elif node not in world.down | self._frozen and (not world.parents or world.parents[node] is not None):
                yield Leave(node)

    def _returns(self, node: NodeId, world: World) -> Iterator[Return]:
        brokers = [one for one in self._brokers if one not in world.down] or self._brokers
        yield from (Return(node, broker) for broker in (brokers if world.parents else [None]))


_INTERVALS = re.compile(r"(\d{1,3}) (freeze|absence|departure)s?( when quiet)?")


def _world(network: Network) -> World:
    size = len(network.processes)
    parents = tuple(network.parents.get(node) for node in range(size)) if network.is_tree else ()
    return World.of(size, network.links, parents)


def _probes(world: World, network: Network, sentences: Sentences) -> Iterator[str]:
    """Everybody who can publishes what anybody wants."""
    filters = sorted({one for its in world.wanted for one in its}, key=str)
    for node in range(world.nodes):
        if Role.PUBLISHER in network.roles(node) and node not in world.down:
            for one in filters:
                if (attributes := matching(one)) is not None:
                    yield sentences.command(PublishEvent(node, "", attributes))
