"""The model of a network: its states, and its steps from each, in all orders that times allow.

- A message arrives in its link's order, at the last event's moment, or at the next timer's, before or after it.
- A timer runs out at its time; timers of one moment in every order, also on one node.
- A command comes at the last event, at the next timer, halfway between, or without timers an hour later; a verdict
  names this choice if agents read the clock.
- With `messages fast` time passes only while nothing is under way.

A step includes its effects at one instant, in the order of a run (`bridge.host.event_loop`): changes and faults,
arrivals, failed sends over links that went, new places in the tree, commands and timers, failed sends over missing
links. So what a node learns late in an instant is *pending* while arrivals, commands or timers can come before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from itertools import permutations

from roambus.bridge.backends.ideal.backend import delivered
from roambus.bridge.backends.ideal.graph import Link, cut_off, receivers
from roambus.bridge.scenario.nodes import ExpireTimer
from roambus.bridge.transcript.commands import Apply, Arrive, Command, PublishEvent, RunOut
from roambus.extensions.exploring.copies import Numbering
from roambus.extensions.exploring.instants import ALL, ARRIVALS, COMMANDS, Instants
from roambus.extensions.exploring.nodes import Nodes, Outcome, Raised
from roambus.extensions.exploring.steps import TIME, WORLD, Events, Item, Picks, Rules, State, Step, Successor
from roambus.extensions.exploring.world import World, do
from roambus.python_protocol.events import NO_LINK, Received, SendFailed
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SECOND, SimTime, format_time

MOST_AT_ONCE = 1000
"""The most events at one instant, when nodes send again and again over a missing link."""
LONG_AFTER = 3600 * SECOND
"""A command's delay when no timer is set."""


