"""Random histories: a network and what happens to it, drawn within what a question allows, and made smaller.

A history is a transcript from the beginning: lines that draw a network, and commands, each with the time since the one
before it. What a question says may happen is drawn from, so often at most as it says; what must hold decides nothing
here. The last commands are the probes: when all has had its time, everybody publishes what anybody wants.

Histories that differ in one number only find the same things again and again. So each has a character of its own, which
is drawn first (swarm testing: Groce et al., 2012): which lines are left out, how often it waits until all is quiet, how
far apart commands are otherwise, which few nodes do most, and whether it stays with whom it has just spoken of. Small
networks are drawn more often than large ones, and delays are alike, or of a few kinds, or of all lengths.

It becomes smaller by greedy steps, each of which is kept if the history stays as wrong as it was: fewer commands, fewer
nodes, one delay, rounder times.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from random import Random

from roambus.bridge.scenario.plans import FaultKind
from roambus.bridge.transcript.commands import Apply, Command, Fail, Move, PublishEvent, Relink
from roambus.bridge.transcript.document import parse_document, parse_positive
from roambus.bridge.transcript.head import Head, read_head
from roambus.bridge.transcript.network import Network
from roambus.experiments.exploring.probes import matching
from roambus.experiments.exploring.scenario_file import Family, May, MayReader, Question
from roambus.experiments.exploring.transcripts import Sentences
from roambus.experiments.exploring.world import World, do
from roambus.python_protocol.vocabulary import MICROSECOND, MILLISECOND, SECOND, NodeId, Role, SimTime, format_time

_LONGEST_DELAY = 2 * SECOND
_SETTLING = 100
"""A history waits this multiple of the longest delay, and at least a second, until it counts as quiet."""
_NAME = re.compile(r"[bspn]\d+")


@dataclass(frozen=True)
class Sketch:
    """A network by the names of its nodes: what each hangs on is its parent, its site, or its place."""

    kind: str
    nodes: tuple[tuple[str, str], ...] = ()
    """Each node, and what it hangs on; in a tree parents come first. Empty if the question draws the network."""
    links: tuple[tuple[str, str], ...] = ()

    def lines(self) -> Iterator[str]:
        """As the head of a transcript draws it."""
        match self.kind:
            case "trees":
                clients = [f"{name}@{at}" if at else name for name, at in self.nodes if not name.startswith("b")]
                yield "tree"
                yield from self._branch("", 1)
                yield from [f"clients {' '.join(clients)}"] if clients else []
            case "graphs":
                yield f"links {' '.join(f'{a}-{b}' for a, b in self.links)}"
            case "fields":
                yield "field"
                yield from (f"  {name} at {place}" for name, place in self.nodes)
            case "sites":
                yield "sites"
                for site in dict.fromkeys(its for _, its in self.nodes):
                    its = [name for name, one in self.nodes if one == site]
                    brokers, clients = ([one for one in its if one.startswith("b") is kind] for kind in (True, False))
                    yield f"  {site}: {' '.join(brokers)} | {' '.join(clients)}"

    def _branch(self, parent: str, depth: int) -> Iterator[str]:
        for name, at in self.nodes:
            if at == parent and name.startswith("b"):
                yield f"{'  ' * depth}{name}"
                yield from self._branch(name.split("/")[0], depth + 1)

    def without(self, name: str) -> Sketch:
        """The network without a node; what hangs on it in a tree hangs on what it hung on."""
        first = name.split("/", maxsplit=1)[0]
        above = dict(self.nodes)[name]
        nodes = ((one, above if at == first and self.kind == "trees" else at) for one, at in self.nodes if one != name)
        return replace(self, nodes=tuple(nodes), links=tuple(one for one in self.links if first not in one))

    def simpler(self) -> Iterator[Sketch]:
        """The network with one node less, or with one process less on a node."""
        for name, at in reversed(self.nodes):
            yield self.without(name)
            for process in name.split("/")[1:]:
                fewer = name.replace(f"/{process}", "")
                yield replace(self, nodes=tuple((fewer, at) if one == name else (one, its) for one, its in self.nodes))


@dataclass(frozen=True)
class Deed:
    """A command, and how long after the one before it comes; None means when that has had its time."""

    text: str
    after: SimTime | None = None

    @property
    def names(self) -> set[str]:
        """The nodes that it names."""
        return set(_NAME.findall(self.text))

    @property
    def soonest(self) -> SimTime:
        """How soon it can come: whoever crashes is missed before it is back."""
        return MILLISECOND if self.text.endswith("recovers") else 0


@dataclass(frozen=True)
class History:
    """A network, its delays, what happens, and the probes in the end."""

    sketch: Sketch
    delays: tuple[tuple[str, SimTime], ...]
    """A delay and the links that have it, as the head writes them; the first is that of all others."""
    slot: SimTime
    deeds: tuple[Deed, ...]
    probes: tuple[str, ...]

    def head(self) -> Iterator[str]:
        """The lines that draw the network."""
        yield from self.sketch.lines()
        yield from (f"delay {links} {format_time(delay)}".replace("  ", " ") for links, delay in self.delays)
        yield f"slot {format_time(self.slot)}"

    def commands(self) -> Iterator[str]:
        """The lines below the head."""
        for deed in self.deeds:
            yield f"> {deed.text}" if deed.after is None else f"> after {format_time(deed.after)} {deed.text}"
        yield from (f"> {probe}" for probe in self.probes)

    @property
    def crashed(self) -> set[str]:
        """The nodes that are down in the end."""
        faults = [deed.text.split() for deed in self.deeds if deed.text.endswith((" crashes", " recovers"))]
        return {name for name, kind in {its[0]: its[1] for its in faults}.items() if kind == "crashes"}

    def smaller(self) -> Iterator[History]:
        """Histories that are a step smaller, the greatest steps first."""
        deeds = self.deeds
        size = len(deeds)
        while size:
            for begin in range(0, len(deeds), size):
                yield replace(self, deeds=deeds[:begin] + deeds[begin + size :])
            size //= 2
        if len(self.probes) > 1:
            yield from (replace(self, probes=(one,)) for one in self.probes)
        yield from (self._in(sketch) for sketch in self.sketch.simpler())
        if len(self.delays) > 1:
            yield from (self._paced(((("", delay)),)) for _, delay in self.delays)
            yield from (self._paced(self.delays[:at] + self.delays[at + 1 :]) for at in range(1, len(self.delays)))
        if self.delays[0][1] != MILLISECOND:
            yield self._paced((("", MILLISECOND), *self.delays[1:]))
        for place, deed in enumerate(deeds):
            for after in _rounder(deed):
                yield replace(self, deeds=(*deeds[:place], replace(deed, after=after), *deeds[place + 1 :]))

    def _paced(self, delays: tuple[tuple[str, SimTime], ...]) -> History:
        return replace(self, delays=delays)

    def _in(self, sketch: Sketch) -> History:
        """The same in a smaller network, without what was about nodes that are not there, or are none of these."""
        there = {process for name, _ in sketch.nodes for process in name.split("/")}
        there |= {end for link in sketch.links for end in link}
        deeds = tuple(one for one in self.deeds if one.names <= there)
        probes = tuple(one for one in self.probes if set(_NAME.findall(one)) <= there)
        delays = [
            (" ".join(one for one in links.split() if set(_NAME.findall(one)) <= there), it)
            for links, it in self.delays
        ]
        kept = tuple(one for place, one in enumerate(delays) if one[0] or not place)
        return replace(self, sketch=sketch, deeds=deeds, probes=probes, delays=kept)


def _rounder(deed: Deed) -> Iterator[SimTime | None]:
    after = deed.after
    if after is None:
        return
    yield None
    for unit in (SECOND, 100 * MILLISECOND, 10 * MILLISECOND, MILLISECOND, MILLISECOND // 2):
        for rounded in (after // unit * unit, -(-after // unit) * unit):
            if after % unit and rounded >= deed.soonest:
                yield rounded
    if after > deed.soonest:
        yield deed.soonest


def shrink(history: History, is_wrong: Callable[[History], bool], is_over: Callable[[], bool]) -> History:
    """The smallest history found by greedy steps that is still wrong."""
    goes_on = True
    while goes_on and not is_over():
        goes_on = False
        for smaller in history.smaller():
            if is_over():
                break
            if smaller.deeds and smaller.crashed <= history.crashed and is_wrong(smaller):
                history, goes_on = smaller, True
                break
    return history


@dataclass
class _Character:
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
        """Draws the probabilities of a history, so that histories differ in kind."""
        random = self.random
        self.quiet = random.choice((0.1, 0.3, 0.6, 0.9))
        self.far = random.choice((0.0, 0.1, 0.4))
        self.near = random.choice((0.0, 0.4, 0.8))
        self.leaves_out = random.choice((0.0, 0.2, 0.5))
        self.is_fine = random.random() < 0.3
        if self.is_storm:
            self.quiet, self.far, self.leaves_out, self.is_fine = 0.0, 0.0, 0.0, True

    def after(self) -> SimTime | None:
        """How long after the one before it a command comes."""
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
        given = [line.split()[1:] for line in question.head if line.startswith("slot ")]
        self._slot: SimTime | None = parse_positive(given[0][0]) if given and given[0] else None

    def draw(self, seed: int) -> History:
        """The history of a seed."""
        random = Random(f"history/{seed}")
        sketch = _sketch(random, self._question.family)
        most = _LONGEST_DELAY if self._slot is None else self._slot // _SETTLING
        is_storm = random.random() < _STORMS
        delays = _delays(random, sketch, most, is_storm=is_storm) if sketch.nodes else (("", MILLISECOND),)
        longest = max(delay for _, delay in delays)
        slot = self._slot or max(SECOND, _SETTLING * longest)
        history = History(sketch, delays, slot, (), ())
        head, network = read_head(parse_document(self._question.path, self.text(history)))
        unit = random.choice((longest, longest // 5 + MILLISECOND, min(delay for _, delay in delays)))
        character = _Character(random, unit, slot, is_storm)
        world, deeds = _Story(self._question, head, network, character).tell()
        return replace(
            history, deeds=tuple(deeds), probes=tuple(_probes(world, network, Sentences(network, head.vocabulary)))
        )

    def text(self, history: History) -> str:
        """A history as a transcript."""
        own = [line for line in self._question.head if line.strip() and line.split(" ")[0] not in ("agent", "slot")]
        return (
            "\n".join((self._agent_line, *own, *history.head(), "", *(tuple(history.commands()) or ("> wait 0s",))))
            + "\n"
        )


def _sketch(random: Random, family: Family | None) -> Sketch:
    if family is None:
        return Sketch("drawn")
    size = family.least + int((family.most - family.least + 1) * random.random() ** 2)
    return _SKETCHES[family.kind](random, size)


def _tree(random: Random, size: int) -> Sketch:
    """Brokers of which each publishes, and perhaps subscribes, and up to three clients that do both."""
    roles = random.choice(("/p{0}", "/p{0}/s{0}"))
    name = [f"b{one}{roles.format(one)}" for one in range(1, size + 1)]
    window = random.choice((1, 2, size))
    nodes = [(name[0], "")]
    nodes += [(name[one], f"b{random.randrange(max(0, one - window), one) + 1}") for one in range(1, size)]
    clients = random.randint(0 if "s" in roles else 1, 3)
    nodes += [(f"s{size + one}", f"b{random.randint(1, size)}") for one in range(1, clients + 1)]
    return Sketch("trees", tuple(nodes))


def _graph(random: Random, size: int) -> Sketch:
    """A random tree, and some links more."""
    names = [f"n{one}" for one in range(1, size + 1)]
    tree = [(names[random.randrange(one)], names[one]) for one in range(1, size)]
    others = [one for one in combinations(names, 2) if one not in tree]
    more = random.sample(others, min(len(others), random.randrange(size)))
    return Sketch("graphs", tuple((one, "") for one in names), tuple(tree + more))


def _field(random: Random, size: int) -> Sketch:
    """Disks of 30 m on a field on which each has about five others in reach."""
    side = max(30, round(24 * size**0.5))
    return Sketch("fields", tuple((f"n{one}", _place(random, side)) for one in range(1, size + 1)))


def _place(random: Random, side: int) -> str:
    return f"{random.randint(0, side)},{random.randint(0, side)}"


def _site(_: Random, size: int) -> Sketch:
    """One site of three brokers, and clients that publish and subscribe."""
    clients = [(f"n{one}", "site") for one in range(1, max(2, size - 3) + 1)]
    return Sketch("sites", (*((f"b{one}", "site") for one in (1, 2, 3)), *clients))


_SKETCHES: dict[str, Callable[[Random, int], Sketch]] = {
    "trees": _tree,
    "graphs": _graph,
    "fields": _field,
    "sites": _site,
}


def _delays(random: Random, sketch: Sketch, most: SimTime, *, is_storm: bool) -> tuple[tuple[str, SimTime], ...]:
    """All alike, of a few kinds that are near each other, or of all lengths."""
    names = [name.split("/")[0] for name, _ in sketch.nodes]
    pairs = list(sketch.links) or list(combinations(names, 2))
    first = random.choice((MILLISECOND, MILLISECOND, _any_delay(random, most)))
    near, far = (first // 2, 3 * first, 20 * first), tuple(_any_delay(random, most) for _ in range(8))
    delays = [
        min(delay, most) for delay in (first, *(far if is_storm else random.choice(((), (2 * first,), near, far))))
    ]
    drawn = [(random.randrange(len(delays)), f"{a}-{b}") for a, b in pairs]
    grouped = [(" ".join(link for its, link in drawn if its == one), delays[one]) for one in range(1, len(delays))]
    return (("", delays[0]), *(one for one in grouped if one[0]))


def _any_delay(random: Random, most: SimTime) -> SimTime:
    times: float = (most / MILLISECOND) ** random.random()
    return round(times) * MILLISECOND


class _Story:
    """Draws what happens, in a world that follows it."""

    def __init__(self, question: Question, head: Head, network: Network, character: _Character) -> None:
        self._network = network
        self._character = character
        self._random = character.random
        self._sentences = Sentences(network, head.vocabulary)
        self._brokers = frozenset(one for one in range(len(network.processes)) if network.is_broker(one))
        reader = MayReader(network, head.vocabulary)
        self._walks = sum(int(text.split()[0]) for _, text in question.may if _WALKS.fullmatch(text))
        self._may = [reader.read(text) for _, text in question.may if not _WALKS.fullmatch(text)]
        self._recovers = any("recover" in one.text for one in self._may)
        self._last: list[NodeId] = []
        nodes = range(len(network.processes))
        self._cast = set(self._random.sample(nodes, min(len(nodes), self._random.choice((1, 2, 3, len(nodes))))))
        """Those who do most of what is done; in a storm these are clients."""
        clients = set(nodes) - self._brokers
        self._cast = clients if character.is_storm and self._brokers and clients else self._cast

    def tell(self) -> tuple[World, list[Deed]]:
        """The world in the end, and what has led there."""
        world, deeds = _world(self._network), list[Deed]()
        for may in self._turns():
            if may is None:
                deeds.append(self._walk())
                continue
            options = list(may.options(world))
            if options:
                command = self._pick(options)
                world = do(command, world, self._brokers).world
                after = None if may.when_quiet or not deeds else self._character.after()
                deed = Deed(self._sentences.command(command), after)
                deeds.append(deed if after is None else replace(deed, after=max(after, deed.soonest)))
        for node in sorted(world.down) if self._recovers else ():
            command = Fail(node, FaultKind.RECOVER)
            world = do(command, world, self._brokers).world
            deeds.append(Deed(self._sentences.command(command)))
        return world, deeds

    def _turns(self) -> Iterator[May | None]:
        """Which line has its turn when; who subscribes mostly does so before anything else."""
        early, late = list[May | None](), list[May | None]()
        for may in self._may:
            left_out = self._random.random() < self._character.leaves_out
            least = may.times if self._character.is_storm else 1
            for _ in range(0 if left_out or not may.times else self._random.randint(least, may.times)):
                is_early = "subscri" in may.text and not may.text.startswith("un") and self._random.random() < 0.4
                (early if is_early else late).append(may)
        late += [None] * self._random.randint(0, self._walks)
        self._random.shuffle(late)
        return iter(early + late)

    def _pick(self, options: Sequence[Command]) -> Command:
        """One about a node that was spoken of lately, if this history is like that; half of changes are cuts."""
        cast = [one for one in options if _nodes_of(one)[0] in self._cast]
        chosen_from = cast if cast and self._random.random() < _BY_CAST else options
        near = [one for one in chosen_from if set(_nodes_of(one)) & set(self._last)]
        chosen_from = near if near and self._random.random() < self._character.near else chosen_from
        kinds = [[one for one in chosen_from if _is_cut(one) is cut] for cut in (True, False)]
        chosen = self._random.choice(self._random.choice([kind for kind in kinds if kind]))
        self._last = [*self._last, *_nodes_of(chosen)][-4:]
        return chosen

    def _walk(self) -> Deed:
        node = self._random.randrange(len(self._network.processes))
        side = round(max(max(place) for place in self._network.places.values()))
        return Deed(f"{self._network.node_name(node)} moves to {_place(self._random, side)}", self._character.after())


_BY_CAST = 0.7
_STORMS = 0.25
"""One of this number of histories is a storm: everything that may happen does, before earlier events have ended."""
_WALKS = re.compile(r"\d{1,3} walks?")


def _is_cut(command: Command) -> bool:
    return (isinstance(command, Move) and command.parent is None) or (isinstance(command, Relink) and not command.up)


def _nodes_of(command: Command) -> tuple[NodeId, ...]:
    match command:
        case Apply(node) | PublishEvent(node) | Fail(node):
            return (node,)
        case Move(node, parent):
            return (node,) if parent is None else (node, parent)
        case Relink(a, b):
            return a, b
    return ()


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
