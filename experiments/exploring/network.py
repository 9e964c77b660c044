"""A whole network: the steps that can be made in each of its states.

Time passes only when a timer runs out: by so much as was left of it. Unless messages are slow, a timer runs out only
when nothing is under way, because links are much faster than timers.

What can be done in a world, and what a command comes to in it: worked out once for each world.

What follows at one instant: nodes are told something, answer, and are told of what they could not send.

Everything that a step causes at one instant belongs to it, so that a state is one in which all nodes have answered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from roambus.bridge.backends.ideal.graph import cut_off, receivers
from roambus.bridge.scenario.nodes import Ring
from roambus.bridge.transcript.commands import Command
from roambus.experiments.exploring.nodes import Failure, Nodes, Numbering, Outcome
from roambus.experiments.exploring.rules import (
    Arrive,
    Do,
    Item,
    Picks,
    Queues,
    Raised,
    Rules,
    RunOut,
    State,
    Step,
    Worlds,
    used,
)
from roambus.experiments.exploring.world import World, automorphisms, do, representatives
from roambus.python_protocol.events import NO_LINK, SendFailed
from roambus.python_protocol.vocabulary import NodeId, SimTime, format_time


class Plan(NamedTuple):
    """What a command comes to in one world: the next world, the numbers of the events that are told, and the step."""

    world: int
    before: tuple[tuple[NodeId, int], ...]
    after: tuple[tuple[NodeId, int], ...]
    step: int
    cuts: bool
    """Whether links may have gone."""
    when_quiet: bool
    """Whether it may be given only while nothing is under way."""


class Plans:
    """Knows the commands of each world."""

    def __init__(self, rules: Rules, nodes: Nodes, worlds: Worlds, steps: Numbering[Step]) -> None:
        self._rules = rules
        self._nodes = nodes
        self._worlds = worlds
        self._steps = steps
        self._known: dict[int, list[Plan]] = {}

    def of(self, number: int) -> list[Plan]:
        """What can be done in the world of that number."""
        found = self._known.get(number)
        if found is None:
            world = self._worlds[number]
            allowed = (place for place in range(len(self._rules.may)) if world.left[place])
            found = [self.plan(number, one, place) for place in allowed for one in self._options(place, world)]
            self._known[number] = found
        return found

    def plan(self, number: int, command: Command, may: int | None) -> Plan:
        """What a command comes to, which the line at that place allows, or no line has to."""
        world, number_of = self._worlds[number], self._nodes.events.number
        told = do(command, world, self._rules.brokers)
        after = replace(told.world if may is None else used(told.world, may), calm=0)
        after = after.with_dues() if self._rules.history else replace(after, published=())
        if self._rules.counts_messages:
            after = replace(after, commands=after.commands + 1)
        return Plan(
            self._worlds.number(after),
            tuple((node, number_of(event)) for node, event in told.before),
            tuple((node, number_of(event)) for node, event in told.after),
            self._steps.number(Do(command, -1 if may is None else may)),
            after.graph != world.graph,
            may is not None and self._rules.may[may].when_quiet,
        )

    def _options(self, place: int, world: World) -> Iterable[Command]:
        """The commands that a line allows; of alike ones at the beginning only one."""
        options = self._rules.may[place].options(world)
        if not self._rules.alike or world.left != tuple(one.times for one in self._rules.may):
            return options
        return representatives(options, automorphisms(world, self._rules.alike))


MOST_ROUNDS = 1000
"""So often in a row nodes may send at one instant what cannot be sent."""
Telling = Sequence[tuple[NodeId, int]]
"""Which nodes are told which events, by their numbers."""


@dataclass(slots=True)
class Draft:
    """A state that is being made, its world last; what could not be sent; what chance picked."""

    numbers: list[int]
    failed: list[tuple[NodeId, int]] = field(default_factory=list)
    picks: Picks = ()
    by_timer: bool = False
    """Whether it is a timer that has run out: what it sends is no load of a command."""

    def copy(self) -> Draft:
        """The same, to be made otherwise."""
        return Draft(self.numbers.copy(), self.failed.copy(), self.picks, self.by_timer)


class Consequences:
    """Works out every way in which chance can have things go."""

    def __init__(self, nodes: Nodes, worlds: Worlds, queues: Queues, rules: Rules) -> None:
        self._nodes = nodes
        self._worlds = worlds
        self._queues = queues
        self._rules = rules

    def tell_all(self, first: Draft | Raised, told: Telling) -> list[Draft | Raised]:
        """Tells nodes one after the other, and then those whose messages found no link."""
        ended: list[Draft | Raised] = []
        waiting: list[tuple[Draft | Raised, Telling, int]] = [(first, told, 0)]
        while waiting:
            one, events, rounds = waiting.pop()
            if rounds > MOST_ROUNDS:
                ended.append(Raised("what cannot be sent is sent again and again, at one instant"))
                continue
            for draft in self.tell_in_turn(one, events):
                if isinstance(draft, Raised) or not draft.failed:
                    ended.append(draft)
                else:
                    failed, draft.failed = draft.failed, []
                    waiting.append((draft, failed, rounds + 1))
        return ended

    def tell_in_turn(self, first: Draft | Raised, told: Telling) -> list[Draft | Raised]:
        """Tells nodes one after the other."""
        drafts = [first]
        for node, event in told:
            drafts = [after for draft in drafts for after in self._tell(draft, node, event)]
        return drafts

    def _tell(self, draft: Draft | Raised, node: NodeId, event: int) -> Iterator[Draft | Raised]:
        if isinstance(draft, Raised):
            yield draft
            return
        outcomes = self._nodes.answer(draft.numbers[node], event)
        copies = [draft.copy() for _ in outcomes[1:]]
        for one, outcome in zip((*copies, draft), (*outcomes[1:], outcomes[0]), strict=True):
            yield self._take(one, node, outcome)

    def _take(self, draft: Draft, node: NodeId, outcome: Outcome | Failure) -> Draft | Raised:
        if isinstance(outcome, Failure):
            return Raised(outcome.text)
        draft.numbers[node] = outcome.state
        if outcome.picks:
            draft.picks = (*draft.picks, (node, outcome.picks))
        for place, item in self.sends(draft.numbers, node, outcome, draft.failed):
            draft.numbers[place] = self._queues.append(draft.numbers[place], item)
        if self._rules.counts_messages and outcome.sends and not draft.by_timer:
            draft.numbers[-1] = self._worlds.counted(draft.numbers[-1], len(outcome.sends))
        if self._rules.history:
            for seen in outcome.seen:
                draft.numbers[-1] = self._worlds.see(draft.numbers[-1], node, seen)
        return draft

    def sends(
        self, numbers: Sequence[int], node: NodeId, outcome: Outcome, failed: list[tuple[NodeId, int]]
    ) -> Iterator[tuple[int, Item]]:
        """What an answer adds to which places of the state; what finds no link is added to `failed`."""
        if not outcome.sends:
            return
        reached = self._worlds.neighbours(numbers[-1])[node]
        for destination, message in outcome.sends:
            to = receivers(reached, destination)
            if to is None:
                failed.append((node, self._failure(destination, message)))
            yield from ((self._worlds.place(node, one), Item(message, destination)) for one in to or ())

    def cut_off(self, draft: Draft) -> list[tuple[NodeId, int]]:
        """Empties the links that carry no more; returns what senders that are up are told of it."""
        told: list[tuple[NodeId, int]] = []
        graph, numbers = self._worlds[draft.numbers[-1]].graph, draft.numbers
        under_way = ((link, self._queues[numbers[place]]) for place, link in self._worlds.places() if numbers[place])
        for (sender, receiver), _, missed in list(cut_off(graph, under_way)):
            numbers[self._worlds.place(sender, receiver)] = 0
            if sender not in graph.down:
                told += ((sender, self._failure(receiver, one.message)) for one in missed)
        return told

    def _failure(self, destination: NodeId, message: int) -> int:
        return self._nodes.events.number(SendFailed(destination, self._nodes.messages[message], NO_LINK))


Successor = tuple[int, State | Raised]
"""The number of a step, and the state that it leads to."""


class _Quick(NamedTuple):
    """What an arrival comes to that only changes the receiver and queues."""

    step: int
    node_state: int
    rest: int
    appended: tuple[tuple[int, Item], ...]


class Network:
    """Knows the steps from every state."""

    def __init__(self, size: int, nodes: Nodes, rules: Rules) -> None:
        self.size = size
        self.nodes = nodes
        self.rules = rules
        self.worlds = Worlds(size, nodes.learnt)
        self.queues = Queues(nodes.learnt)
        self.steps: Numbering[Step] = Numbering(nodes.learnt)
        self._consequences = Consequences(nodes, self.worlds, self.queues, rules)
        self._plans = Plans(rules, nodes, self.worlds, self.steps)
        self._quick: dict[tuple[int, int, int, int], _Quick | None] = {}
        self._twin: Network | None = None
        self._loss = rules.loss

    def twin(self) -> Network:
        """A network of the same nodes that keeps its history, and in which nothing happens by itself."""
        if self._twin is None:
            bare = replace(self.rules, may=(), history=True, counts_messages=False, time_limit=None, counts_calm=False)
            self._twin = Network(self.size, self.nodes, bare)
        return self._twin

    # States

    def first(self, states: Iterable[int], world: World) -> State:
        """The state in which nothing is under way."""
        return (*states, *(0 for _ in self.worlds.links), self.worlds.number(world))

    def world(self, state: State) -> World:
        """The world of a state."""
        return self.worlds[state[-1]]

    def node_states(self, state: State) -> State:
        """The numbers of the nodes' states."""
        return state[: self.size]

    def links(self) -> list[tuple[NodeId, NodeId]]:
        """The pairs (sender, receiver) in the order in which a state has what is under way between them."""
        return self.worlds.links

    def is_idle(self, state: State) -> bool:
        """Whether nothing is under way."""
        return not any(state[self.size : -1])

    def has_timers(self, state: State) -> bool:
        """Whether a timer is set at a node."""
        return any(self.nodes.waits(one) for one in state[: self.size])

    # Steps

    def successors(self, state: State) -> Iterator[Successor]:
        """The number of each step that can be made, and the state that it leads to."""
        yield from self.arrivals(state)
        yield from self.ringings(state)
        yield from self.commands(state)

    def arrivals(self, state: State) -> Iterator[Successor]:
        """The steps by which a message arrives, or is lost."""
        for place in range(self.size, len(state) - 1):
            if state[place]:
                yield from self.arrivals_at(state, place)

    def arrivals_at(self, state: State, place: int) -> Iterator[Successor]:
        """The same, of the link at that place of the state."""
        sender, receiver = self.worlds.links[place - self.size]
        quick = self._quick_arrival(state[receiver], state[place], place, state[-1])
        if quick is None:
            yield from self._arrivals_slowly(state, place, sender, receiver)
        else:
            numbers = list(state)
            numbers[receiver], numbers[place] = quick.node_state, quick.rest
            for where, item in quick.appended:
                numbers[where] = self.queues.append(numbers[where], item)
            yield quick.step, tuple(numbers)
        if (sender, receiver) in self.rules.lossy:
            yield from self._losses(state, place, state[-1])
        elif self._loss is not None and self.worlds[state[-1]].left[self._loss]:
            yield from self._losses(state, place, self.worlds.number(used(self.worlds[state[-1]], self._loss)))

    def _quick_arrival(self, receiver: int, queue: int, place: int, world: int) -> _Quick | None:
        """What an arrival comes to if it only changes the receiver and queues; kept for each state of the receiver."""
        if self.rules.any_order or self.rules.counts_messages:
            return None
        key = (receiver, queue, place, self.worlds.topology(world))
        if key not in self._quick:
            self._quick[key] = self._make_quick(receiver, queue, place, world)
        return self._quick[key]

    def _make_quick(self, state: int, queue: int, place: int, world: int) -> _Quick | None:
        sender, receiver = self.worlds.links[place - self.size]
        told = self.nodes.arrival(sender, receiver, self.queues[queue][0][0])
        outcome, *others = self.nodes.answer(state, told)
        if others or isinstance(outcome, Failure) or (outcome.seen and self.rules.history):
            return None
        failed: list[tuple[NodeId, int]] = []
        appended = tuple(self._consequences.sends((world,), receiver, outcome, failed))
        if failed:
            return None
        step = self.steps.number(Arrive(sender, receiver))
        return _Quick(step, outcome.state, self.queues.without(queue, 0), appended)

    def _arrivals_slowly(self, state: State, place: int, sender: NodeId, receiver: NodeId) -> Iterator[Successor]:
        queue = self.queues[state[place]]
        for index in self._next_in(queue):
            if queue[index] in queue[:index]:
                continue
            draft = Draft(list(state))
            draft.numbers[place] = self.queues.without(state[place], index)
            told = self.nodes.arrival(sender, receiver, queue[index][0])
            step = self.steps.number(Arrive(sender, receiver, index + 1))
            yield from self._ends(self._consequences.tell_all(draft, [(receiver, told)]), step)

    def _next_in(self, queue: tuple[Item, ...]) -> range:
        """The places of the messages that can be the next to arrive."""
        return range(len(queue) if self.rules.any_order else 1)

    def _losses(self, state: State, place: int, world: int) -> Iterator[Successor]:
        sender, receiver = self.worlds.links[place - self.size]
        for index in self._next_in(self.queues[state[place]]):
            numbers = [*state[:-1], world]
            numbers[place] = self.queues.without(state[place], index)
            yield self.steps.number(Arrive(sender, receiver, index + 1, lost=True)), tuple(numbers)

    def ringings(self, state: State) -> Iterator[Successor]:
        """The steps by which time passes, and a timer runs out."""
        if not (self.rules.slow_messages or self.is_idle(state)):
            return
        next_ones = [(waits[0], node) for node in range(self.size) if (waits := self.nodes.waits(state[node]))]
        if not next_ones:
            return
        soonest = min(next_ones)[0]
        limit = self.rules.time_limit
        if limit is not None and self.world(state).elapsed + soonest > limit:
            self.nodes.cuts.add(f"the time of the line 'for {format_time(limit)}'")
            return
        for after, node in next_ones:
            if after - soonest <= self.rules.drift:
                yield from self._run_out(state, node, soonest)

    def _run_out(self, state: State, node: NodeId, after: SimTime) -> Iterator[Successor]:
        numbers = [self.nodes.later(one, after) for one in state[: self.size]]
        elapsed = after if self.rules.time_limit is not None else 0
        world = self.worlds.passed(state[-1], elapsed, after if self.rules.counts_calm else 0)
        draft = Draft([*numbers, *state[self.size : -1], world], by_timer=True)
        told = [(node, self.nodes.events.number(Ring()))]
        yield from self._ends(self._consequences.tell_all(draft, told), self.steps.number(RunOut(node, after)))

    def commands(self, state: State) -> Iterator[Successor]:
        """The steps by which something is done to the network, or by its applications."""
        idle = self.is_idle(state)
        for planned in self._plans.of(state[-1]):
            if idle or not planned.when_quiet:
                yield from self._carry_out(state, planned)

    def carry_out(self, state: State, command: Command) -> Iterator[Successor]:
        """The step of a command that no line has to allow."""
        return self._carry_out(state, self._plans.plan(state[-1], command, None))

    def _carry_out(self, state: State, planned: Plan) -> Iterator[Successor]:
        draft = Draft([*state[:-1], planned.world])
        for first in self._consequences.tell_in_turn(draft, planned.before):
            told = list(planned.after)
            if planned.cuts and not isinstance(first, Raised):
                told = self._consequences.cut_off(first) + told
            yield from self._ends(self._consequences.tell_all(first, told), planned.step)

    def _ends(self, drafts: Iterable[Draft | Raised], step: int) -> Iterator[Successor]:
        for draft in drafts:
            if isinstance(draft, Raised):
                yield step, draft
            elif draft.picks:
                yield self.steps.number(self.steps[step]._replace(picks=draft.picks)), tuple(draft.numbers)
            else:
                yield step, tuple(draft.numbers)
