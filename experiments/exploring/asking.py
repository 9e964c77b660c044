"""Asks the properties about states: each once about all that it can depend on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from roambus.experiments.exploring.instants import NOW, Instant
from roambus.experiments.exploring.network import Network
from roambus.experiments.exploring.probing import probe
from roambus.experiments.exploring.properties.property import Property, View
from roambus.experiments.exploring.rules import State
from roambus.python_protocol.simtime import SimTime


class Asking:
    """Knows which properties must hold, and says of a state which do not."""

    def __init__(
        self, network: Network, properties: Iterable[Property], names: tuple[str, ...], calm: SimTime | None = None
    ) -> None:
        """Quiet is a state with nothing under way and no timer set; with `calm`, if nothing was done for so long."""
        self._network = network
        self._always = [one for one in properties if one.at_any_time]
        self._lasting = [one for one in properties if one.lasts]
        self._quiet = [one for one in properties if one.waits_for_quiet]
        self._names = names
        self._calm = calm
        self._known: dict[tuple[int, ...], list[tuple[str, str]]] = {}
        self._of_history: dict[int, list[tuple[str, str]]] = {}
        self.quiet = 0
        """How many quiet states there were."""

    def is_left(self, violations: Iterable[Any]) -> bool:
        """Whether there are properties that hold so far."""
        return bool(
            {one.name for one in (*self._always, *self._lasting, *self._quiet)} - {one.name for one in violations}
        )

    def is_quiet(self, state: State) -> bool:
        """Whether nothing will happen by itself, or nothing was done for so long that everything has settled."""
        if not self._network.is_idle(state):
            return False
        if self._calm is not None:
            return self._network.world(state).calm >= self._calm
        return not self._network.has_timers(state)

    def wrong(self, state: State) -> list[tuple[str, str]]:
        """The names of the properties that do not hold, and how they do not."""
        found = self._asked(state, self._always) if self._always else []
        if self._lasting:
            found = [*found, *self._asked_of_history(state)]
        if self.is_quiet(state):
            self.quiet += 1
            found = [*found, *self._asked(state, self._quiet, -1)]
        return found

    def view(self, state: State) -> View:
        """What properties see of a state."""
        network = self._network
        agents = {node: network.nodes.agent(one) for node, one in enumerate(network.node_states(state))}
        return View(agents, network.world(state), Instant(NOW), self._names, lambda: probe(network, state, self._names))

    def _asked_of_history(self, state: State) -> list[tuple[str, str]]:
        world = state[-1]
        if world not in self._of_history:
            self._of_history[world] = list(_wrong(self._lasting, self.view(state)))
        return self._of_history[world]

    def _asked(self, state: State, properties: list[Property], mark: int = -2) -> list[tuple[str, str]]:
        key = (mark, *self._network.node_states(state), state[-1])
        if key not in self._known:
            self._known[key] = list(_wrong(properties, self.view(state)))
        return self._known[key]


def _wrong(properties: Iterable[Property], view: View) -> Iterator[tuple[str, str]]:
    for one in properties:
        text = one.check(view)
        if text:
            yield one.name, text
