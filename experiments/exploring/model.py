"""The model of a network: its steps from each state, in all orders that times allow.

- A message arrives in its link's order, at the last event's moment, or at the next timer's, before or after it.
- A timer runs out at its time; timers of one moment in every order, also on one node.
- A command comes at the last event, at the next timer, halfway between, or without timers an hour later; a verdict
  names this choice if agents read the clock.
- With `fast_messages` time passes only while nothing is under way.

A step includes its effects at one instant, in the order of ideal links (`bridge.host.event_queue`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from roambus.bridge.backends.ideal.backend import delivered
from roambus.bridge.backends.ideal.graph import cut_off, receivers
from roambus.bridge.scenario.nodes import Ring
from roambus.bridge.transcript.commands import Command
from roambus.experiments.exploring.nodes import Failure, Nodes, Numbering, Observation, Outcome
from roambus.experiments.exploring.shapes import automorphisms, representatives
from roambus.experiments.exploring.steps import (
    TIME,
    WORLD,
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
    Successor,
    Worlds,
    used,
)
from roambus.experiments.exploring.world import World, do
from roambus.python_protocol.events import NO_LINK, Received, SendFailed
from roambus.python_protocol.vocabulary import SECOND, NodeId, SimTime, format_time

MOST_AT_ONCE = 1000
"""The most events at one instant, when nodes send again and again over a missing link."""
LONG_AFTER = 3600 * SECOND
"""A command's delay when no timer is set."""
Events = tuple[tuple[NodeId, int], ...]
"""Which nodes handle which events, by their numbers."""


class Plan(NamedTuple):
    """The effects of a command in a world: the next world, and the events before and after losses."""

    world: int
    before: Events
    after: Events
    step: Do
    cuts: bool
    """Whether links may have gone."""
    when_quiet: bool
    """Whether it needs that nothing is under way."""


class Effect(NamedTuple):
    """The effects of an answer over the present links."""

    state: int
    appended: tuple[tuple[int, Item], ...]
    """Messages under way, with the place of the link in a state."""
    failed: Events
    """The failures of messages that found no link."""
    seen: tuple[Observation, ...]
    picks: tuple[int, ...]
    sends: int
    """How many messages are counted."""


