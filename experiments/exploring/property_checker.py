"""Evaluates properties in the states of a search, once for states that they cannot tell apart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from roambus.experiments.exploring.model import Model
from roambus.experiments.exploring.moments import NOW, Moment
from roambus.experiments.exploring.probes import probe, probes
from roambus.experiments.exploring.properties import Property, View
from roambus.experiments.exploring.steps import TIME, WORLD, Raised, State
from roambus.python_protocol.vocabulary import SimTime

LONGEST_PERIOD = 2000
"""States followed to see whether a state with timers always returns to itself."""


class PropertyChecker:
    """Says which of some properties a state violates."""

    def __init__(
        self, model: Model, properties: Iterable[Property], names: tuple[str, ...], calm: SimTime | None = None
    ) -> None:
        """Quiet: nothing under way and no timer set; with `calm`, or no command for so long."""
        self._model = model
        self._always = [one for one in properties if one.at_any_time]
        self._lasting = [one for one in properties if one.lasts]
        self._quiet = [one for one in properties if one.waits_for_quiet]
        self.names = names
        self._calm = calm
        self._asks_quiet = bool(self._quiet)
        self._known: dict[tuple[int, ...], list[tuple[str, str]]] = {}
        self._rests: dict[State, bool] = {}
        """Whether node states with timers, in worlds of one topology, return to themselves."""
        self.seen: set[str] = set()
        """The names of the properties that had something to look at."""
        self._of_worlds: dict[tuple[str, int], bool] = {}
        self._of_history: dict[int, list[tuple[str, str]]] = {}
        self.quiet = 0
        """How many quiet states there were."""

    def is_left(self, violations: Iterable[Any]) -> bool:
        """Whether there are properties that hold so far."""
        return bool(
            {one.name for one in (*self._always, *self._lasting, *self._quiet)} - {one.name for one in violations}
        )

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
        return self._asks_quiet and model.nodes.relative and self._rests_in(state)

    def _rests_in(self, state: State) -> bool:
        """Whether all spontaneous steps lead back to the state without a delivery."""
        model = self._model
        twin, world = model.twin(), replace(model.world(state).without_history(), left=(), elapsed=0, calm=0)
        now = twin.initial(model.node_states(state), world, 0)
        if now not in self._rests:
            # If all that can follow leads back to `now`, each of these states can be reached from each other: none ever
            # leads anywhere else, and what is so in `now` comes again for ever. What was delivered is a part of the
            # world of the twin, so that a state after a delivery is another one, and does not lead back.
            before = self._reached_from(now)
            back = {now: None} if before else {}
            waiting = list(back)
            for one in waiting:
                waiting += (earlier for earlier in before[one] if earlier not in back)
                back |= dict.fromkeys(before[one])
            self._rests[now] = False
            if back and len(back) == len(before):
                self._rests |= dict.fromkeys(before, True)
        return self._rests[now]

    def _reached_from(self, now: State) -> dict[State, list[State]]:
        """The spontaneous successors with their predecessors; empty if they never lead back."""
        twin = self._model.twin()
        before: dict[State, list[State]] = {now: []}
        waiting = [now]
        for one in waiting:
            if len(before) > LONGEST_PERIOD:
                self._model.nodes.cuts.add(f"{LONGEST_PERIOD} states that timers and arrivals do not lead back from")
                return {}
            for _, after in twin.successors(one):
                if isinstance(after, Raised) or after in self._rests:
                    return {}  # where it rests all states are known to
                if after not in before:
                    before[after] = []
                    waiting.append(after)
                before[after].append(one)
        return before

    def is_violated(self, one: Property, state: State) -> bool:
        """Whether a property that depends on the world alone does not hold."""
        key = one.name, state[WORLD]
        if key not in self._of_worlds:
            self._of_worlds[key] = bool(self._ask([one], self._world_alone(state)))
        return self._of_worlds[key]

    def violated(self, state: State) -> list[tuple[str, str]]:
        """Return the names of the violated properties, and the violations."""
        found = self._asked(state, self._always) if self._always else []
        if self._lasting:
            found = [*found, *self._asked_of_history(state)]
        if self.is_quiet(state):
            self.quiet += 1
            found = [*found, *self._asked(state, self._quiet, -1)]
        return found

    def view(self, state: State) -> View:
        """What properties see of a state."""
        model, now = self._model, self._model.now(state)
        agents = {node: model.nodes.agent(one, now) for node, one in enumerate(model.node_states(state))}
        world, names = model.world(state), self.names

        def can_probe() -> bool:
            wanting = {one for node in model.rules.publishers - world.down for one in world.part(node)}
            return any(world.wanted[node] for node in wanting) and any(True for _ in probes(model, state))

        return View(agents, world, self._clock(now), names, lambda: probe(model, state, names), can_probe)

    def _asked_of_history(self, state: State) -> list[tuple[str, str]]:
        world = state[WORLD]
        if world not in self._of_history:
            self._of_history[world] = self._ask(self._lasting, self._world_alone(state))
        return self._of_history[world]

    def _asked(self, state: State, properties: list[Property], mark: int = -2) -> list[tuple[str, str]]:
        # What is under way is no part of it: no property sees that.
        key = (mark, *self._model.node_states(state), state[TIME], state[WORLD])
        if key not in self._known:
            self._known[key] = self._ask(properties, self.view(state))
        return self._known[key]

    def _world_alone(self, state: State) -> View:
        """The part of the world that these properties see; no agent is made for them."""
        return View({}, self._model.world(state), self._clock(self._model.now(state)), self.names)

    def _ask(self, properties: Iterable[Property], view: View) -> list[tuple[str, str]]:
        self.seen |= {one.name for one in properties if one.name not in self.seen and one.sees(view)}
        return [(one.name, text) for one in properties if (text := one.evaluate(view))]

    def _clock(self, now: SimTime) -> Any:
        return Moment(NOW) if self._model.nodes.relative else now
