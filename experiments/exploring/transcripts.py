"""An exploration begins with a transcript, and what it finds becomes one.

The first state: a transcript's setup is carried out as by `roambus trace`, and then the nodes are frozen. So an
exploration begins exactly where the transcripts that it writes begin to be worked by hand.

Steps become a transcript that is worked by hand: `roambus trace` repeats it, `roambus play` opens it, a test keeps it.
What went wrong stands at its head. Where only a probe shows it, the probe is published at the end, and its messages
arrive one by one. The last commands show the tables.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain, permutations
from typing import NamedTuple

from roambus.bridge.errors import UserError
from roambus.bridge.scenario.plans import FaultKind
from roambus.bridge.trace.parquet import TraceWriter
from roambus.bridge.transcript.by_hand import Hands
from roambus.bridge.transcript.commands import Apply, Command, Fail, Leave, Move, PublishEvent, Relink, Return
from roambus.bridge.transcript.document import Document, Vocabulary, format_attributes, parse_document
from roambus.bridge.transcript.network import Network as Drawn
from roambus.bridge.transcript.transcript import Overrides, Plan, follow, plan
from roambus.experiments.exploring.network import Network
from roambus.experiments.exploring.nodes import Nodes
from roambus.experiments.exploring.rules import Arrive, Do, Rules, RunOut, State, Step
from roambus.experiments.exploring.scenario_file import May, MayReader, Question, at
from roambus.experiments.exploring.state import Instant
from roambus.experiments.exploring.world import Witness, World, witness_by
from roambus.python_protocol.events import Subscribe
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.vocabulary import NodeId, Role, format_time

_BY_HAND = "by hand"
_NO_COMMAND = "> wait 0s"
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
        """Whether agents set timers or keep moments, so that it matters what time it is."""
        return self.network.nodes.keep_time

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
    if planned.timeline.network.places:
        raise UserError(f"{question.path}: a tree or links can be explored, and no field")
    witness, hands = _run_setup(planned)
    size = len(planned.scenario.nodes)
    nodes = Nodes(size, planned.agent_class, values=question.values)
    nodes.horizon = question.horizon
    if any(one.chance.has_drawn or one.chance.narrowed for one in hands):
        nodes.narrowed.add("chance in the setup at its first values")
    if question.horizon is not None:
        nodes.narrowed.add(f"moments longer ago than {format_time(question.horizon)} alike")
    network = Network(size, nodes, _rules(question, planned))
    now = planned.timeline.now
    states = [nodes.add(*both, now) for both in zip(witness.agents, hands, strict=True)]
    return Beginning(network, network.first(states, _world(network, planned, witness)), planned, question, overrides)


def document_of(question: Question) -> Document:
    """The head of a transcript that a question about one network is; raises UserError.

    It is worked by hand from the end of the setup on, as what is found will be: what is due at that very moment has not
    happened yet in either.
    """
    return parse_document(question.path, "\n".join((*question.head, _BY_HAND, _NO_COMMAND)))


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


def _run_setup(planned: Plan) -> tuple[Witness, list[Hands]]:
    witness, carrier = Witness(planned.timeline, planned.scenario), planned.carrier()
    hands = planned.run(carrier, TraceWriter(), witness_by(witness, Instant))
    witness.reach(planned.scenario.time_limit)
    if carrier.under_way:
        raise UserError(
            f"{carrier.under_way} messages are under way when the setup is over; "
            "let it end with a longer wait, such as: wait 10s"
        )
    return witness, hands


def _world(network: Network, planned: Plan, witness: Witness) -> World:
    """The world that the setup has left, of whose history nothing is asked."""
    parents = planned.timeline.parents
    return replace(
        witness.world.without_history(),
        parents=tuple(map(parents.get, range(network.size))) if planned.timeline.network.is_tree else (),
        left=tuple(one.times for one in network.rules.may),
    )


_FAULTS = {FaultKind.CRASH: "crashes", FaultKind.FREEZE: "freezes", FaultKind.RECOVER: "recovers"}


class Sentences:
    """Says what is done in a network in the words of a transcript."""

    def __init__(self, drawn: Drawn, vocabulary: Vocabulary) -> None:
        self._drawn = drawn
        self._vocabulary = vocabulary

    def command(self, command: Command) -> str:  # noqa: PLR0911  # a kind of command a line
        """A command as a transcript has it."""
        match command:
            case Apply(node, event):
                verb = "subscribes" if isinstance(event, Subscribe) else "unsubscribes"
                return f"{self._client(node)} {verb} {self._filter(event.filter)}"
            case PublishEvent(node, _, attributes):
                return f"{self._client(node)} publishes {self._event(attributes)}"
            case Move(node, parent):
                return f"{self.name(node)} {'is cut off' if parent is None else f'moves to {self.name(parent)}'}"
            case Relink(a, b, up, one_way):
                return f"link {self.name(a)}-{'>' * one_way}{self.name(b)} {'up' if up else 'down'}"
            case Fail(node, kind):
                return f"{self.name(node)} {_FAULTS[kind]}"
            case Leave(node):
                return f"{self._client(node)} detaches"
            case Return(node, broker):
                return f"{self._client(node)} attaches{'' if broker is None else f' to {self.name(broker)}'}"
        raise ValueError(f"{command} has no text")

    def name(self, node: int) -> str:
        """What the network calls a node."""
        return self._drawn.node_name(node)

    def _client(self, node: int) -> str:
        return self._drawn.subscriber_name(node)

    def _filter(self, wanted: Filter) -> str:
        return self._vocabulary.filter_names.get(wanted) or str(wanted)

    def _event(self, attributes: tuple[tuple[str, int | float | str], ...]) -> str:
        events = self._vocabulary.events
        named = (one for one, its in events.meanings.items() if its == attributes)
        by_filter = (one.replace("f", "e", 1) for one in self._vocabulary.filter_names.values() if one[1:].isdecimal())
        numbered = (one for one in by_filter if events.read(one) == attributes)
        return next(chain(named, numbered), format_attributes(attributes))


class Writer:
    """Writes the steps of one exploration."""

    def __init__(self, beginning: Beginning) -> None:
        self._beginning = beginning
        self._sentences = Sentences(beginning.plan.timeline.network, beginning.plan.head.vocabulary)

    def transcript(
        self, steps: Iterable[Step], about: Iterable[str] = (), shows: Iterable[str] = (), *, follows: bool = True
    ) -> str:
        """The text of a transcript: comments `about` it, the head, a command for each step, and what `follows`."""
        comments = [f"# {line}".rstrip() for line in about]
        head = [line for line in self._beginning.question.head if line.strip() and not line.startswith("#")]
        drawn = [line for line in head if line.split(" ")[0] != "agent" and line != _BY_HAND]
        lines = [*comments, "", self._beginning.agent_line, _BY_HAND, *drawn, "", *self.commands(steps)]
        text = "\n".join([*lines, *(f"> show {one}" for one in shows)]) + "\n"
        return follow(parse_document(self._beginning.question.path, text)) if follows else text

    def commands(self, steps: Iterable[Step]) -> list[str]:
        """The commands, a line for each step."""
        lines = list(map(self._line, steps))  # without any step it is the beginning that is wrong
        return ["> wait 0s", *lines] if self._beginning.is_timed or not lines else lines

    def _line(self, step: Step) -> str:
        """Where agents have timers or keep moments, a step says how much of their time it takes: mostly none."""
        draws = [
            f"{self._sentences.name(node)} draws {' '.join(map(str, picks or (0,)))}" for node, picks in step.picks
        ]
        after = f"after {format_time(step.after if isinstance(step, RunOut) else 0)} " * self._beginning.is_timed
        return f"> {after}{'; '.join((*draws, self._text(step)))}"

    def _text(self, step: Step) -> str:
        match step:
            case Arrive(sender, receiver, number, lost):
                which = f"message {number} of " if number > 1 else ""
                ends = f"{self._sentences.name(sender)} -> {self._sentences.name(receiver)}"
                return f"{which}{ends} {'is lost' if lost else 'arrives'}"
            case RunOut(node):
                return f"{self._sentences.name(node)}'s timer runs out"
            case Do(command):
                return self._sentences.command(command)
