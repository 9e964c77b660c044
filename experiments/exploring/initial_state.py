"""The initial state: a transcript's setup runs as in `roambus trace`, and the nodes are copied at its end.

So an exploration begins exactly where its counterexamples begin to be worked by hand.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import permutations
from typing import Any, NamedTuple

from roambus.bridge.errors import AgentError, UserError
from roambus.bridge.host.agents import Handle
from roambus.bridge.trace.parquet import TraceWriter
from roambus.bridge.transcript.by_hand import Hands
from roambus.bridge.transcript.document import Document, parse_document
from roambus.bridge.transcript.transcript import Overrides, Plan, plan
from roambus.experiments.exploring.model import Model
from roambus.experiments.exploring.moments import ClockError, Moment
from roambus.experiments.exploring.nodes import Nodes
from roambus.experiments.exploring.scenario_file import May, MayReader, Question, at
from roambus.experiments.exploring.steps import Rules, State
from roambus.experiments.exploring.world import Witness, World, witness_by
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.vocabulary import NodeId, Role, format_time

BY_HAND = "by hand"
_NO_COMMAND = "> wait 0s"


class InitialState(NamedTuple):
    """A model, its initial state, and the names of its parts."""

    model: Model
    state: State
    plan: Plan
    question: Question
    overrides: Overrides

    @property
    def is_timed(self) -> bool:
        """Whether agents set timers or read the clock, so that the time matters."""
        return self.model.nodes.is_timed

    @property
    def agent_line(self) -> str:
        """The explored agent with its parameters, as in a transcript's head."""
        settings = {**self.plan.head.parameters, **self.overrides.parameters}
        return " ".join(("agent", self.plan.head.agent, *(f"{name}={value}" for name, value in settings.items())))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the nodes, those of their subscribers where they have one."""
        network = self.plan.timeline.network
        return tuple(network.node_name(node) for node in range(self.model.size))


def begin(question: Question, overrides: Overrides, *, is_timed: bool = False) -> InitialState:
    """Run the setup of a question about one network; raises UserError, AgentError.

    `is_timed`: agents are known to read the clock.
    """
    planned = plan(document_of(question), overrides)
    if planned.timeline.network.places:
        raise UserError(f"{question.path}: a tree or links can be explored, and no field")
    witness, hands = _run_setup(planned, relative=question.relative)
    size = len(planned.scenario.nodes)
    nodes = Nodes(size, planned.agent_class, values=question.values, relative=question.relative)
    nodes.horizon = question.horizon
    if any(one.chance.has_drawn or one.chance.narrowed for one in hands):
        nodes.narrowed.add("chance in the setup at its first values")
    if question.horizon is not None:
        nodes.narrowed.add(f"moments longer ago than {format_time(question.horizon)} alike")
    now = planned.timeline.now
    states = [nodes.add(*both, now) for both in zip(witness.agents, hands, strict=True)]
    nodes.is_timed |= is_timed
    rules = replace(_rules(question, planned), begin=now, is_timed=nodes.is_timed)
    model = Model(size, nodes, rules)
    state = model.initial(states, _world(model, planned, witness), now)
    return InitialState(model, state, planned, question, overrides)


def document_of(question: Question) -> Document:
    """The transcript head of a question about one network; raises UserError.

    It is worked by hand from the end of the setup on: events due at that very moment have not happened.
    """
    return parse_document(question.path, "\n".join((*question.head, BY_HAND, _NO_COMMAND)))


def _rules(question: Question, planned: Plan) -> Rules:
    network, roles = planned.timeline.network, [one.roles for one in planned.scenario.nodes]
    reader = MayReader(network, planned.head.vocabulary)
    return Rules(
        may=tuple(_read_may(question, reader)),
        brokers=frozenset(node for node, its in enumerate(roles) if Role.BROKER in its),
        publishers=frozenset(node for node, its in enumerate(roles) if Role.PUBLISHER in its),
        lossy=_lossy(planned),
        any_order=question.any_order,
        fast_messages=question.fast_messages,
        drift=question.drift,
        time_limit=question.time_limit,
        counts_calm=bool(question.calm),
        alike=tuple(roles) if question.alike and _is_untouched(planned) else (),
        history=any(one.history for one in question.must),
        counts_messages=any(one.counts for one in question.must),
    )


def _is_untouched(planned: Plan) -> bool:
    """Whether the setup only waits, so that nothing tells nodes apart."""
    return all(line.text.split()[0] == "wait" for line in planned.head.setup)


def _lossy(planned: Plan) -> frozenset[tuple[NodeId, NodeId]]:
    """The ways on which the head lets messages get lost."""
    own = {(one.sender, one.receiver): one.share for one in planned.timeline.losses()}
    ways = permutations(range(len(planned.scenario.nodes)), 2)
    return frozenset(way for way in ways if own.get(way, planned.head.loss))


def _read_may(question: Question, reader: MayReader) -> Iterable[May]:
    for number, text in question.may:
        with at(question.path, number):
            yield reader.read(text)


def _run_setup(planned: Plan, *, relative: bool) -> tuple[Witness, list[Hands]]:
    witness, carrier = Witness(planned.timeline, planned.scenario), planned.carrier()
    inner = (_with_moments,) if relative else ()
    try:
        hands = planned.run(carrier, TraceWriter(), witness_by(witness), inner=inner)
    except AgentError as error:
        if isinstance(error.__cause__, ClockError):
            raise UserError(f"in the setup: {error}") from error
        raise
    witness.reach(planned.scenario.time_limit)
    if carrier.under_way:
        raise UserError(
            f"{carrier.under_way} messages are under way when the setup is over; "
            "let it end with a longer wait, such as: wait 10s"
        )
    return witness, hands


def _with_moments(_: Agent, handle: Handle) -> Handle:
    """Give an agent moments in place of times."""
    clock: Any = Moment
    return lambda event, now: handle(event, clock(now))


def _world(model: Model, planned: Plan, witness: Witness) -> World:
    """The world that the setup has left, of whose history nothing is asked."""
    parents = planned.timeline.parents
    return replace(
        witness.world.without_history(),
        parents=tuple(map(parents.get, range(model.size))) if planned.timeline.network.is_tree else (),
        left=tuple(one.times for one in model.rules.may),
    )
