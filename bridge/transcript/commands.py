"""The commands of a transcript: their meaning and their sentences.

A sentence pairs a regular expression with a function that makes a command. Reading knows only the drawn nodes and
roles; the timeline checks conditions that depend on earlier commands. Commands are values: the timeline turns them into
scenario events, the explorer into moves, a counterexample into sentences.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass

from roambus.bridge.scenario import definition as scenario
from roambus.bridge.scenario.plans import Fault, FaultKind, LinkChange, ParentChange
from roambus.bridge.scenario.tree import Parents, circle_from, wrong_state
from roambus.bridge.transcript.document import PROMPT, Attributes, Vocabulary, parse_duration
from roambus.bridge.transcript.network import Network, Place, parse_measure, parse_place
from roambus.python_protocol.events import Subscribe, Unsubscribe
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime

SYNTAX = """\
start
s1 subscribes f1
s1 unsubscribes f1
p1 publishes e1
s1 detaches
s1 attaches
s1 attaches to b2
s1 moves to b2
n1 moves to 20,5
n1 goes to 10,20 at 5
n1 halts
n1 is at 40,20
b3 joins b2
b3 is cut off
link n1-n2 down
link n1-n2 up
link n1->n2 down
b3 crashes
b3 freezes
b3 recovers
wait 5s
show table b1 b2
show stored
s1 -> b2 arrives
s1 -> b2 is lost
b2's timer runs out
timer 2 of b2 runs out
b2 draws 1 0"""
"""An example of each command."""


@dataclass(frozen=True, slots=True)
class Start:
    """Shows the effects of the start; otherwise the transcript begins after it."""


@dataclass(frozen=True, slots=True)
class Apply:
    """A client subscribes or unsubscribes."""

    node: NodeId
    command: Subscribe | Unsubscribe


@dataclass(frozen=True, slots=True)
class PublishEvent:
    """A client publishes `attributes` as the event `name`."""

    node: NodeId
    name: str
    attributes: Attributes


@dataclass(frozen=True, slots=True)
class Move:
    """A node gets another parent, or none; `joins` means that it had none."""

    node: NodeId
    parent: NodeId | None
    joins: bool = False


@dataclass(frozen=True, slots=True)
class Walk:
    """A node sets out for a place on the field."""

    node: NodeId
    place: Place


@dataclass(frozen=True, slots=True)
class Go:
    """A node goes to a place on the field at a speed (m/s), as by its agent."""

    node: NodeId
    place: Place
    speed_mps: float


@dataclass(frozen=True, slots=True)
class Stop:
    """A node halts, as by its agent."""

    node: NodeId


@dataclass(frozen=True, slots=True)
class Locate:
    """A node's place, from which no links follow."""

    node: NodeId
    place: Place


@dataclass(frozen=True, slots=True)
class Leave:
    """A client detaches; in a tree it leaves its place a moment later."""

    node: NodeId


@dataclass(frozen=True, slots=True)
class Return:
    """A client attaches, in a tree at `broker` or its old one (None)."""

    node: NodeId
    broker: NodeId | None


@dataclass(frozen=True, slots=True)
class Relink:
    """A link comes up or goes down, perhaps from `a` to `b` only."""

    a: NodeId
    b: NodeId
    up: bool
    one_way: bool = False


@dataclass(frozen=True, slots=True)
class Fail:
    """A node crashes, freezes or recovers."""

    node: NodeId
    kind: FaultKind


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing is done for some time."""

    time: SimTime


@dataclass(frozen=True, slots=True)
class Show:
    """The listing `what` of some agents, or of all."""

    what: str
    nodes: tuple[NodeId, ...]

    def name_among(self, listings: Container[str]) -> str:
        """The listing's own name, which a command may write in the plural."""
        return self.what if self.what in listings else self.what.removesuffix("s")


@dataclass(frozen=True, slots=True)
class Arrive:
    """By hand: the link's message with this number arrives or is lost."""

    sender: NodeId
    receiver: NodeId
    number: int = 1
    lost: bool = False


@dataclass(frozen=True, slots=True)
class RunOut:
    """By hand: a node's next timer, or a later one, expires."""

    node: NodeId
    number: int = 1


@dataclass(frozen=True, slots=True)
class Draw:
    """By hand: a node's draws at its next event."""

    node: NodeId
    picks: tuple[int, ...]


