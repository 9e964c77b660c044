"""Random agents: tables of handlers, drawn from a seed, for searches that are compared with each other.

`RandomN` of this module is the agent of seed N. A node has a mode; a table says for each event and mode which the next
mode is and which actions follow. A `Budgeted` agent ignores everything after so many events, so that its runs end; an
`Endless` one answers each message with one message at most, so that it has few states but may never be quiet. `Timed`
agents set timers, and go by how long ago something was.
"""

from __future__ import annotations

from random import Random
from typing import Any, ClassVar

from roambus.python_protocol.agent import Agent, on, on_timer
from roambus.python_protocol.events import Publish
from roambus.python_protocol.filters import Notification
from roambus.python_protocol.messages.fields import U8
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import BROADCAST, NodeId, Role
from roambus.python_protocol.simtime import SECOND, SimTime

Row = tuple[int, tuple[tuple[Any, ...], ...]]
"""The next mode, and the actions."""
MODES, KINDS = 2, 2
HELD = 2
"""A node holds so many notifications to deliver later."""


class Word(Message, tag=1):
    """A notification that goes to neighbours, of one of a few kinds."""

    kind: U8
    notification: Notification


class TableAgent(Agent):
    """Does what its table says."""

    table: ClassVar[dict[tuple[str, int], Row]] = {}
    budget: ClassVar[int | None] = None

    def __init__(self, node: NodeId, roles: Role, parameters: Any, random: Random) -> None:
        super().__init__(node, roles, parameters, random)
        self.mode = 0
        self.left = self.budget
        self.held: list[Notification] = []
        self.since: SimTime | None = None

    @on(Publish)
    def publish(self, event: Publish, now: SimTime) -> None:
        self.act("publish", event.notification, None, now)

    @on(Word)
    def take_word(self, word: Word, sender: NodeId, now: SimTime) -> None:
        self.act(f"word {word.kind}", word.notification, sender, now)

    @on_timer("tick")
    def tick(self, key: str, now: SimTime) -> None:
        self.act("tick", self.held[0] if self.held else None, None, now)

    @on_timer("tock")
    def tock(self, key: str, now: SimTime) -> None:
        self.act("tock", self.held[-1] if self.held else None, None, now)

    def act(  # noqa: C901  # an action a line
        self, event: str, about: Notification | None, sender: NodeId | None, now: SimTime
    ) -> None:
        """Take the row of the event and the mode."""
        if self.left == 0:
            return
        if self.left is not None:
            self.left -= 1
        late = self.since is not None and now - self.since >= SECOND
        self.mode, actions = self.table[f"{event}{' late' * late}", self.mode]
        for name, *its in actions:
            if name in {"tick", "tock"}:
                self.set_timer(name, its[0])
            elif name == "cancel":
                self.cancel_timer(its[0])
            elif name == "since":
                self.since = now
            elif name == "hold" and about is not None and len(self.held) < HELD:
                self.held.append(about)
            elif name == "deliver" and about is not None and (self.left is not None or about not in self.held):
                self.deliver(about)
                if self.left is None:  # a node that may never be quiet delivers once, so that its history ends
                    self.held.append(about)
            elif name == "release" and self.held:
                self.deliver(self.held.pop())
            elif name == "broadcast" and about is not None:
                self.send(BROADCAST, Word(its[0], about))
            elif name == "reply" and about is not None and sender is not None:
                self.send(sender, Word(its[0], about))


def draw(seed: int) -> type[TableAgent]:
    """Draw the agent of a seed: three of four are budgeted, and of these every second is timed."""
    random = Random(f"agent {seed}")
    is_endless, is_timed = seed % 4 == 3, seed % 4 == 1
    replies: list[tuple[Any, ...]] = [("reply", kind) for kind in range(KINDS)]
    actions: list[tuple[Any, ...]] = [("deliver",), ("hold",), ("release",), *replies]
    if not is_endless:
        actions += [("broadcast", kind) for kind in range(KINDS)]
    if is_timed:
        actions += [("tick", SECOND), ("tock", SECOND), ("tick", 2 * SECOND), ("cancel", "tick"), ("since",)]
    events = ["publish", *(f"word {kind}" for kind in range(KINDS)), "tick", "tock"]
    table: dict[tuple[str, int], Row] = {}
    for event in (*events, *(f"{event} late" for event in events)):
        for mode in range(MODES):
            drawn = random.sample(actions, random.randint(0, 3))
            if event.startswith("publish"):
                drawn = [("broadcast", random.randrange(KINDS)), *(rule for rule in drawn if rule[0] != "broadcast")]
            if is_endless:
                drawn = [
                    rule
                    for rule in drawn
                    if rule not in [it for it in drawn if it in replies][1:] and rule[0] not in ("hold", "release")
                ]
            table[event, mode] = (random.randrange(MODES), tuple(drawn))
    budget = None if is_endless else random.choice((1, 2, 2, 3))
    return type(f"Random{seed}", (TableAgent,), {"table": table, "budget": budget, "__module__": __name__})


def __getattr__(name: str) -> Any:
    if name.startswith("Random") and name[6:].isdecimal():
        globals()[name] = draw(int(name[6:]))
        return globals()[name]
    raise AttributeError(name)


def question(seed: int, *lines: str, alike: bool = False) -> str:
    """Draw a network of two or three nodes, perhaps with one-way links, and commands; of alike nodes all networks."""
    random = Random(f"network {seed}")
    links = random.choice(("n1-n2", "n1-n2 n2-n3", "n1-n2 n2-n3", "n1-n2 n2-n3 n1-n3"))
    names = sorted(set(links.replace("-", " ").split()))
    setup = []
    if not alike:
        setup = [f"{random.choice(names)} subscribes f1"]
        if random.random() < 0.5:
            a, b = random.choice(links.split()).split("-")
            setup.append(f"link {a}->{b} down")
    may = ["1 publication of e1"] if alike else [f"{random.choice(names)} publishes e1" for _ in range(2)]
    if random.random() < 0.4:
        may.append(f"{random.choice(names)} publishes e1" if not alike else "1 subscription to f1")
    elif alike:
        may.append("1 subscription to f1")
    drawn = f"graphs {len(names)}" if alike else f"links {links}"
    head = [f"agent {__name__}:Random{seed}", drawn, *lines]
    if setup:
        head += ["setup", *(f"  {line}" for line in setup)]
    must = ["nothing twice", "order kept", "everything delivered", "eventually quiet"]
    return "\n".join((*head, *(f"may {line}" for line in may), *(f"must {line}" for line in must)))
