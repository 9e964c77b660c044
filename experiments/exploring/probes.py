"""Probes: in a copy of a quiet network each publisher publishes, and the arrivals are compared.

One order of arrivals is enough: the network is quiet, and a protocol that needs a lucky order is wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Set

from roambus.bridge.transcript.commands import PublishEvent
from roambus.bridge.transcript.document import Attributes
from roambus.experiments.exploring.model import Model
from roambus.experiments.exploring.steps import Raised, State, Step
from roambus.python_protocol.filters import Filter, Notification, NotificationId, Operator
from roambus.python_protocol.vocabulary import NodeId

LONGEST = 10_000
"""After so many arrivals a probe is taken to go in circles."""
PROBE = "the probe"


def probe(model: Model, state: State, names: tuple[str, ...]) -> str | None:
    """Return the error of the first failed probe, or None."""
    for command in probes(model, state):
        text, _ = follow_probe(model, state, command, names)
        if text:
            return text
    return None


def probes(model: Model, state: State) -> Iterator[PublishEvent]:
    """Yield a publication of each wanted notification by every publisher that is up."""
    world = model.world(state)
    wanted = sorted({one for filters in world.wanted for one in filters}, key=str)
    for node in sorted(model.rules.publishers - world.down):
        for one in wanted:
            attributes = matching(one)
            if attributes is not None:
                yield PublishEvent(node, PROBE, attributes)


def follow_probe(
    model: Model, state: State, command: PublishEvent, names: tuple[str, ...]
) -> tuple[str | None, tuple[Step, ...]]:
    """Return the error of a probe's deliveries, and the steps until nothing is under way."""
    world = model.world(state)
    twin = model.twin()
    begin = twin.initial(model.node_states(state), world.without_history(), model.now(state))
    end, steps = _drain(twin, begin, command)
    if isinstance(end, str):
        return end, steps
    identifier = NotificationId(command.node, world.numbers[command.node])
    notification = Notification(identifier, command.attributes)
    wanting = {one for one in world.part(command.node) if world.wants(one, notification)}
    return compare(wanting, twin.world(end).delivered, identifier, names), steps


def _drain(model: Model, state: State, command: PublishEvent) -> tuple[State | str, tuple[Step, ...]]:
    steps: list[Step] = []
    (step, after), *_ = model.carry_out(state, command)
    while not isinstance(after, Raised):
        steps.append(model.steps[step])
        following = next(iter(model.arrivals(after)), None)
        if following is None:
            return after, tuple(steps)
        if len(steps) > LONGEST:
            return f"a probe was not over after {LONGEST} arrivals", tuple(steps)
        step, after = following
    return after.text, (*steps, model.steps[step])


def compare(
    wanting: Set[NodeId],
    delivered: tuple[tuple[NotificationId, ...], ...],
    identifier: NotificationId,
    names: tuple[str, ...],
) -> str | None:
    """Return the error of a notification's deliveries; the nodes `wanting` should get it."""
    publisher = identifier.publisher
    counted = Counter(node for node, given in enumerate(delivered) for one in given if one == identifier)
    for node in sorted(wanting | set(counted)):
        if counted[node] != (node in wanting):
            wants = "wants it and can be reached" if node in wanting else "does not want it, or cannot be reached"
            return f"what {names[publisher]} publishes comes {counted[node]} times to {names[node]}, which {wants}"
    return None


def matching(wanted: Filter) -> Attributes | None:
    """Return attributes that match a filter of equalities and existence; else None."""
    attributes = {}
    for one in wanted.constraints:
        if one.operator is Operator.EQUAL and one.operand is not None:
            attributes[one.attribute] = one.operand
        elif one.operator is Operator.EXISTS:
            attributes.setdefault(one.attribute, 1)
        else:
            return None
    return tuple(sorted(attributes.items()))
