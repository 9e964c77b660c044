"""The states of a whole network, and the steps from one to the next.

A state is a tuple of numbers: the state of each node, what is under way on each pair of nodes, and the world. A step is
a message that arrives or is lost, a timer that runs out, or a command. Everything that a step causes at one instant
belongs to it, so that a state is one in which all nodes have answered.

Time passes only when a timer runs out: by so much as was left of it. Unless messages are slow, a timer runs out only
when nothing is under way, because links are much faster than timers.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from roambus.bridge.transcript.commands import Command
from roambus.experiments.exploring.choices import May
from roambus.experiments.exploring.doing import do
from roambus.experiments.exploring.nodes import Arrived, Delivered, Failure, Nodes, Outcome, Ringing, Taken
from roambus.experiments.exploring.numbering import Numbering
from roambus.experiments.exploring.symmetry import automorphisms, representatives
from roambus.experiments.exploring.world import World
from roambus.python_protocol.events import NO_LINK, SendFailed
from roambus.python_protocol.roles import BROADCAST, NodeId
from roambus.python_protocol.simtime import SimTime

State = tuple[int, ...]
"""The numbers of the nodes' states, of the queues between them, and of the world."""
Picks = tuple[tuple[NodeId, tuple[int, ...]], ...]
"""What the chance of some nodes picked."""


class Arrive(NamedTuple):
    """Of the messages under way on a link the one with this number, counted from 1, arrives or is lost."""

    sender: NodeId
    receiver: NodeId
    number: int = 1
    lost: bool = False
    picks: Picks = ()


class RunOut(NamedTuple):
    """The next timer of a node runs out, after a time in which nothing happens."""

    node: NodeId
    after: SimTime
    picks: Picks = ()


class Do(NamedTuple):
    """A command is given; `may` is the place of the line that allows it."""

    command: Command
    may: int
    picks: Picks = ()


Step = Arrive | RunOut | Do


class Raised(NamedTuple):
    """An agent raised an error in a step."""

    text: str


@dataclass(frozen=True, slots=True)
class Rules:
    """What a network does, beside what its agents do."""

    may: tuple[May, ...] = ()
    brokers: frozenset[NodeId] = frozenset()
    publishers: frozenset[NodeId] = frozenset()
    any_order: bool = False
    """Messages on one link may overtake each other."""
    slow_messages: bool = False
    """Timers may run out while messages are under way."""
    drift: SimTime = 0
    """Timers that run out within this time of each other do so in any order."""
    time_limit: SimTime | None = None
    """Nothing runs out later than this after the beginning."""
    counts_calm: bool = False
    """Whether the world counts the time since the last command."""
    alike: tuple[Hashable, ...] = ()
    """What tells nodes apart but for their names, which do not matter then; empty if names do."""
    history: bool = False
    """Whether the world keeps what was delivered and taken on."""


@dataclass(slots=True)
class _Draft:
    """A state that is being made, its world last; what could not be sent; what chance picked."""

    numbers: list[int]
    failed: list[tuple[NodeId, int]] = field(default_factory=list)
    picks: Picks = ()

    def copy(self) -> _Draft:
        return _Draft(self.numbers.copy(), self.failed.copy(), self.picks)


class _Plan(NamedTuple):
    """What a command comes to in one world: the next world, the numbers of the events that are told, and the step."""

    world: int
    before: tuple[tuple[NodeId, int], ...]
    after: tuple[tuple[NodeId, int], ...]
    step: int
    cuts: bool
    """Whether links may have gone."""
    when_quiet: bool
    """Whether it may be given only while nothing is under way."""