class Model:
    """Knows the steps from every state."""

    def __init__(self, size: int, nodes: Nodes, rules: Rules) -> None:
        self.size = size
        self.nodes = nodes
        self.rules = rules
        self.worlds = Worlds(size)
        self.queues = Queues()
        self.times: Numbering[SimTime] = Numbering()
        self.steps: Numbering[Step] = Numbering()
        self._plans: dict[int, list[Plan]] = {}
        self._given: dict[tuple[int, Command], Plan] = {}
        self._effects: dict[tuple[int, int, SimTime, int], list[Effect | Failure]] = {}
        self._arriving: dict[tuple[int, int, int, SimTime], tuple[int, int, int]] = {}
        self._twin: Model | None = None
        self._loss = rules.loss

    def twin(self) -> Model:
        """Return a model of the same nodes with their history, and without commands."""
        if self._twin is None:
            bare = replace(self.rules, may=(), history=True, counts_messages=False, time_limit=None, counts_calm=False)
            self._twin = Model(self.size, self.nodes, bare)
        return self._twin

    # States

    def initial(self, states: Iterable[int], world: World, now: SimTime) -> State:
        """Return the state in which nothing is under way."""
        time = self.times.number(0 if self.nodes.relative else now)
        return (*states, *(0 for _ in self.worlds.links), time, self.worlds.number(world))

    def world(self, state: State) -> World:
        """Return the world of a state."""
        return self.worlds[state[WORLD]]

    def now(self, state: State) -> SimTime:
        """Return the time of a state: 0 with relative time."""
        return self.times[state[TIME]]

    def node_states(self, state: State) -> State:
        """Return the numbers of the nodes' states."""
        return state[: self.size]

    def is_idle(self, state: State) -> bool:
        """Whether no message is under way."""
        return not any(state[self.size : TIME])

    def due(self, state: State) -> list[tuple[SimTime, ...]]:
        """Return the time left of each node's timers, the next first."""
        now = self.now(state)
        return [self.nodes.due(one, now) for one in state[: self.size]]

    def soonest(self, state: State) -> SimTime | None:
        """Return the time until the next timer runs out."""
        if not self.nodes.is_timed:
            return None
        return min((due[0] for due in self.due(state) if due), default=None)

    # Steps

    def successors(self, state: State) -> list[Successor]:
        """Return the number of each possible step and its next state."""
        soonest = self.soonest(state)
        return [*self.arrivals(state, soonest), *self.timeouts(state, soonest), *self.commands(state, soonest)]

    def arrivals(self, state: State, soonest: SimTime | None = None) -> Iterator[Successor]:
        """Yield the steps of a message's arrival or loss, now or when the next timer is due."""
        for place in range(self.size, len(state) + TIME):
            if state[place]:
                yield from self.arrivals_at(state, place)
                if soonest and not self.rules.fast_messages and self._is_in_time(state, soonest):
                    yield from self.arrivals_at(self._passed(state, soonest), place, soonest)

    def arrivals_at(self, state: State, place: int, after: SimTime = 0) -> list[Successor]:
        """Return the same for the link at that place, `after` this time."""
        link, queue, world = self.worlds.links[place - self.size], state[place], state[WORLD]
        indexes = self._next_in(queue) if self.rules.any_order else (0,)
        found: list[Successor] = []
        for index in indexes:
            step, event, rest = self._arriving.get((place, queue, index, after)) or self._arrival(
                place, queue, index, after
            )
            numbers = list(state)
            numbers[place] = rest
            found += self._follow(numbers, ((link[1], event),), step)
        if after:  # a loss has no time
            return found
        if link in self.rules.lossy:
            lost_in = world
        elif self._loss is not None and self.worlds[world].left[self._loss]:
            lost_in = self.worlds.number(used(self.worlds[world], self._loss))
        else:
            return found
        for index in indexes:
            numbers = [*state[:WORLD], lost_in]
            numbers[place] = self.queues.without(queue, index)
            found.append((self.steps.number(Arrive(*link, index + 1, lost=True)), tuple(numbers)))
        return found

    def _next_in(self, queue: int) -> list[int]:
        """Return the places of the messages that can arrive next, once for equal ones."""
        items = self.queues[queue]
        return [index for index, one in enumerate(items) if one not in items[:index]]

    def _arrival(self, place: int, queue: int, index: int, after: SimTime) -> tuple[int, int, int]:
        """Return the cached numbers of the step, the event, and the rest of the queue."""
        link, message = self.worlds.links[place - self.size], self.queues[queue][index].message
        step = self.steps.number(Arrive(*link, index + 1, after=after))
        got = delivered(*link, self.nodes.messages[message])
        event = self.nodes.events.number(Received(*got[1:]))
        found = self._arriving[place, queue, index, after] = step, event, self.queues.without(queue, index)
        return found

    def timeouts(self, state: State, soonest: SimTime | None) -> Iterator[Successor]:
        """Yield the steps of timers due next, or not much later if clocks drift."""
        if soonest is None or (self.rules.fast_messages and not self.is_idle(state)):
            return
        if not self._is_in_time(state, soonest):
            return
        after = self._passed(state, soonest)
        for node, due in enumerate(self.due(state)):
            for number, one in enumerate(due, 1):
                if one - soonest <= self.rules.drift:
                    told = ((node, self.nodes.events.number(Ring(number))),)
                    step = self.steps.number(RunOut(node, soonest, number))
                    yield from self._follow(list(after), told, step, by_timer=True)

    def commands(self, state: State, soonest: SimTime | None) -> list[Successor]:
        """Return the steps of commands to the network or its applications."""
        plans = self._plans.get(state[WORLD])
        if plans is None:
            plans = self._plans[state[WORLD]] = list(self._possible(state[WORLD]))
        found: list[Successor] = []
        if plans:
            idle = self.is_idle(state)
            for after in self._moments(state, soonest):
                then = self._passed(state, after)
                for plan in plans:
                    if idle or not plan.when_quiet:
                        found += self._carry_out(then, plan, after)
        return found

    def _moments(self, state: State, soonest: SimTime | None) -> Iterator[SimTime]:
        """Yield a command's possible delays after the last event."""
        yield 0
        if not self.rules.is_timed or (self.rules.fast_messages and not self.is_idle(state)):
            return
        moments = (LONG_AFTER,) if soonest is None else sorted({soonest // 2, soonest} - {0})
        yield from (one for one in moments if self._is_in_time(state, one))

    def carry_out(self, state: State, command: Command) -> Iterable[Successor]:
        """Return the step of a command that needs no line."""
        key = state[WORLD], command
        if key not in self._given:
            self._given[key] = self._plan(*key, None)
        return self._carry_out(state, self._given[key])

    def _possible(self, number: int) -> Iterator[Plan]:
        """Yield the possible commands in a world; at the beginning one of several alike."""
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
        """Return the effects of a command, allowed by the line at that place or by default."""
        world, rules = self.worlds[number], self.rules
        told = do(command, world, rules.brokers)
        after = replace(told.world if may is None else used(told.world, may), calm=0)
        after = after.with_dues() if rules.history else replace(after, published=())
        if rules.counts_messages:
            after = replace(after, commands=after.commands + 1)
        before, later = (
            tuple((node, self.nodes.events.number(event)) for node, event in its) for its in (told.before, told.after)
        )
        when_quiet = may is not None and rules.may[may].when_quiet
        step = Do(command, -1 if may is None else may)
        return Plan(self.worlds.number(after), before, later, step, after.graph != world.graph, when_quiet)

    def _carry_out(self, state: State, plan: Plan, after: SimTime = 0) -> Iterable[Successor]:
        # The plan's world is that of the command at this moment: only what the world counts of time is newer.
        old = self.worlds[state[WORLD]]
        world = plan.world
        if self.worlds[world].elapsed != old.elapsed:
            world = self.worlds.number(replace(self.worlds[world], elapsed=old.elapsed))
        numbers = [*state[:WORLD], world]
        lost = self._cut_off(numbers) if plan.cuts else ()
        step = self.steps.number(plan.step._replace(after=after))
        return self._follow(numbers, (*plan.before, *lost, *plan.after), step)

    # Time

    def _is_in_time(self, state: State, after: SimTime) -> bool:
        """Whether the time is not over; the verdict names it if it is."""
        limit = self.rules.time_limit
        if limit is None:
            return True
        spent = self.world(state).elapsed if self.nodes.relative else self.now(state) - self.rules.begin
        if spent + after <= limit:
            return True
        self.nodes.narrowed.add(f"the time of the line 'for {format_time(limit)}'")
        return False

    def _passed(self, state: State, time: SimTime) -> State:
        """Return the state after a time in which nothing happens."""
        if not time:
            return state
        nodes = [self.nodes.later(one, time) for one in state[: self.size]]
        counts = self.rules.time_limit is not None and self.nodes.relative
        world = self.worlds.passed(state[WORLD], time * counts, time * self.rules.counts_calm)
        now = state[TIME] if self.nodes.relative else self.times.number(self.now(state) + time)
        return (*nodes, *state[self.size : TIME], now, world)

    # Consequences at one instant

    def _follow(self, numbers: list[int], told: Events, step: int, *, by_timer: bool = False) -> Iterable[Successor]:
        """Return the states after events at nodes; messages of timers are no load of a command."""
        if len(told) == 1:  # nearly always, so it saves a tenth of the time
            ((node, event),) = told
            effect, *others = self._effects_of(node, event, numbers)
            if not (others or isinstance(effect, Failure) or effect.failed):
                self._take(numbers, node, effect, by_timer=by_timer)
                return ((step, tuple(numbers)),)
        return self._follow_all(numbers, told, step, by_timer=by_timer)

    def _follow_all(self, numbers: list[int], told: Events, step: int, *, by_timer: bool) -> Iterator[Successor]:
        """Have nodes handle events in turn, then failed sends, for each outcome of chance."""
        waiting: list[tuple[list[int], Events, Picks, int]] = [(numbers, told, (), 0)]
        while waiting:
            numbers, told, picks, count = waiting.pop()
            if not told or count > MOST_AT_ONCE:
                end = Raised("it sends again and again, at one instant, over a link that is gone")
                yield self._picked(step, picks), end if told else tuple(numbers)
                continue
            (node, event), others = told[0], told[1:]
            effects = self._effects_of(node, event, numbers)
            for effect in reversed(effects):
                drawn = (*picks, (node, effect.picks))
                if isinstance(effect, Failure):
                    yield self._picked(step, drawn), Raised(effect.text)
                    continue
                after = numbers if effect is effects[0] else numbers.copy()
                self._take(after, node, effect, by_timer=by_timer)
                waiting.append((after, others + effect.failed, drawn, count + 1))

    def _take(self, numbers: list[int], node: NodeId, effect: Effect, *, by_timer: bool) -> None:
        """Change a state in the making."""
        numbers[node] = effect.state
        for place, item in effect.appended:
            numbers[place] = self.queues.append(numbers[place], item)
        if effect.sends and not by_timer:
            numbers[WORLD] = self.worlds.counted(numbers[WORLD], effect.sends)
        for seen in effect.seen:
            numbers[WORLD] = self.worlds.see(numbers[WORLD], node, seen)

    def _picked(self, step: int, picks: Picks) -> int:
        """Return the step with these picks, without events after which a node picks nothing else."""
        if not any(its for _, its in picks):
            return step
        drawing = [node if its else None for node, its in picks]
        told = tuple(one for place, one in enumerate(picks) if one[0] in drawing[place:])
        return self.steps.number(self.steps[step]._replace(picks=told))

    def _effects_of(self, node: NodeId, event: int, numbers: list[int]) -> list[Effect | Failure]:
        """Return the possible effects of an event at a node in this state."""
        # An agent knows nothing of the world but the events that it handles, so its answer is the same in all worlds.
        # The effect depends on which links carry, and on nothing else of the world.
        now, world = self.times[numbers[TIME]], numbers[WORLD]
        key = (numbers[node], event, now, self.worlds.topology(world))
        found = self._effects.get(key)
        if found is None:
            found = self._effects[key] = [
                one if isinstance(one, Failure) else self._effect(node, one, world)
                for one in self.nodes.answer(numbers[node], event, now)
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
        """Empty the dead links; return the failures at senders that are up."""
        told: list[tuple[NodeId, int]] = []
        graph = self.worlds[numbers[WORLD]].graph
        under_way = ((link, self.queues[numbers[place]]) for place, link in self.worlds.places() if numbers[place])
        for (sender, receiver), _, missed in list(cut_off(graph, under_way)):
            numbers[self.worlds.place(sender, receiver)] = 0
            if sender not in graph.down:
                told += ((sender, self._failure(receiver, one.message)) for one in missed)
        return told

    def _failure(self, destination: NodeId, message: int) -> int:
        """Return the number of a message's failure: its link was missing or lost."""
        return self.nodes.events.number(SendFailed(destination, self.nodes.messages[message], NO_LINK))
