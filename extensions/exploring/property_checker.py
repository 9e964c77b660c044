"""Evaluates properties in the states of a search, once for states that they cannot tell apart.

For a probe each publisher publishes in a copy of a quiet network, and the deliveries are compared in every order of
arrivals. Timers run out while nothing is under way, until none is left that was not set before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import replace
from functools import cache
from typing import Any

from roambus.bridge.transcript.commands import PublishEvent
from roambus.bridge.transcript.document import Attributes
from roambus.extensions.exploring.model import Model
from roambus.extensions.exploring.moments import NOW, Moment
from roambus.extensions.exploring.nodes import Raised
from roambus.extensions.exploring.properties import Property, View
from roambus.extensions.exploring.steps import TIME, WORLD, State, Step, Successor
from roambus.python_protocol.filters import Filter, Notification, NotificationId, Operator
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime

LONGEST_PERIOD = 2000
"""States followed to see whether a state with timers always returns to itself."""
MOST_OF_A_PROBE, LONGEST_PROBE = 200, 10_000
"""The most states of a probe in all orders, and in one."""
MOST_TIMEOUTS, MOST_AFTER_ALL = 200, 20
"""The most timers that run out in a probe, and if all have been given it."""


class PropertyChecker:
    """Says which of some properties a state violates."""

    def __init__(
        self, model: Model, properties: Iterable[Property], names: tuple[str, ...], calm: SimTime | None = None
    ) -> None:
        """Quiet: nothing under way and no timer set; with `calm`, or no command for so long."""
        self._model, self._calm, self.names = model, calm, names
        all_ = tuple(properties)
        self._properties = {
            "always": tuple(property_ for property_ in all_ if property_.at_any_time),
            "lasting": tuple(property_ for property_ in all_ if property_.lasts),
            "quiet": tuple(property_ for property_ in all_ if property_.waits_for_quiet),
        }
        under_way = (0,) * len(model.links)
        self._of_state = cache(lambda its, nodes, *end: self._ask(its, self.view((*nodes, *under_way, *end))))
        self._of_world = cache(lambda its, world: self._ask(its, View({}, model.worlds[world], 0, self.names)))
        """What follows from the history alone; no agent is made for that."""
        nodes = model.nodes
        self._keys = cache(lambda number: {repr(key) for _, key in nodes.timers(number, 0)})
        """The keys of a node's timers."""
        self._rests: dict[State, bool] = {}
        """Whether node states with timers, in worlds without history, return to themselves."""
        self.seen: set[str] = set()
        """The properties that had something to look at."""
        self.quiet = 0
        """How many quiet states there were."""

    def is_left(self, violations: Iterable[Any]) -> bool:
        """Whether there are properties that hold so far."""
        names = {property_.name for its in self._properties.values() for property_ in its}
        return bool(names - {violation.name for violation in violations})

    def is_quiet(self, state: State) -> bool:
        """Whether nothing will happen by itself, or no command came for so long that all has settled."""
        model = self._model
        if not model.is_idle(state):
            return False
        if model.soonest(state) is None:
            return True
        if self._calm is not None:
            longest = max(max(due, default=0) for due in model.due(state))
            # It can take as many timers as there are nodes, one after the other, until the effect of one is seen.
            return model.world(state).calm > max(self._calm - 1, longest * model.size)
        return bool(self._properties["quiet"]) and model.nodes.relative and self._rests_in(state)

    def _rests_in(self, state: State) -> bool:
        """Whether all spontaneous steps lead back to the state without a delivery."""
        model = self._model
        twin, world = model.twin(), replace(model.world(state).without_history(), left=(), elapsed=0, calm=0)
        now = twin.initial(state[: model.size], world, 0)
        if now not in self._rests:
            # If all that can follow leads back to `now`, each of these states can be reached from each other: none ever
            # leads anywhere else, and what is so in `now` comes again for ever. What was delivered is a part of the
            # world of the twin, so that a state after a delivery is another one, and does not lead back.
            before = self._reached_from(now)
            back = [now]
            known = set(back)
            for member in back:
                back += (earlier for earlier in before.get(member, ()) if earlier not in known)
                known.update(back)
            returns = bool(before) and known == set(before)
            self._rests |= dict.fromkeys(known if returns else (now,), returns)
        return self._rests[now]

    def _reached_from(self, now: State) -> dict[State, list[State]]:
        """The spontaneous successors with their predecessors; empty if they never lead back."""
        before: dict[State, list[State]] = {now: []}
        waiting = [now]
        for state in waiting:
            if len(before) > LONGEST_PERIOD:
                self._model.nodes.cuts.add(f"{LONGEST_PERIOD} states that timers and arrivals do not lead back from")
                return {}
            for _, after in self._model.twin().successors(state):
                if isinstance(after, Raised) or after in self._rests:
                    return {}  # where it rests all states are known to
                waiting += [after] * (after not in before)
                before.setdefault(after, []).append(state)
        return before

    def is_violated(self, property_: Property, state: State) -> bool:
        """Whether a property of the world alone is violated."""
        return bool(self._of_world((property_,), state[WORLD]))

    def violated(self, state: State) -> list[tuple[str, str]]:
        """Return the names of the violated properties, and the violations."""
        always, lasting, quiet = self._properties.values()
        nodes = state[: self._model.size]
        found = self._of_state(always, nodes, *state[TIME:]) if always else []
        if lasting:
            found = [*found, *self._of_world(lasting, state[WORLD])]
        if self.is_quiet(state):
            self.quiet += 1
            found = [*found, *(self._of_state(quiet, nodes, *state[TIME:]) if quiet else [])]
        return found

    def view(self, state: State) -> View:
        """What properties see of a state; what is under way is no part of it."""
        world, publishers = self._model.world(state), self._model.rules.publishers

        def can_probe() -> bool:
            wanting = {member for node in publishers - world.down for member in world.part(node)}
            return any(world.wanted[node] for node in wanting) and any(True for _ in probes(world, publishers))

        plain = self.plain_view(self._model, state)
        return replace(plain, probe=lambda: self.failed_probe(state)[0], can_probe=can_probe)

    def plain_view(self, model: Model, state: State) -> View:
        """The view of a state of `model`, which has the same nodes; without probes."""
        agents = dict(enumerate(map(model.nodes.agent, state[: model.size])))
        now: Any = Moment(NOW) if model.nodes.relative else model.now(state)
        return View(agents, model.world(state), now, self.names)

    def _ask(self, properties: Iterable[Property], view: View) -> list[tuple[str, str]]:
        self.seen |= {
            property_.name for property_ in properties if property_.name not in self.seen and property_.sees(view)
        }
        return [(property_.name, text) for property_ in properties if (text := property_.evaluate(view))]

    def failed_probe(self, state: State) -> tuple[str | None, tuple[Step, ...]]:
        """Return the error of the first failed probe, and its steps; None if all arrive."""
        model, twin = self._model, self._model.twin(loses=False)
        world = model.world(state)
        begin = twin.initial(state[: model.size], world.without_history(), model.now(state))
        for command in probes(world, model.rules.publishers):
            text, steps = self._search_probe(begin, command)
            if text:
                return text, steps
        return None, ()

    def _search_probe(self, begin: State, command: PublishEvent) -> tuple[str | None, tuple[Step, ...]]:
        """Follow a publication in every order of arrivals, depth first, to the first error."""
        twin, known, ends = self._model.twin(loses=False), set[State](), 0
        is_over = self.end_of_probe(begin, command)
        waiting: list[tuple[int, State | Raised, tuple[Step, ...], int]] = [
            (number, after, (), 0) for number, after in twin.carry_out(begin, command)
        ]
        while waiting:
            number, state, steps, timeouts = waiting.pop()
            steps = (*steps, twin.steps[number])
            if isinstance(state, Raised):
                return state.text, steps
            if state in known:
                continue
            known.add(state)
            if len(known) > LONGEST_PROBE:
                return f"a probe was not over after {LONGEST_PROBE} arrivals", steps
            if ends and len(known) > MOST_OF_A_PROBE:
                self._model.nodes.narrowed.add(f"the first {MOST_OF_A_PROBE} states of each probe")
                break
            following, has_ended = list(twin.arrivals(state)), False
            if not following:
                has_ended, text = is_over(state, timeouts)
                if has_ended and text:
                    return text, steps
                ends, timeouts = ends + has_ended, timeouts + 1
                following = [] if has_ended else self._timeouts(state)
            waiting += ((number, after, steps, timeouts) for number, after in reversed(following))
        return None, ()

    def _timeouts(self, state: State) -> list[Successor]:
        """Return the next timers of a probe, which run out while nothing is under way."""
        if not self._model.rules.question.fast_messages:
            self._model.nodes.narrowed.add("messages faster than timers in probes")
        twin = self._model.twin(loses=False)
        return list(twin.timeouts(state, twin.soonest(state)))

    def end_of_probe(self, begin: State, command: PublishEvent) -> Callable[[State, int], tuple[bool, str | None]]:
        """Return a function that says whether a probe is over after so many timeouts, and the error."""
        twin, world = self._model.twin(loses=False), self._model.twin(loses=False).world(begin)
        identifier = NotificationId(command.node, world.numbers[command.node])
        published = Notification(identifier, command.attributes)
        wanting = {node for node in world.part(command.node) if world.wants(node, published)}
        before = self._timers(begin)

        def is_over(state: State, timeouts: int) -> tuple[bool, str | None]:
            text = compare(wanting, twin.world(state).delivered, identifier, self.names)
            most = MOST_TIMEOUTS if text else MOST_AFTER_ALL
            return timeouts >= most or self._timers(state) <= before, text

        return is_over

    def _timers(self, state: State) -> set[tuple[NodeId, str]]:
        """Return the keys of all timers that are set."""
        if not self._model.nodes.is_timed:
            return set()
        keys = map(self._keys, state[: self._model.size])
        return {(node, key) for node, its in enumerate(keys) for key in its}