ManualCommand = Arrive | RunOut | Draw
Command = (
    Start | Apply | PublishEvent | Move | Walk | Go | Stop | Locate | Leave | Return | Relink | Fail | Wait | Show
    | ManualCommand
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Timed:
    """A command and its delay; None waits for the slot before.

    `at_once`: at the very instant of the one before, as arrivals can be; by hand others are a nanosecond apart.
    """

    after: SimTime | None
    command: Command
    at_once: bool = False


Planned = scenario.Command | ParentChange | LinkChange | Fault
"""A command's part of a scenario."""


def planned(command: Command, at: SimTime) -> Planned:
    """A command's scenario item at some time; raises TypeError."""
    match command:
        case Apply(node, wish):
            return scenario.Command(at, node, wish)
        case PublishEvent(node, _, attributes):
            return scenario.Command(at, node, scenario.Publication(attributes))
        case Move(node, parent):
            return ParentChange(at, node, parent)
        case Relink(a, b, up, one_way):
            return LinkChange(at, a, b, up, one_way)
        case Fail(node, kind):
            return Fault(at, node, kind)
    raise TypeError(f"{command} is more than one thing in a scenario, or nothing")


def refusal(command: Command, parents: Parents, faults: Mapping[NodeId, FaultKind], network: Network) -> str:
    """Why a command is impossible after these faults; empty if possible."""
    match command:
        case PublishEvent(node) if faults.get(node, FaultKind.RECOVER) is not FaultKind.RECOVER:
            return f"{network.subscriber_name(node)} is down, so it cannot publish"
        case Move():
            return _immovable(command, parents, network)
        case Fail(node, kind) if state := wrong_state(faults.get(node), kind):
            return f"{network.node_name(node)} cannot {kind.value}: it {state}"
    return ""


def _immovable(move: Move, parents: Parents, network: Network) -> str:
    """`moves to` needs a previous parent, and `joins` none."""
    old = parents[move.node]
    wrong_word = move.joins and old is not None
    # The explorer asks for every move that there could be, so nothing is named before something is wrong.
    if not wrong_word and old != move.parent and not circle_from(move.node, parents | {move.node: move.parent}):
        return ""
    name, at_old = network.node_name(move.node), "cut off" if old is None else f"connected to {network.node_name(old)}"
    if wrong_word:
        return f"{name} is {at_old}; write 'moves to' instead of 'joins'"
    if old == move.parent:
        return f"{name} already is {at_old}"
    onto = network.node_name(move.parent or 0)  # the brokers in a circle would forward without end
    return f"{name} cannot connect to {onto}, which is below it: that makes a cycle"


AT_ONCE = "at once "
"""Before a command at the same instant as the one before it on its line."""
_AFTER = re.compile(r"after\s+(\S+)\s+(.*)")
_FAULTS = {"crashes": FaultKind.CRASH, "freezes": FaultKind.FREEZE, "recovers": FaultKind.RECOVER}


class CommandReader:
    """Reads commands about one network; the first matching pattern counts.

    Only `moves to` has two meanings: a walk on a field, a new parent in a tree.
    """

    def __init__(self, network: Network, vocabulary: Vocabulary) -> None:
        self._network = network
        self._vocabulary = vocabulary
        self._forms: list[tuple[re.Pattern[str], Callable[[re.Match[str]], Command]]] = [
            (re.compile(pattern), make)
            for pattern, make in (
                (r"start", lambda _: Start()),
                (r"wait\s+(\S+)", lambda match: Wait(parse_duration(match[1]))),
                (
                    r"show\s+(\S+)((?:\s+\S+)*)",
                    lambda match: Show(match[1], tuple(map(self._network.node, match[2].split()))),
                ),
                (r"link\s+([^\s-]+->?[^\s-]+)\s+(up|down)", self._relink),
                (r"(\S+)\s+subscribes\s+(.+)", lambda match: self._apply(match, Subscribe)),
                (r"(\S+)\s+unsubscribes\s+(.+)", lambda match: self._apply(match, Unsubscribe)),
                (
                    r"(\S+)\s+publishes\s+(.+)",
                    lambda match: PublishEvent(self._client(match[1]), match[2], vocabulary.events.read(match[2])),
                ),
                (r"(\S+)\s+detaches", lambda match: Leave(self._client(match[1]))),
                (r"(\S+)\s+attaches(?:\s+to\s+(\S+))?", self._return),
                (r"(\S+)\s+(moves\s+to|joins)\s+(\S+)", self._move),
                (r"(\S+)\s+goes\s+to\s+(\S+)\s+at\s+(\S+)", self._go),
                (r"(\S+)\s+halts", lambda match: Stop(self._on_field(match[1]))),
                (r"(\S+)\s+is\s+cut\s+off", lambda match: Move(self._tree_node(match[1]), None)),
                (r"(\S+)\s+is\s+at\s+(\S+)(?:\s+(\S+))?", self._locate),
                (
                    r"(\S+)\s+(crashes|freezes|recovers)",
                    lambda match: Fail(self._network.node(match[1]), _FAULTS[match[2]]),
                ),
                (r"(?:message\s+(\d{1,4})\s+of\s+)?(\S+)\s+->\s+(\S+)\s+(arrives|is\s+lost)", self._arrive),
                (
                    r"(?:timer\s+([1-9]\d{0,3})\s+of\s+(\S+)|(\S+)'s\s+timer)\s+runs\s+out",
                    lambda match: RunOut(self._network.node(match[2] or match[3]), int(match[1] or 1)),
                ),
                (
                    r"(\S+)\s+draws((?:\s+\d{1,4})+)",
                    lambda match: Draw(self._network.node(match[1]), tuple(map(int, match[2].split()))),
                ),
            )
        ]

    def read(self, text: str) -> list[Timed]:
        """Read a line such as "> s1 moves to b2; after 3ms b2 moves to b1"; raises ValueError."""
        timed: list[Timed] = []
        for part in map(str.strip, text.strip().removeprefix(PROMPT).split(";")):
            match, bare = _AFTER.fullmatch(part), part.removeprefix(AT_ONCE)
            if bare != part and not timed:
                raise ValueError(f"{part!r} needs a command before it on its line")
            after = parse_duration(match[1]) if match else 0 if timed else None
            timed.append(Timed(after, self._read(match[2] if match else bare), at_once=bare != part))
        return timed

    def knows(self, text: str) -> bool:
        """Whether a text is a command."""
        return any(pattern.fullmatch(text) for pattern, _ in self._forms)

    def _read(self, text: str) -> Command:
        for pattern, make in self._forms:
            if match := pattern.fullmatch(text):
                return make(match)
        examples = ", ".join(f"'{line}'" for line in SYNTAX.splitlines())
        raise ValueError(f"{text!r} is not a command; write one such as {examples}")

    def _apply(self, match: re.Match[str], kind: Callable[[Filter], Subscribe | Unsubscribe]) -> Command:
        return Apply(self._client(match[1]), kind(self._vocabulary.filters.read(match[2])))

    def _move(self, match: re.Match[str]) -> Command:
        """A walk on a field, a new parent in a tree."""
        if self._network.places and match[2] != "joins":
            return Walk(self._network.node(match[1]), parse_place(match[3]))
        return Move(self._tree_node(match[1]), self._broker(match[3]), match[2] == "joins")

    def _go(self, match: re.Match[str]) -> Command:
        speed = match[3].removesuffix("m/s")
        return Go(self._on_field(match[1]), parse_place(match[2]), parse_measure(f"{speed}m/s", "m/s"))

    def _on_field(self, name: str) -> NodeId:
        if not self._network.places:
            raise ValueError(f"{name} has no field to go on; draw one, below a line 'field'")
        return self._network.node(name)

    def _locate(self, match: re.Match[str]) -> Command:
        """Only nodes without a field have places beside their links."""
        if self._network.places:
            raise ValueError(f"places determine the links; write '{match[1]} moves to 20,5'")
        return Locate(self._network.node(match[1]), parse_place(",".join(filter(None, match.groups()[1:]))))

    def _return(self, match: re.Match[str]) -> Command:
        node, broker = self._client(match[1]), match[2]
        if broker and not self._network.is_tree:
            raise ValueError(f"there is no tree to return to; write '{match[1]} attaches'")
        if broker and self._network.is_broker(node):
            raise ValueError(f"{match[1]} is on a broker's node, which keeps its place; write '{match[1]} attaches'")
        return Return(node, self._broker(broker) if broker else None)

    def _broker(self, name: str) -> NodeId:
        node = self._network.node(name)
        if not self._network.is_broker(node):
            raise ValueError(f"{name} is not a broker, so nothing can connect to it")
        return node

    def _relink(self, match: re.Match[str]) -> Command:
        """Only links listed in the head change by command."""
        if self._network.places:
            name = re.split("->?", match[1])[0]
            raise ValueError(f"places determine the links; write '{name} moves to 20,5'")
        if self._network.is_tree:
            raise ValueError("the tree determines the links; write 'b3 moves to b2' or 'b3 is cut off'")
        a, b, one_way = self._network.link(match[1])
        return Relink(a, b, match[2] == "up", one_way)

    def _arrive(self, match: re.Match[str]) -> Command:
        number = int(match[1] or 1)
        if number == 0:
            raise ValueError("messages are counted from 1")
        return Arrive(self._network.node(match[2]), self._network.node(match[3]), number, match[4] != "arrives")

    def _client(self, name: str) -> NodeId:
        """A client has its own name, also on a broker's node."""
        node = self._network.node(name)
        if name.startswith("b"):
            raise ValueError(f"{name} is a broker; a subscriber on its node is drawn as {name}/s{name[1:]}")
        return node

    def _tree_node(self, name: str) -> NodeId:
        """Only a given tree has places to move a node to."""
        if self._network.places:
            raise ValueError(f"there is no tree, but a field; write '{name} moves to 20,5'")
        if not self._network.is_tree:
            raise ValueError("there is no tree to move in; write 'link n1-n2 down' or 'link n1-n2 up'")
        return self._network.node(name)
