"""Probes: in a copy of a quiet network everybody publishes something, and it is seen whether it arrives.

What follows a probe is worked out in one order of arrivals only: the network is quiet, so the order hardly matters, and
a protocol that needs a lucky one is wrong already.

Asks the properties about states: each once about all that it can depend on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Set
from dataclasses import replace
from typing import Any

from roambus.bridge.transcript.commands import PublishEvent
from roambus.bridge.transcript.document import Attributes
from roambus.experiments.exploring.network import Network, Reduction
from roambus.experiments.exploring.properties import Property, View
from roambus.experiments.exploring.rules import Raised, State, Step
from roambus.experiments.exploring.state import NOW, Instant
from roambus.python_protocol.filters import Filter, Notification, NotificationId, Operator
from roambus.python_protocol.vocabulary import NodeId, SimTime

LONGEST_PERIOD = 500
"""States that are followed to see whether a state with timers always returns to itself."""
LONGEST = 10_000
"""After so many arrivals a probe is taken to go in circles."""
PROBE = "the probe"


def probe(network: Network, state: State, names: tuple[str, ...]) -> str | None:
    """What is wrong with what arrives of the first probe with which anything is; None if nothing is wrong."""
    for command in probes(network, state):
        text, _ = follow_probe(network, state, command, names)
        if text:
            return text
    return None


def probes(network: Network, state: State) -> Iterator[PublishEvent]:
    """What can be published that somebody wants, by every publisher that is up."""
    world = network.world(state)
    wanted = sorted({one for filters in world.wanted for one in filters}, key=str)
    for node in sorted(network.rules.publishers - world.down):
        for one in wanted:
            attributes = matching(one)
            if attributes is not None:
                yield PublishEvent(node, PROBE, attributes)


def follow_probe(
    network: Network, state: State, command: PublishEvent, names: tuple[str, ...]
) -> tuple[str | None, tuple[Step, ...]]:
    """What is wrong with the deliveries of a probe, and the steps until nothing is under way."""
    world = network.world(state)
    twin = network.twin()
    end, steps = _drain(twin, twin.first(network.node_states(state), world.without_history()), command)
    if isinstance(end, str):
        return end, steps
    identifier = NotificationId(command.node, world.numbers[command.node])
    notification = Notification(identifier, command.attributes)
    wanting = {one for one in world.part(command.node) if world.wants(one, notification)}
    return compare(wanting, twin.world(end).delivered, identifier, names), steps


def _drain(network: Network, state: State, command: PublishEvent) -> tuple[State | str, tuple[Step, ...]]:
    steps: list[Step] = []
    (step, after), *_ = network.carry_out(state, command)
    while not isinstance(after, Raised):
        steps.append(network.steps[step])
        following = next(iter(network.arrivals(after)), None)
        if following is None:
            return after, tuple(steps)
        if len(steps) > LONGEST:
            return f"a probe was not over after {LONGEST} arrivals", tuple(steps)
        step, after = following
    return after.text, (*steps, network.steps[step])


def compare(
    wanting: Set[NodeId],
    delivered: tuple[tuple[NotificationId, ...], ...],
    identifier: NotificationId,
    names: tuple[str, ...],
) -> str | None:
    """What is wrong with what was delivered of a notification that these want and can be reached with."""
    publisher = identifier.publisher
    counted = Counter(node for node, given in enumerate(delivered) for one in given if one == identifier)
    for node in sorted(wanting | set(counted)):
        if counted[node] != (node in wanting):
            wants = "wants it and can be reached" if node in wanting else "does not want it, or cannot be reached"
            return f"what {names[publisher]} publishes comes {counted[node]} times to {names[node]}, which {wants}"
    return None


def matching(wanted: Filter) -> Attributes | None:
    """Attributes that a filter matches; None if they are not plain to see."""
    attributes = {}
    for one in wanted.constraints:
        if one.operator is Operator.EQUAL and one.operand is not None:
            attributes[one.attribute] = one.operand
        elif one.operator is Operator.EXISTS:
            attributes.setdefault(one.attribute, 1)
        else:
            return None
    return tuple(sorted(attributes.items()))


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
        self._asks_quiet = bool(self._quiet)
        self._known: dict[tuple[int, ...], list[tuple[str, str]]] = {}
        self._rests: dict[State, bool] = {}
        """Whether states of nodes with timers, in worlds of one topology, come back to themselves."""
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
        """Whether nothing will happen by itself, or nothing was done for so long that everything has settled."""
        network = self._network
        if not network.is_idle(state):
            return False
        if not network.has_timers(state):
            return True
        if self._calm is not None:
            longest = max(max(network.nodes.waits(one), default=0) for one in network.node_states(state))
            # It can take as many timers as there are nodes, one after the other, until what one has set off is seen.
            return network.world(state).calm > max(self._calm - 1, longest * network.size)
        return self._asks_quiet and self._rests_in(state)

    def _rests_in(self, state: State) -> bool:
        """Whether all that can happen by itself leads back to the state, and nothing is delivered meanwhile."""
        twin, world = self._network.twin(), self._network.world(state).without_history()
        now = twin.first(self._network.node_states(state), replace(world, left=(), elapsed=0, calm=0))
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
        """What can follow by itself, and after which states each can; nothing if that never leads back."""
        reduction = Reduction(self._network.twin())
        before: dict[State, list[State]] = {now: []}
        waiting = [now]
        for one in waiting:
            if len(before) > LONGEST_PERIOD:
                self._network.nodes.cuts.add(f"{LONGEST_PERIOD} states that timers and arrivals do not lead back from")
                return {}
            for _, after in reduction.successors(one):
                if isinstance(after, Raised) or after in self._rests:
                    return {}  # where it rests all states are known to
                if after not in before:
                    before[after] = []
                    waiting.append(after)
                before[after].append(one)
        return before

    def is_wrong(self, one: Property, state: State) -> bool:
        """Whether a property that depends on the world alone does not hold."""
        key = one.name, state[-1]
        if key not in self._of_worlds:
            self._of_worlds[key] = bool(self._ask([one], self._world_alone(state)))
        return self._of_worlds[key]

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
        world, names = network.world(state), self._names

        def can_probe() -> bool:
            wanting = {one for node in network.rules.publishers - world.down for one in world.part(node)}
            return any(world.wanted[node] for node in wanting) and any(True for _ in probes(network, state))

        return View(agents, world, Instant(NOW), names, lambda: probe(network, state, names), can_probe)

    def _asked_of_history(self, state: State) -> list[tuple[str, str]]:
        world = state[-1]
        if world not in self._of_history:
            self._of_history[world] = self._ask(self._lasting, self._world_alone(state))
        return self._of_history[world]

    def _asked(self, state: State, properties: list[Property], mark: int = -2) -> list[tuple[str, str]]:
        # What is under way is no part of it: no property sees that.
        key = (mark, *self._network.node_states(state), state[-1])
        if key not in self._known:
            self._known[key] = self._ask(properties, self.view(state))
        return self._known[key]

    def _world_alone(self, state: State) -> View:
        """What those properties see that depend on the world alone: an agent is made for none of them."""
        return View({}, self._network.world(state), Instant(NOW), self._names)

    def _ask(self, properties: Iterable[Property], view: View) -> list[tuple[str, str]]:
        self.seen |= {one.name for one in properties if one.name not in self.seen and one.sees(view)}
        return [(one.name, text) for one in properties if (text := one.check(view))]