def probes(world: Any, publishers: Set[NodeId]) -> Iterator[PublishEvent]:
    """Yield a publication of each wanted notification by every publisher that is up."""
    found = [
        matching(filter_) for filter_ in sorted({filter_ for filters in world.wanted for filter_ in filters}, key=str)
    ]
    for node in sorted(publishers - world.down):
        yield from (PublishEvent(node, "the probe", notification) for notification in found if notification is not None)


def compare(
    wanting: Set[NodeId],
    delivered: tuple[tuple[NotificationId, ...], ...],
    identifier: NotificationId,
    names: tuple[str, ...],
) -> str | None:
    """Return the error of a notification's deliveries; the nodes `wanting` should get it."""
    counted = Counter(node for node, given in enumerate(delivered) for delivery in given if delivery == identifier)
    for node in sorted(wanting | set(counted)):
        if counted[node] != (node in wanting):
            wants = "wants it and can be reached" if node in wanting else "does not want it, or cannot be reached"
            publisher = names[identifier.publisher]
            return f"what {publisher} publishes comes {counted[node]} times to {names[node]}, which {wants}"
    return None


def matching(filter_: Filter) -> Attributes | None:
    """Return attributes that match a filter of equalities and existence; else None."""
    equal = {
        constraint.attribute: constraint.operand
        for constraint in filter_.constraints
        if constraint.operator is Operator.EQUAL
    }
    exist = {constraint.attribute: 1 for constraint in filter_.constraints if constraint.operator is Operator.EXISTS}
    other = any(constraint.operator not in (Operator.EQUAL, Operator.EXISTS) for constraint in filter_.constraints)
    found: Any = exist | equal
    return None if other else tuple(sorted(found.items()))