class Network:
    """Knows the steps from every state."""

    def __init__(self, size: int, nodes: Nodes, rules: Rules) -> None:
        self.size = size
        self.nodes = nodes
        self.rules = rules
        self.worlds: Numbering[World] = Numbering()
        self.queues: Numbering[tuple[tuple[int, bool], ...]] = Numbering()
        """What is under way on one link: the number of each message, and whether it was sent to this receiver alone."""
        self.queues.number(())
        self.steps: Numbering[Step] = Numbering()
        self._links = [(sender, receiver) for sender in range(size) for receiver in range(size) if sender != receiver]
        self._place = {link: size + place for place, link in enumerate(self._links)}
        self._reached: dict[int, dict[NodeId, tuple[int, ...]]] = {}
        self._quick: dict[tuple[int, int, int, int], tuple[Any, ...] | None] = {}
        self._plans: dict[int, list[_Plan]] = {}
        self._seen: dict[tuple[int, NodeId, Delivered | Taken], int] = {}
        self._appended: dict[tuple[int, tuple[int, bool]], int] = {}
        self._edges: Numbering[frozenset[tuple[NodeId, NodeId]]] = Numbering()
        self._topologies: list[int] = []
        """The number of the edges of each world."""
        self._twin: Network | None = None
        self._loss = next((place for place, one in enumerate(rules.may) if one.is_loss), None)

    def twin(self) -> Network:
        """A network of the same nodes that keeps its history, and in which nothing happens by itself."""
        if self._twin is None:
            self._twin = Network(self.size, self.nodes, replace(self.rules, may=(), history=True))
        return self._twin

    # States

    def first(self, states: Iterable[int], world: World) -> State:
        """The state in which nothing is under way."""
        return (*states, *(0 for _ in self._links), self.worlds.number(world))

    def world(self, state: State) -> World:
        """The world of a state."""
        return self.worlds[state[-1]]

    def node_states(self, state: State) -> State:
        """The numbers of the nodes' states."""
        return state[: self.size]

    def links(self) -> list[tuple[NodeId, NodeId]]:
        """The pairs (sender, receiver) in the order in which a state has what is under way between them."""
        return self._links

    def is_idle(self, state: State) -> bool:
        """Whether nothing is under way."""
        return not any(state[self.size : -1])

    def has_timers(self, state: State) -> bool:
        """Whether a timer is set at a node."""
        return any(self.nodes.timers(one) for one in state[: self.size])

    # Steps

    def successors(self, state: State) -> Iterator[tuple[int, State | Raised]]:
        """The number of each step that can be made, and the state that it leads to."""
        yield from self.arrivals(state)
        yield from self.ringings(state)
        yield from self.commands(state)

    def arrivals(self, state: State) -> Iterator[tuple[int, State | Raised]]:
        """The steps by which a message arrives, or is lost."""
        for place in range(self.size, len(state) - 1):
            if state[place]:
                yield from self.arrivals_at(state, place)

    def arrivals_at(self, state: State, place: int) -> Iterator[tuple[int, State | Raised]]:
        """The same, of the link at that place of the state."""
        world = state[-1]
        sender, receiver = self._links[place - self.size]
        quick = self._quick_arrival(state[receiver], state[place], place, world)
        if quick is None:
            yield from self._arrivals_slowly(state, place, sender, receiver)
        else:
            step, node_state, rest, appended = quick
            numbers = list(state)
            numbers[receiver], numbers[place] = node_state, rest
            for where, item in appended:
                numbers[where] = self._append(numbers[where], item)
            yield step, tuple(numbers)
        if self._loss is not None:
            yield from self._losses(state, place, sender, receiver)

    def _quick_arrival(self, receiver: int, queue: int, place: int, world: int) -> tuple[Any, ...] | None:
        """What an arrival comes to if it only changes the receiver and queues; kept for each state of the receiver."""
        if self.rules.any_order:
            return None
        topology = self._topology(world)
        key = (receiver, queue, place, topology)
        if key not in self._quick:
            self._quick[key] = self._make_quick(receiver, queue, place, world)
        return self._quick[key]

    def _make_quick(self, state: int, queue: int, place: int, world: int) -> tuple[Any, ...] | None:
        sender, receiver = self._links[place - self.size]
        (message, _), *rest = self.queues[queue]
        outcomes = self.nodes.answer(state, self.nodes.events.number(Arrived(sender, message)))
        if len(outcomes) != 1 or isinstance(outcomes[0], Failure) or (outcomes[0].seen and self.rules.history):
            return None
        reached = self._neighbours(world)[receiver]
        appended: list[tuple[int, tuple[int, bool]]] = []
        for destination, sent in outcomes[0].sends:
            if destination == BROADCAST:
                appended += [(self._place[receiver, one], (sent, False)) for one in reached]
            elif destination in reached:
                appended.append((self._place[receiver, destination], (sent, True)))
            else:
                return None
        step = self.steps.number(Arrive(sender, receiver))
        return step, outcomes[0].state, self.queues.number(tuple(rest)), tuple(appended)

    def _arrivals_slowly(
        self, state: State, place: int, sender: NodeId, receiver: NodeId
    ) -> Iterator[tuple[int, State | Raised]]:
        queue = self.queues[state[place]]
        seen: set[tuple[int, bool]] = set()
        for index in range(len(queue) if self.rules.any_order else 1):
            if queue[index] in seen:
                continue
            seen.add(queue[index])
            draft = _Draft(list(state))
            draft.numbers[place] = self.queues.number(queue[:index] + queue[index + 1 :])
            told = self.nodes.events.number(Arrived(sender, queue[index][0]))
            step = self.steps.number(Arrive(sender, receiver, index + 1))
            yield from self._ends(self._tell_all([draft], [(receiver, told)]), step)

    def _losses(
        self, state: State, place: int, sender: NodeId, receiver: NodeId
    ) -> Iterator[tuple[int, State | Raised]]:
        world = self.worlds[state[-1]]
        loss = self._loss
        if loss is None or not world.left[loss]:
            return
        queue = self.queues[state[place]]
        for index in range(len(queue) if self.rules.any_order else 1):
            numbers = list(state)
            numbers[place] = self.queues.number(queue[:index] + queue[index + 1 :])
            numbers[-1] = self.worlds.number(_used(world, loss))
            yield self.steps.number(Arrive(sender, receiver, index + 1, lost=True)), tuple(numbers)

    def ringings(self, state: State) -> Iterator[tuple[int, State | Raised]]:
        """The steps by which time passes, and a timer runs out."""
        if not (self.rules.slow_messages or self.is_idle(state)):
            return
        next_ones = [(timers[0].after, node) for node in range(self.size) if (timers := self.nodes.timers(state[node]))]
        if not next_ones:
            return
        soonest = min(next_ones)[0]
        limit, world = self.rules.time_limit, self.worlds[state[-1]]
        if limit is not None and world.elapsed + soonest > limit:
            return
        for after, node in next_ones:
            if after - soonest <= self.rules.drift:
                yield from self._run_out(state, node, soonest)

    def _run_out(self, state: State, node: NodeId, after: SimTime) -> Iterator[tuple[int, State | Raised]]:
        numbers = [self.nodes.later(one, after) for one in state[: self.size]]
        draft = _Draft([*numbers, *state[self.size : -1], self._passed(state[-1], after)])
        step = self.steps.number(RunOut(node, after))
        yield from self._ends(self._tell_all([draft], [(node, self.nodes.events.number(Ringing()))]), step)

    def _passed(self, number: int, after: SimTime) -> int:
        """The world after so much time."""
        world = self.worlds[number]
        elapsed = world.elapsed + after if self.rules.time_limit is not None else 0
        calm = world.calm + after if self.rules.counts_calm else 0
        if (elapsed, calm) == (world.elapsed, world.calm):
            return number
        return self.worlds.number(replace(world, elapsed=elapsed, calm=calm))

    def commands(self, state: State) -> Iterator[tuple[int, State | Raised]]:
        """The steps by which something is done to the network, or by its applications."""
        idle = self.is_idle(state)
        for planned in self._commands_of(state[-1]):
            if idle or not planned.when_quiet:
                yield from self._carry_out(state, planned)

    def carry_out(self, state: State, command: Command) -> Iterator[tuple[int, State | Raised]]:
        """The step of a command that no line has to allow."""
        return self._carry_out(state, self._plan(state[-1], command, None))

    def _commands_of(self, number: int) -> list[_Plan]:
        """What can be done in a world."""
        found = self._plans.get(number)
        if found is None:
            world = self.worlds[number]
            allowed = (place for place in range(len(self.rules.may)) if world.left[place])
            found = [self._plan(number, one, place) for place in allowed for one in self._options(place, world)]
            self._plans[number] = found
        return found

    def _options(self, place: int, world: World) -> Iterable[Command]:
        """The commands that a line allows; of alike ones at the beginning only one."""
        options = self.rules.may[place].options(world)
        if not self.rules.alike or world.left != tuple(one.times for one in self.rules.may):
            return options
        return representatives(options, automorphisms(world, self.rules.alike))

    def _plan(self, number: int, command: Command, may: int | None) -> _Plan:
        world, number_of = self.worlds[number], self.nodes.events.number
        told = do(command, world, self.rules.brokers)
        after = replace(told.world if may is None else _used(told.world, may), calm=0)
        return _Plan(
            self.worlds.number(after),
            tuple((node, number_of(event)) for node, event in told.before),
            tuple((node, number_of(event)) for node, event in told.after),
            self.steps.number(Do(command, -1 if may is None else may)),
            not world.edges <= after.edges,
            may is not None and self.rules.may[may].when_quiet,
        )

    def _carry_out(self, state: State, planned: _Plan) -> Iterator[tuple[int, State | Raised]]:
        draft = _Draft([*state[:-1], planned.world])
        drafts: Iterable[_Draft | Raised] = [draft]
        if planned.before:
            drafts = self._tell_in_turn([draft], planned.before)
        for first in drafts:
            told = list(planned.after)
            if planned.cuts and not isinstance(first, Raised):
                told = self._lose_what_is_cut_off(first) + told
            yield from self._ends(self._tell_all([first], told), planned.step)

    # What follows at one instant

    def _ends(self, drafts: Iterable[_Draft | Raised], step: int) -> Iterator[tuple[int, State | Raised]]:
        for draft in drafts:
            if isinstance(draft, Raised):
                yield step, draft
            elif draft.picks:
                yield self.steps.number(self.steps[step]._replace(picks=draft.picks)), tuple(draft.numbers)
            else:
                yield step, tuple(draft.numbers)

    def _tell_all(self, drafts: list[_Draft | Raised], told: list[tuple[NodeId, int]]) -> list[_Draft | Raised]:
        """Tells nodes one after the other, and then those whose messages found no link; every way chance can go."""
        ended: list[_Draft | Raised] = []
        waiting: list[tuple[list[_Draft | Raised], list[tuple[NodeId, int]]]] = [(drafts, told)]
        while waiting:
            for draft in self._tell_in_turn(*waiting.pop()):
                if isinstance(draft, Raised) or not draft.failed:
                    ended.append(draft)
                else:
                    failed, draft.failed = draft.failed, []
                    waiting.append(([draft], failed))
        return ended

    def _tell_in_turn(self, drafts: list[_Draft | Raised], told: Iterable[tuple[NodeId, int]]) -> list[_Draft | Raised]:
        for node, event in told:
            following: list[_Draft | Raised] = []
            for draft in drafts:
                if isinstance(draft, Raised):
                    following.append(draft)
                    continue
                outcomes = self.nodes.answer(draft.numbers[node], event)
                for outcome in outcomes[1:]:
                    following.append(self._take(draft.copy(), node, outcome))
                following.append(self._take(draft, node, outcomes[0]))
            drafts = following
        return drafts

    def _take(self, draft: _Draft, node: NodeId, outcome: Outcome | Failure) -> _Draft | Raised:
        if isinstance(outcome, Failure):
            return Raised(outcome.text)
        draft.numbers[node] = outcome.state
        if outcome.picks:
            draft.picks = (*draft.picks, (node, outcome.picks))
        if outcome.sends:
            self._send_all(draft, node, outcome)
        if self.rules.history:
            for seen in outcome.seen:
                draft.numbers[-1] = self._see(draft.numbers[-1], node, seen)
        return draft

    def _send_all(self, draft: _Draft, node: NodeId, outcome: Outcome) -> None:
        reached = self._neighbours(draft.numbers[-1])[node]
        for destination, message in outcome.sends:
            if destination == BROADCAST:
                for receiver in reached:
                    self._send(draft, self._place[node, receiver], (message, False))
            elif destination in reached:
                self._send(draft, self._place[node, destination], (message, True))
            else:
                failure = SendFailed(destination, self.nodes.messages[message], NO_LINK)
                draft.failed.append((node, self.nodes.events.number(failure)))

    def _send(self, draft: _Draft, place: int, item: tuple[int, bool]) -> None:
        draft.numbers[place] = self._append(draft.numbers[place], item)

    def _append(self, queue: int, item: tuple[int, bool]) -> int:
        found = self._appended.get((queue, item))
        if found is None:
            found = self._appended[queue, item] = self.queues.number((*self.queues[queue], item))
        return found

    def _lose_what_is_cut_off(self, draft: _Draft) -> list[tuple[NodeId, int]]:
        """Empties the links that carry no more; returns what senders that are up are told of it."""
        failed: list[tuple[NodeId, int]] = []
        reached, down = self._neighbours(draft.numbers[-1]), self.worlds[draft.numbers[-1]].down
        for place, (sender, receiver) in enumerate(self._links, self.size):
            if not draft.numbers[place] or receiver in reached[sender]:
                continue
            lost = (self.nodes.messages[message] for message, alone in self.queues[draft.numbers[place]] if alone)
            if sender not in down:
                told = (SendFailed(receiver, message, NO_LINK) for message in lost)
                failed += [(sender, self.nodes.events.number(one)) for one in told]
            draft.numbers[place] = 0
        return failed

    # What depends on the world alone

    def _see(self, world: int, node: NodeId, seen: Delivered | Taken) -> int:
        found = self._seen.get((world, node, seen))
        if found is None:
            found = self._seen[world, node, seen] = self.worlds.number(_after_seeing(self.worlds[world], node, seen))
        return found

    def _neighbours(self, world: int) -> dict[NodeId, tuple[int, ...]]:
        topology = self._topology(world)
        if topology not in self._reached:
            own = self.worlds[world]
            self._reached[topology] = {node: tuple(own.neighbours(node)) for node in range(self.size)}
        return self._reached[topology]

    def _topology(self, world: int) -> int:
        """The number of the edges of a world."""
        for number in range(len(self._topologies), world + 1):
            self._topologies.append(self._edges.number(self.worlds[number].edges))
        return self._topologies[world]


def _used(world: World, may: int) -> World:
    return replace(world, left=(*world.left[:may], world.left[may] - 1, *world.left[may + 1 :]))


def _after_seeing(world: World, node: NodeId, seen: Delivered | Taken) -> World:
    if isinstance(seen, Delivered):
        return world.with_delivered(node, seen.notification)
    return replace(world, taken=world.taken | {(seen.notification, one) for one in seen.subscribers})
