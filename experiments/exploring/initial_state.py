"""The first state: a transcript's setup is carried out as by `roambus trace`, and then the nodes are frozen.

So an exploration begins exactly where the transcripts that it writes begin to be worked by hand.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import permutations
from typing import NamedTuple

from roambus.bridge.errors import UserError
from roambus.bridge.host.event_loop import Host
from roambus.bridge.trace.parquet import TraceWriter
from roambus.bridge.transcript.by_hand import worked_by_hand
from roambus.bridge.transcript.document import Document, parse_document
from roambus.bridge.transcript.transcript import Overrides, Plan, plan
from roambus.experiments.exploring.network import Network
from roambus.experiments.exploring.nodes import Nodes
from roambus.experiments.exploring.rules import Rules, State
from roambus.experiments.exploring.scenario_file import Question, at
from roambus.experiments.exploring.state import Instant
from roambus.experiments.exploring.witness import Witness, witnessed
from roambus.experiments.exploring.world import May, MayReader, World
from roambus.python_protocol.vocabulary import NodeId, Role, format_time

_NO_COMMAND = "> wait 0s"
_OURS = ("worked", "watch")
"""The attributes that our subclasses give an agent."""


class Beginning(NamedTuple):
    """A network in its first state, and what is called what."""

    network: Network
    first: State
    plan: Plan
    question: Question
    overrides: Overrides

    @property
    def is_timed(self) -> bool:
        """Whether agents have timers, so that it matters what time it is."""
        return self.network.has_timers(self.first)

    @property
    def agent_line(self) -> str:
        """The agent that is explored, with its parameters, as the head of a transcript has it."""
        settings = {**self.plan.head.parameters, **self.overrides.parameters}
        return " ".join(("agent", self.plan.head.agent, *(f"{name}={value}" for name, value in settings.items())))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the nodes, those of their subscribers where they have one."""
        network = self.plan.timeline.network
        return tuple(network.node_name(node) for node in range(self.network.size))


def begin(question: Question, overrides: Overrides) -> Beginning:
    """Carries out the setup of a question about one network; raises UserError, AgentError."""
    planned = plan(document_of(question), overrides)
    if planned.scenario.sites is not None or planned.timeline.network.places:
        raise UserError(f"{question.path}: a tree or links can be explored, and neither sites nor a field")
    witness = _run_setup(planned)
    size = len(planned.scenario.nodes)
    nodes = Nodes(size, planned.agent_class, only_least=not question.both_ends)
    nodes.horizon = question.horizon
    if any(one.worked.chance.has_drawn or one.worked.chance.narrowed for one in witness.agents):
        nodes.narrowed.add("chance in the setup at its first values")
    if question.horizon is not None:
        nodes.narrowed.add(f"moments longer ago than {format_time(question.horizon)} alike")
    network = Network(size, nodes, _rules(question, planned))
    now = planned.timeline.now
    states = [nodes.add(one, now, _OURS) for one in witness.agents]
    return Beginning(network, network.first(states, _world(network, planned, witness)), planned, question, overrides)


def document_of(question: Question) -> Document:
    """The head of a transcript that a question about one network is; raises UserError."""
    return parse_document(question.path, "\n".join((*question.head, _NO_COMMAND)))


def _rules(question: Question, planned: Plan) -> Rules:
    network, roles = planned.timeline.network, [one.roles for one in planned.scenario.nodes]
    reader = MayReader(network, planned.head.vocabulary)
    return Rules(
        may=tuple(_read_may(question, reader)),
        brokers=frozenset(node for node, its in enumerate(roles) if Role.BROKER in its),
        publishers=frozenset(node for node, its in enumerate(roles) if Role.PUBLISHER in its),
        lossy=_lossy(planned),
        any_order=question.any_order,
        slow_messages=question.slow_messages,
        drift=question.drift,
        time_limit=question.time_limit,
        counts_calm=bool(question.calm),
        alike=tuple(roles) if question.alike else (),
        history=any(one.history for one in question.must),
        counts_messages=any(one.counts for one in question.must),
    )


def _lossy(planned: Plan) -> frozenset[tuple[NodeId, NodeId]]:
    """The ways on which the head lets messages get lost."""
    own = {(one.sender, one.receiver): one.share for one in planned.timeline.losses()}
    ways = permutations(range(len(planned.scenario.nodes)), 2)
    return frozenset(way for way in ways if own.get(way, planned.head.loss))


def _read_may(question: Question, reader: MayReader) -> Iterable[May]:
    for number, text in question.may:
        with at(question.path, number):
            yield reader.read(text)


def _run_setup(planned: Plan) -> Witness:
    witness, carrier = Witness(planned.timeline, planned.scenario), planned.carrier()
    agent = witnessed(worked_by_hand(planned.agent_class), witness, Instant)
    Host(planned.scenario, agent, carrier, TraceWriter()).run()
    witness.reach(planned.scenario.time_limit)
    if carrier.under_way:
        raise UserError(f"{carrier.under_way} messages are under way when the setup is over; {_advice(planned)}")
    return witness


def _advice(planned: Plan) -> str:
    """What lets them arrive; timers run out at whole times, at which a setup that ends with a wait can end, too."""
    last = planned.head.setup[-1].text.split() if planned.head.setup else []
    if last[:1] != ["wait"]:
        return "end it with: wait 10s"
    return f"it ends with '{' '.join(last)}', when somebody sends again: end it between two timers, such as wait 10.3s"


def _world(network: Network, planned: Plan, witness: Witness) -> World:
    """The world that the setup has left, of whose history nothing is asked."""
    parents, nodes = planned.timeline.parents, range(network.size)
    return replace(
        witness.world,
        parents=tuple(parents.get(node) for node in nodes) if planned.timeline.network.is_tree else (),
        left=tuple(one.times for one in network.rules.may),
        published=(),
        delivered=tuple(() for _ in nodes),
        taken=frozenset(),
        unwanted=frozenset(),
        messages=0,
        commands=0,
    )
