"""The initial state: a transcript's setup runs as in `roambus trace`, and the nodes are copied at its end.

So an exploration begins exactly where its counterexamples begin to be worked by hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations
from typing import Any, NamedTuple

from roambus.bridge.host.agents import Handle
from roambus.bridge.scenario.plans import FaultKind
from roambus.bridge.system.errors import AgentError, UserError
from roambus.bridge.trace.parquet import TraceWriter
from roambus.bridge.transcript.document import Document, parse_document
from roambus.bridge.transcript.transcript import Overrides, Plan, plan
from roambus.extensions.exploring.manual import ManualAgent, ManualDriver
from roambus.extensions.exploring.model import Model
from roambus.extensions.exploring.moments import ClockError, Moment
from roambus.extensions.exploring.nodes import Nodes
from roambus.extensions.exploring.scenario_file import May, MayReader, Question, at
from roambus.extensions.exploring.steps import Rules, State
from roambus.extensions.exploring.world import RunObserver, World, observed_by
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.roles import Role

BY_HAND = "by hand"
_FREEZES = re.compile(r"[\w/ ]+ freezes( when quiet)?")
_NO_COMMAND = "> wait 0s"
SETUP_CHANCE = "chance in the setup at its first values"
"""A bound: the search begins at one of several ends of the setup."""


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
        """The names of the nodes."""
        return tuple(map(self.plan.timeline.network.node_name, range(self.model.size)))


def begin(question: Question, overrides: Overrides, *, is_timed: bool = False) -> InitialState:
    """Run the setup of a question about one network; raises UserError, AgentError.

    `is_timed`: agents are known to read the clock.
    """
    planned = plan(document_of(question), overrides)
    network, now = planned.timeline.network, planned.timeline.now
    if network.places:
        raise UserError(f"{question.path}: a tree or links can be explored, and no field")
    last = {fault.node: fault.kind for fault in planned.scenario.faults}
    if FaultKind.FREEZE in last.values():
        raise UserError(f"{question.path}: a node is frozen when the setup is over, which cannot be explored")
    observer, agents = _run_setup(planned, relative=question.relative)
    size = len(planned.scenario.nodes)
    nodes = Nodes(size, planned.agent_class, values=question.values, relative=question.relative)
    if any(agent.chance.has_drawn or agent.chance.narrowed for agent in agents):
        nodes.narrowed.add(SETUP_CHANCE)
    states = [nodes.add(*both, now) for both in zip(observer.agents, agents, strict=True)]
    nodes.is_timed |= is_timed
    model = Model(size, nodes, _rules(question, planned, is_timed=nodes.is_timed))
    parents = tuple(map(planned.timeline.parents.get, range(size))) if network.is_tree else ()
    left = tuple(may.times for may in model.rules.may)
    world: World = replace(observer.world.without_history(), parents=parents, left=left)
    return InitialState(model, model.initial(states, world, now), planned, question, overrides)


def document_of(question: Question) -> Document:
    """The transcript head of a question about one network; raises UserError.

    It is worked by hand from the end of the setup on: events due at that very moment have not happened.
    """
    return parse_document(question.path, "\n".join((*question.head, BY_HAND, _NO_COMMAND)))


def _rules(question: Question, planned: Plan, *, is_timed: bool) -> Rules:
    roles = [node.roles for node in planned.scenario.nodes]
    own = {(loss.sender, loss.receiver): loss.share for loss in planned.timeline.losses()}
    return Rules(
        question,
        tuple(_read_may(question, MayReader(planned.timeline.network, planned.head.vocabulary))),
        brokers=frozenset(node for node, its in enumerate(roles) if Role.BROKER in its),
        publishers=frozenset(node for node, its in enumerate(roles) if Role.PUBLISHER in its),
        lossy=frozenset(way for way in permutations(range(len(roles)), 2) if own.get(way, planned.head.loss)),
        begin=planned.timeline.now,
        is_timed=is_timed,
        history=any(property_.history for property_ in question.must),
        counts=any(property_.counts for property_ in question.must),
    )


def _read_may(question: Question, reader: MayReader) -> Iterator[May]:
    for number, text in question.may:
        with at(question.path, number):
            if _FREEZES.fullmatch(text):
                raise ValueError(f"{text!r}: freezes cannot be explored; hunt in them: --hunt 60")
            yield reader.read(text)


def _run_setup(planned: Plan, *, relative: bool) -> tuple[RunObserver, list[ManualAgent]]:
    observer, carrier = RunObserver(planned.timeline, planned.scenario), planned.carrier()
    inner = (_with_moments,) if relative else ()
    try:
        work = planned.run(carrier, TraceWriter(), observed_by(observer), inner=inner)
    except AgentError as error:
        if isinstance(error.__cause__, ClockError):
            raise UserError(f"in the setup: {error}") from error
        raise
    observer.reach(planned.scenario.time_limit)
    if carrier.under_way:
        raise UserError(
            f"{carrier.under_way} messages are under way when the setup is over; "
            "let it end with a longer wait, such as: wait 10s"
        )
    return observer, work.agents if isinstance(work, ManualDriver) else []


def _with_moments(_: Agent, handle: Handle) -> Handle:
    """Give an agent moments in place of times."""
    clock: Any = Moment
    return lambda event, now: handle(event, clock(now))