class Model:
    """Knows the steps from every state."""

    def __init__(self, size: int, nodes: Nodes, rules: Rules) -> None:
        self.size, self.nodes, self.rules = size, nodes, rules
        self.links: list[Link] = list(permutations(range(size), 2))
        """The pairs (sender, receiver) in the order of a state's queues."""
        self.places = {link: place for place, link in enumerate(self.links, size)}
        """The places of the queues in a state."""
        self.worlds: Numbering[World] = Numbering()
        self.queues: Numbering[tuple[Item, ...]] = Numbering()
        self.queues.number(())
        self.times: Numbering[SimTime] = Numbering()
        self.steps: Numbering[Step] = Numbering()
        self.neighbours = cache(lambda world: tuple(map(self.worlds[world].neighbours, range(size))))
        """Each node's receivers over working links, by the number of the world."""
        self._append = cache(lambda queue, item: self.queues.number((*self.queues[queue], item)))
        self._at_once = Instants(self)
        self.arrival = cache(self._arrivals_of)
        self._effect = cache(self._effects)
        self.step = cache(lambda *step: self.steps.number(Step(*step)))
        self.plan = cache(self._plan_of)
        self.options = cache(
            lambda world: [
                (may, command)
                for may, line in enumerate(rules.may)
                if self.worlds[world].left[may]
                for command in line.options(self.worlds[world])
            ]
        )
        self._see = cache(self._seen_in)
        self._waited = cache(self._world_later)
        self._loss = next((place for place, may in enumerate(rules.may) if may.is_loss), -1)
        self._twin = cache(self._make_twin)

    def twin(self, *, loses: bool = True) -> Model:
        """Return a model of the same nodes with their history, and without commands; perhaps without losses."""
        return self._twin(loses)

    def _make_twin(self, loses: bool) -> Model:
        rules = self.rules
        bare = replace(rules.question, time_limit=None, calm=None)
        lossy = rules.lossy if loses else frozenset[Link]()
        return Model(
            self.size,
            self.nodes,
            rules._replace(question=bare, may=(), history=True, counts=False, lossy=lossy),
        )

    # States

    def initial(self, states: Iterable[int], world: World, now: SimTime) -> State:
        """Return the state in which nothing is under way."""
        time = self.times.number(0 if self.nodes.relative else now)
        return (*states, *(0 for _ in self.links), time, self.worlds.number(world))

    def world(self, state: State) -> World:
        """Return the world of a state."""
        return self.worlds[state[WORLD]]

    def now(self, state: State) -> SimTime:
        """Return the time of a state: 0 with relative time."""
        return self.times[state[TIME]]

    def is_idle(self, state: State) -> bool:
        """Whether no message is under way."""
        return not any(state[self.size : TIME]) and not self.world(state).pending

    def due(self, state: State) -> list[tuple[SimTime, ...]]:
        """Return the time left of each node's timers, the next first."""
        now = self.now(state)
        return [self.nodes.due(number, now) for number in state[: self.size]]

    def soonest(self, state: State) -> SimTime | None:
        """Return the time until the next timer runs out."""
        return min((due[0] for due in self.due(state) if due), default=None) if self.nodes.is_timed else None

    # Steps

    def successors(self, state: State) -> list[Successor]:
        """Return the number of each possible step and its next state."""
        soonest = self.soonest(state)
        return [*self.arrivals(state, soonest), *self.timeouts(state, soonest), *self._commands(state, soonest)]

    def arrivals(self, state: State, soonest: SimTime | None = None) -> Iterator[Successor]:
        """Yield the steps of a message's arrival or loss, now or when the next timer is due, or of this instant."""
        if self.world(state).pending:
            yield from self._at_once.successors(state)
            return
        for place in range(self.size, len(state) + TIME):
            if state[place]:
                yield from self.arrivals_at(state, place)
                if soonest and not self.rules.question.fast_messages and self._is_in_time(state, soonest):
                    yield from self.arrivals_at(self._passed(state, soonest), place, soonest)

    def arrivals_at(self, state: State, place: int, after: SimTime = 0) -> list[Successor]:
        """Return the same for the link at that place, `after` this time; a loss has no time."""
        link, world, found = self.links[place - self.size], self.world(state), list[Successor]()
        may_lose = self._loss >= 0 and world.left[self._loss] > 0
        for event, rest, arrives, is_lost in self.arrival(place, state[place], after):
            after_it = (*state[:place], rest, *state[place + 1 :])
            found += self.follow(after_it, ((link[1], event),), arrives, phase=ALL)
            if not after and (link in self.rules.lossy or may_lose):
                lost_in = world if link in self.rules.lossy else world.using(self._loss)
                end = (*state[:place], rest, *state[place + 1 : WORLD], self.worlds.number(lost_in))
                found.append((is_lost, end))
        return found

    def _arrivals_of(self, place: int, queue: int, after: SimTime) -> list[tuple[int, int, int, int]]:
        """Return of each message that can arrive the event, the rest of its queue, and the steps that take it."""
        sender, receiver = self.links[place - self.size]
        items, found = self.queues[queue], []
        for at in range(len(items) if self.rules.question.any_order else 1):
            if items[at] not in items[:at]:
                got = delivered(sender, receiver, self.nodes.messages[items[at].message])
                rest = self.queues.number(items[:at] + items[at + 1 :])
                arrives, is_lost = (self.step(Arrive(sender, receiver, at + 1, lost), after) for lost in (False, True))
                found.append((self.nodes.events.number(Received(*got[1:])), rest, arrives, is_lost))
        return found

    def timeouts(self, state: State, soonest: SimTime | None) -> Iterator[Successor]:
        """Yield the steps of timers due next."""
        if (
            soonest is None
            or self.world(state).pending
            or not self._may_pass(state)
            or not self._is_in_time(state, soonest)
        ):
            return
        after = self._passed(state, soonest)
        for node, due in enumerate(self.due(state)):
            for number, time in enumerate(due, 1):
                if time == soonest:
                    inputs = ((node, self.nodes.events.number(ExpireTimer(number))),)
                    step = self.step(RunOut(node, number), soonest)
                    yield from self.follow(after, inputs, step, phase=COMMANDS, by_timer=True)

    def _may_pass(self, state: State) -> bool:
        """Whether time may pass now."""
        return not self.rules.question.fast_messages or self.is_idle(state)

    def _commands(self, state: State, soonest: SimTime | None) -> Iterator[Successor]:
        """Yield the steps of commands to the network or its applications."""
        options = [] if self.world(state).pending else self.options(state[WORLD])
        for after in self._moments(state, soonest) if options else ():
            then = self._passed(state, after)
            for may, command in options:
                if not self.rules.may[may].when_quiet or self.is_idle(state):
                    yield from self.carry_out(then, command, may, after)

    def _moments(self, state: State, soonest: SimTime | None) -> Iterator[SimTime]:
        """Yield a command's possible delays after the last event."""
        yield 0
        if self.rules.is_timed and self._may_pass(state):
            moments = (LONG_AFTER,) if soonest is None else sorted({soonest // 2, soonest} - {0})
            yield from (moment for moment in moments if self._is_in_time(state, moment))

    def carry_out(self, state: State, command: Command, may: int = -1, after: SimTime = 0) -> Iterator[Successor]:
        """Yield the steps of a command, allowed by the line at that place or by default."""
        world, before, later, cuts = self.plan(state[WORLD], command, may)
        numbers = [*state[:WORLD], world]
        lost = self._cut_off(numbers) if cuts else ()
        step = self.step(command, after, (), may)
        if isinstance(command, Apply | PublishEvent):
            return self.follow(tuple(numbers), later, step, phase=COMMANDS)
        return self.follow(tuple(numbers), before, step, (*lost, *later), phase=ARRIVALS)

    def _plan_of(self, number: int, command: Command, may: int) -> tuple[int, Events, Events, bool]:
        """Return the effects of a command: the next world, the events before and after losses, whether links go."""
        world, rules = self.worlds[number], self.rules
        effects = do(command, world, rules.brokers)
        after = replace(
            effects.world if may < 0 else effects.world.using(may), calm=0, commands=world.commands + rules.counts
        )
        after = after.with_dues() if rules.history else replace(after, published=())
        before, later = (
            tuple((node, self.nodes.events.number(event)) for node, event in its)
            for its in (effects.before, effects.after)
        )
        return self.worlds.number(after), before, later, after.graph != world.graph

    def _cut_off(self, numbers: list[int]) -> Events:
        """Empty the dead links; return the failures at senders that are up."""
        reports: list[tuple[NodeId, int]] = []
        graph = self.worlds[numbers[WORLD]].graph
        under_way = [(link, self.queues[numbers[place]]) for link, place in self.places.items() if numbers[place]]
        for (sender, receiver), _, missed in cut_off(graph, under_way):
            numbers[self.places[sender, receiver]] = 0
            if sender not in graph.down:
                reports += ((sender, self._failure(receiver, failed.message)) for failed in missed)
        return tuple(reports)

    def _failure(self, destination: NodeId, message: int) -> int:
        """Return the number of a message's failure: its link was missing or lost."""
        return self.nodes.events.number(SendFailed(destination, self.nodes.messages[message], NO_LINK))

    # Time

    def _is_in_time(self, state: State, after: SimTime) -> bool:
        """Whether the time is not over; the verdict names it if it is."""
        limit = self.rules.question.time_limit
        spent = self.world(state).elapsed if self.nodes.relative else self.now(state) - self.rules.begin
        if limit is None or spent + after <= limit:
            return True
        self.nodes.narrowed.add(f"the time of the line 'for {format_time(limit)}'")
        return False

    def _passed(self, state: State, time: SimTime) -> State:
        """Return the state after a time in which nothing happens."""
        if not time:
            return state
        world = self._waited(state[WORLD], time)
        if self.nodes.relative:
            nodes = (self.nodes.later(number, time) for number in state[: self.size])
            return (*nodes, *state[self.size : WORLD], world)
        return (*state[:TIME], self.times.number(self.now(state) + time), world)

    def _world_later(self, number: int, time: SimTime) -> int:
        """Return the world after some time, as far as it counts time."""
        question, world = self.rules.question, self.worlds[number]
        elapsed = time if self.nodes.relative and question.time_limit is not None else 0
        return self.worlds.number(
            replace(world, elapsed=world.elapsed + elapsed, calm=world.calm + (time if question.calm else 0))
        )

    # Consequences at one instant

    def follow(  # noqa: PLR0913  # what a step brings, and when in its instant it comes
        self,
        state: State,
        inputs: Events,
        step: int,
        late: Events = (),
        *,
        phase: int = ALL,
        old: tuple[int, ...] = (),
        by_timer: bool = False,
    ) -> Iterator[Successor]:
        """Have nodes handle events in turn, then what comes `late`, failed sends too, for each outcome of chance.

        That also stays pending if anything can precede it in this `phase`. Messages of timers are no load of a command.
        """
        begin = state
        waiting: list[tuple[State, Events, Events, Picks, int, bool]] = [(state, inputs, late, (), 0, False)]
        while waiting:
            state, inputs, late, picks, count, is_ending = waiting.pop()
            if not inputs and late:
                pending = None if is_ending else self._at_once.pending(state, late, phase, old or begin)
                if pending is not None:
                    yield self._picked(self.steps.number(self.steps[step]._replace(is_open=True)), picks), pending
                inputs, late, is_ending = late, (), True
            if not inputs or count > MOST_AT_ONCE:
                end = Raised("it sends again and again, at one instant, over a link that is gone", ())
                yield self._picked(step, picks), end if inputs else state
                continue
            (node, event), *others = inputs
            for outcome in reversed(self.nodes.answer(state[node], event, self.times[state[TIME]])):
                drawn = (*picks, (node, outcome.picks))
                if isinstance(outcome, Raised):
                    yield self._picked(step, drawn), outcome
                else:
                    after, failed = self._taken(state, node, outcome, by_timer=by_timer)
                    waiting.append((after, tuple(others), (*late, *failed), drawn, count + 1, is_ending))

    def _taken(self, state: State, node: NodeId, outcome: Outcome, *, by_timer: bool) -> tuple[State, Events]:
        """Return the state after an answer, and the failures of messages that found no link."""
        numbers = list(state)
        numbers[node] = outcome.state
        appended, failed = self._effect(node, outcome.sends, self.neighbours(state[WORLD])[node])
        for place, item in appended:
            numbers[place] = self._append(numbers[place], item)
        seen = outcome.seen if self.rules.history else ()
        counted = len(outcome.sends) if self.rules.counts and not by_timer else 0
        if seen or counted:
            numbers[WORLD] = self._see(numbers[WORLD], node, seen, counted)
        return tuple(numbers), failed

    def _effects(
        self, node: NodeId, sends: Iterable[tuple[NodeId, int]], near: tuple[NodeId, ...]
    ) -> tuple[list[tuple[int, Item]], Events]:
        """Return the sent messages with their links' places, and the failures."""
        to = [(receivers(near, destination), destination, message) for destination, message in sends]
        appended = [
            (self.places[node, receiver], Item(message, it)) for all_, it, message in to for receiver in all_ or ()
        ]
        return appended, tuple((node, self._failure(it, message)) for all_, it, message in to if all_ is None)

    def _seen_in(self, number: int, node: NodeId, seen: Iterable[int], counted: int) -> int:
        """Return the world after observations, and after this number of further messages."""
        world = self.worlds[number]
        for observed in seen:
            world = world.seeing(node, self.nodes.seen[observed])
        return self.worlds.number(replace(world, messages=world.messages + counted))

    def _picked(self, step: int, picks: Picks) -> int:
        """Return the step with these picks, without events after which a node picks nothing else in this instant."""
        if self.steps[step].at_once or self.steps[step].is_open:
            return self.steps.number(self.steps[step]._replace(picks=picks)) if self.nodes.has_drawn else step
        if not any(its for _, its in picks):
            return step
        drawing = [node if its else None for node, its in picks]
        needed = tuple(pick for place, pick in enumerate(picks) if pick[0] in drawing[place:])
        return self.steps.number(self.steps[step]._replace(picks=needed))
