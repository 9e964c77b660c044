"""A whole network: the steps that can be made in each of its states, and which of them have to be tried.

*Steps.* Time passes only when a timer runs out: by so much as was left of it. Unless messages are slow, a timer runs
out only when nothing is under way, because links are much faster than timers.

Everything that a step causes at one instant belongs to it, so that a state is one in which all nodes have answered. Who
is told what, and in which order, is what a run over ideal links does at one instant (`bridge.host.event_queue`): a
fault, what links have lost, places in a given tree, the command; and then, as often as there are any, messages that
found no link. What each of these comes to is decided by the functions of such a run (`world.do`, `ideal.graph`).

What a command comes to is worked out once for each world, and what an answer comes to once for each of the ways in
which links carry; so that a step is mostly a few numbers that are put into a tuple.

*Reduction.* Orders of arrivals with the same result are explored once (persistent sets; Godefroid, 1996). Two arrivals
at different nodes commute: each changes its own node, takes the first message off its own link, and adds to the ends of
others. So it is enough to try those at one node, if nothing that happens elsewhere can bring that node something which
could have come first. That is so if no part of the network beyond it has anything under way, or else all links from
that part to the node have a message already, and whatever follows queues behind it.

All states in which nothing is under way are still reached, on ways of the same length; states between are left out. So
this is for properties of quiet states, and only where no command, loss or timer can come between.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from roambus.bridge.backends.ideal.graph import cut_off, receivers
from roambus.bridge.scenario.nodes import Ring
from roambus.bridge.transcript.commands import Command
from roambus.experiments.exploring.nodes import Failure, Nodes, Numbering, Outcome, Seen
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
from roambus.experiments.exploring.shapes import automorphisms, representatives
from roambus.experiments.exploring.world import World, do
from roambus.python_protocol.events import NO_LINK, SendFailed
from roambus.python_protocol.vocabulary import NodeId, SimTime, format_time

MOST_TOLD = 1000
"""So many events may follow from one at one instant, when nodes send again and again what cannot be sent."""
Telling = tuple[tuple[NodeId, int], ...]
"""Which nodes are told which events, by their numbers."""
Successor = tuple[int, State | Raised]
"""The number of a step, and the state that it leads to."""


class Plan(NamedTuple):
    """What a command comes to in one world: the next world, the numbers of the events that are told, and the step."""

    world: int
    before: Telling
    after: Telling
    step: int
    cuts: bool
    """Whether links may have gone."""
    when_quiet: bool
    """Whether it may be given only while nothing is under way."""


class Effect(NamedTuple):
    """What an answer comes to while links carry as they do."""

    state: int
    appended: tuple[tuple[int, Item], ...]
    """What is under way then, with the place of the link in a state."""
    failed: Telling
    """The failures that the node gets for messages that it could not send."""
    seen: tuple[Seen, ...]
    """What the world sees of it, if it keeps a history."""
    picks: tuple[int, ...]
    sends: int
    """How many messages are counted."""


class Network:
    """Knows the steps from every state."""

    def __init__(self, size: int, nodes: Nodes, rules: Rules) -> None:
        self.size = size
        self.nodes = nodes
        self.rules = rules
        self.worlds = Worlds(size, nodes.learnt)
        self.queues = Queues(nodes.learnt)
        self.steps: Numbering[Step] = Numbering(nodes.learnt)
        self._plans: dict[int, list[Plan]] = {}
        self._given: dict[tuple[int, Command], Plan] = {}
        self._effects: dict[tuple[int, int, int], list[Effect | Failure]] = {}
        self._arriving: dict[tuple[int, int, int], tuple[int, int, int]] = {}
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

    def is_idle(self, state: State) -> bool:
        """Whether nothing is under way."""
        return not any(state[self.size : -1])

    def has_timers(self, state: State) -> bool:
        """Whether a timer is set at a node."""
        return any(self.nodes.waits(one) for one in state[: self.size])

    # Steps

    def successors(self, state: State) -> list[Successor]:
        """The number of each step that can be made, and the state that it leads to."""
        return [*self.arrivals(state), *self.ringings(state), *self.commands(state)]

    def arrivals(self, state: State) -> Iterator[Successor]:
        """The steps by which a message arrives, or is lost."""
        for place in range(self.size, len(state) - 1):
            if state[place]:
                yield from self.arrivals_at(state, place)

    def arrivals_at(self, state: State, place: int) -> list[Successor]:
        """The same, of the link at that place of the state."""
        link, queue, world = self.worlds.links[place - self.size], state[place], state[-1]
        indexes = self._next_in(queue) if self.rules.any_order else (0,)
        found: list[Successor] = []
        for index in indexes:
            step, told, rest = self._arriving.get((place, queue, index)) or self._arrival(place, queue, index)
            numbers = list(state)
            numbers[place] = rest
            found += self._follow(numbers, ((link[1], told),), step)
        if link in self.rules.lossy:
            lost_in = world
        elif self._loss is not None and self.worlds[world].left[self._loss]:
            lost_in = self.worlds.number(used(self.worlds[world], self._loss))
        else:
            return found
        for index in indexes:
            numbers = [*state[:-1], lost_in]
            numbers[place] = self.queues.without(queue, index)
            found.append((self.steps.number(Arrive(*link, index + 1, lost=True)), tuple(numbers)))
        return found

    def _next_in(self, queue: int) -> list[int]:
        """The places of the messages that can be the next to arrive, of equal ones the first."""
        # Which of two equal messages arrives makes no difference that anybody could see.
        items = self.queues[queue]
        return [index for index, one in enumerate(items) if one not in items[:index]]

    def _arrival(self, place: int, queue: int, index: int) -> tuple[int, int, int]:
        """The numbers of the step, of the event, and of what is left under way, which are kept."""
        link, message = self.worlds.links[place - self.size], self.queues[queue][index].message
        step, told = self.steps.number(Arrive(*link, index + 1)), self.nodes.arrival(*link, message)
        found = self._arriving[place, queue, index] = step, told, self.queues.without(queue, index)
        return found

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
        told = ((node, self.nodes.events.number(Ring())),)
        step = self.steps.number(RunOut(node, after))
        yield from self._follow([*numbers, *state[self.size : -1], world], told, step, by_timer=True)

    def commands(self, state: State) -> list[Successor]:
        """The steps by which something is done to the network, or by its applications."""
        plans = self._plans.get(state[-1])
        if plans is None:
            plans = self._plans[state[-1]] = list(self._possible(state[-1]))
        found: list[Successor] = []
        if plans:
            idle = self.is_idle(state)
            for plan in plans:
                if idle or not plan.when_quiet:
                    found += self._carry_out(state, plan)
        return found

    def carry_out(self, state: State, command: Command) -> Iterable[Successor]:
        """The step of a command that no line has to allow."""
        key = state[-1], command
        if key not in self._given:
            self._given[key] = self._plan(*key, None)
        return self._carry_out(state, self._given[key])

    def _possible(self, number: int) -> Iterator[Plan]:
        """What can be done in a world; of alike commands at the beginning only one."""
        world, rules = self.worlds[number], self.rules
        # Later the nodes of a world that look alike can have states, or messages under way, that tell them apart.
        is_first = world.left == tuple(one.times for one in rules.may)
        names = automorphisms(world, rules.alike) if rules.alike and is_first else ()
        for place, may in enumerate(rules.may):
            if world.left[place]:
                options = may.options(world)
                for one in representatives(options, names) if names else options:
                    yield self._plan(number, one, place)

    def _plan(self, number: int, command: Command, may: int | None) -> Plan:
        """What a command comes to, which the line at that place allows, or no line has to."""
        world, rules = self.worlds[number], self.rules
        told = do(command, world, rules.brokers)
        after = replace(told.world if may is None else used(told.world, may), calm=0)
        after = after.with_dues() if rules.history else replace(after, published=())
        if rules.counts_messages:
            after = replace(after, commands=after.commands + 1)
        before, later = (
            tuple((node, self.nodes.events.number(event)) for node, event in its) for its in (told.before, told.after)
        )
        step = self.steps.number(Do(command, -1 if may is None else may))
        when_quiet = may is not None and rules.may[may].when_quiet
        return Plan(self.worlds.number(after), before, later, step, after.graph != world.graph, when_quiet)

    def _carry_out(self, state: State, plan: Plan) -> Iterable[Successor]:
        numbers = [*state[:-1], plan.world]
        lost = self._cut_off(numbers) if plan.cuts else ()
        return self._follow(numbers, (*plan.before, *lost, *plan.after), plan.step)

    # What follows at one instant

    def _follow(self, numbers: list[int], told: Telling, step: int, *, by_timer: bool = False) -> Iterable[Successor]:
        """What follows when nodes are told something; what timers send is no load of a command."""
        if len(told) == 1:  # nearly always, so it saves a tenth of the time
            ((node, event),) = told
            effect, *others = self._effects_of(node, numbers[node], event, numbers[-1])
            if not (others or isinstance(effect, Failure) or effect.failed):
                self._take(numbers, node, effect, by_timer=by_timer)
                return ((step, tuple(numbers)),)
        return self._follow_all(numbers, told, step, by_timer=by_timer)

    def _follow_all(self, numbers: list[int], told: Telling, step: int, *, by_timer: bool) -> Iterator[Successor]:
        """Tells nodes one after the other, and then of what they could not send, whichever way chance has it go."""
        waiting: list[tuple[list[int], Telling, Picks, int]] = [(numbers, told, (), 0)]
        while waiting:
            numbers, told, picks, count = waiting.pop()
            if not told or count > MOST_TOLD:
                end = Raised("what cannot be sent is sent again and again, at one instant") if told else tuple(numbers)
                yield self._picked(step, picks), end
                continue
            (node, event), others = told[0], told[1:]
            effects = self._effects_of(node, numbers[node], event, numbers[-1])
            for effect in reversed(effects):
                drawn = (*picks, (node, effect.picks))
                if isinstance(effect, Failure):
                    yield self._picked(step, drawn), Raised(effect.text)
                    continue
                after = numbers if effect is effects[0] else numbers.copy()
                self._take(after, node, effect, by_timer=by_timer)
                waiting.append((after, others + effect.failed, drawn, count + 1))

    def _take(self, numbers: list[int], node: NodeId, effect: Effect, *, by_timer: bool) -> None:
        """Has a state in the making go on."""
        numbers[node] = effect.state
        for place, item in effect.appended:
            numbers[place] = self.queues.append(numbers[place], item)
        if effect.sends and not by_timer:
            numbers[-1] = self.worlds.counted(numbers[-1], effect.sends)
        for seen in effect.seen:
            numbers[-1] = self.worlds.see(numbers[-1], node, seen)

    def _picked(self, step: int, picks: Picks) -> int:
        """The step in which chance picked this; events of a node after which it picks nothing else are left out."""
        if not any(its for _, its in picks):
            return step
        drawing = [node if its else None for node, its in picks]
        told = tuple(one for place, one in enumerate(picks) if one[0] in drawing[place:])
        return self.steps.number(self.steps[step]._replace(picks=told))

    def _effects_of(self, node: NodeId, state: int, event: int, world: int) -> list[Effect | Failure]:
        """What a node in some state may do when it is told an event, where links carry as in that world."""
        # An agent knows nothing of the world but what it is told, so its answer is the same in all worlds; what becomes
        # of that depends on which links carry, and on nothing else of the world.
        key = (state, event, self.worlds.topology(world))
        found = self._effects.get(key)
        if found is None:
            answers = self.nodes.answer(state, event)
            found = self._effects[key] = [
                one if isinstance(one, Failure) else self._effect(node, one, world) for one in answers
            ]
        return found

    def _effect(self, node: NodeId, outcome: Outcome, world: int) -> Effect:
        appended: list[tuple[int, Item]] = []
        failed: list[tuple[NodeId, int]] = []
        for destination, message in outcome.sends:
            to = receivers(self.worlds.neighbours(world)[node], destination)
            if to is None:
                failed.append((node, self._failure(destination, message)))
            appended += ((self.worlds.place(node, one), Item(message, destination)) for one in to or ())
        seen = outcome.seen if self.rules.history else ()
        sends = len(outcome.sends) if self.rules.counts_messages else 0
        return Effect(outcome.state, tuple(appended), tuple(failed), seen, outcome.picks, sends)

    def _cut_off(self, numbers: list[int]) -> Iterable[tuple[NodeId, int]]:
        """Empties the links that carry no more; returns what senders that are up are told of it."""
        told: list[tuple[NodeId, int]] = []
        graph = self.worlds[numbers[-1]].graph
        under_way = ((link, self.queues[numbers[place]]) for place, link in self.worlds.places() if numbers[place])
        for (sender, receiver), _, missed in list(cut_off(graph, under_way)):
            numbers[self.worlds.place(sender, receiver)] = 0
            if sender not in graph.down:
                told += ((sender, self._failure(receiver, one.message)) for one in missed)
        return told

    def _failure(self, destination: NodeId, message: int) -> int:
        """The number of what a node is told that could not send a message, or whose message was lost with its link."""
        return self.nodes.events.number(SendFailed(destination, self.nodes.messages[message], NO_LINK))


class Reduction:
    """Chooses the steps to be tried."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._links = network.worlds.links
        self._parts: dict[tuple[tuple[tuple[NodeId, ...], ...], NodeId], list[frozenset[NodeId]]] = {}
        self._known: dict[tuple[int, tuple[bool, ...]], tuple[int, ...]] = {}
        self._applies: dict[int, bool] = {}

    def successors(self, state: State) -> Iterable[Successor]:
        """The steps from a state that have to be tried."""
        if self._network.is_idle(state) or not self.applies(state):
            return self._network.successors(state)
        return (step for place in self.places(state) for step in self._network.arrivals_at(state, place))

    def applies(self, state: State) -> bool:
        """Whether only arrivals can happen until nothing is under way; it depends on the world alone."""
        world = state[-1]
        if world not in self._applies:
            self._applies[world] = self._is_left_to_arrivals(state)
        return self._applies[world]

    def _is_left_to_arrivals(self, state: State) -> bool:
        # A command, a timer, or one of so many losses between two arrivals would see that one has come and the other
        # has not. What may happen only when all is quiet cannot come between.
        rules, left = self._network.rules, self._network.world(state).left
        return not rules.slow_messages and not any(
            times for times, may in zip(left, rules.may, strict=True) if not may.when_quiet
        )

    def places(self, state: State) -> tuple[int, ...]:
        """The places in the state of the links whose arrivals are to be tried: as edges and busy links have it."""
        key = (self._network.worlds.topology(state[-1]), tuple(map(bool, state[self._network.size : -1])))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._choose(state)
        return found

    def _choose(self, state: State) -> tuple[int, ...]:
        to: dict[NodeId, list[int]] = {}
        for place, (_, receiver) in enumerate(self._links, self._network.size):
            if state[place]:
                to.setdefault(receiver, []).append(place)
        # Any node that is enough would be right. The one with the fewest arrivals leaves the fewest states: to begin
        # with the most was tried, and left a twelfth more.
        for node in sorted(to, key=lambda one: len(to[one])):
            if self._is_enough(node, to, state):
                return tuple(to[node])
        return tuple(place for places in to.values() for place in places)  # then all arrivals are tried

    def _is_enough(self, node: NodeId, to: dict[NodeId, list[int]], state: State) -> bool:
        # Whatever is sent to the node from now on comes over a link of a neighbour. If that link has a message already,
        # what follows queues behind it, and the arrivals here and now stay the first ones. So only a link without any
        # matters, and only if its part of the network can send anything by itself: that is, if something is under way
        # there. Where messages overtake each other, what follows need not queue, and each busy part matters.
        senders = {self._links[place - self._network.size][0] for place in to[node]}
        carries = self._network.worlds.neighbours(state[-1])
        near = set(carries[node])
        for part in self._beyond(carries, node):
            busy = any(other in part for other in to if other != node)
            if busy and (self._network.rules.any_order or not near & part <= senders):
                return False
        return True

    def _beyond(self, carries: tuple[tuple[NodeId, ...], ...], node: NodeId) -> list[frozenset[NodeId]]:
        """The parts into which the network falls without the node."""
        if (carries, node) not in self._parts:
            edges = [(a, b) for a, near in enumerate(carries) for b in near if node not in (a, b)]
            self._parts[carries, node] = _components(self._network.size, edges)
        return self._parts[carries, node]


def _components(size: int, edges: Iterable[tuple[NodeId, NodeId]]) -> list[frozenset[NodeId]]:
    parts = {node: frozenset({node}) for node in range(size)}
    for a, b in edges:
        merged = parts[a] | parts[b]
        parts.update(dict.fromkeys(merged, merged))
    return list(set(parts.values()))
