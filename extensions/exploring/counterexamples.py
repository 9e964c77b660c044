"""Writes the steps of a path as a transcript that is worked by hand.

`roambus trace` repeats it, `roambus play` opens it, a test keeps it. The violation stands at its head. A violation by a
probe ends with the probe and its arrivals. The last commands show tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from roambus.bridge.scenario.plans import FaultKind
from roambus.bridge.transcript.commands import (
    AT_ONCE,
    Apply,
    Arrive,
    Command,
    Fail,
    Leave,
    Move,
    PublishEvent,
    Relink,
    Return,
    RunOut,
)
from roambus.bridge.transcript.document import Vocabulary, format_attributes
from roambus.bridge.transcript.network import Network
from roambus.extensions.exploring.initial_state import BY_HAND, InitialState
from roambus.extensions.exploring.steps import Step
from roambus.python_protocol.events import Subscribe
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime, format_time

_FAULTS = {FaultKind.CRASH: "crashes", FaultKind.FREEZE: "freezes", FaultKind.RECOVER: "recovers"}


class Sentences:
    """Writes commands in the words of a transcript."""

    def __init__(self, drawn: Network, vocabulary: Vocabulary) -> None:
        self._drawn = drawn
        self._vocabulary = vocabulary

    def command(self, command: Command) -> str:  # noqa: C901, PLR0911  # a kind of command a line
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
            case Arrive(sender, receiver, number, lost):
                which = f"message {number} of " if number > 1 else ""
                return f"{which}{self.name(sender)} -> {self.name(receiver)} {'is lost' if lost else 'arrives'}"
            case RunOut(node, number):
                return (
                    f"timer {number} of {self.name(node)} runs out"
                    if number > 1
                    else f"{self.name(node)}'s timer runs out"
                )
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
        named = (name for name, its in events.meanings.items() if its == attributes)
        by_filter = (
            name.replace("f", "e", 1) for name in self._vocabulary.filter_names.values() if name[1:].isdecimal()
        )
        numbered = (name for name in by_filter if events.read(name) == attributes)
        return next(chain(named, numbered), format_attributes(attributes))


class Writer:
    """Writes the steps of one exploration."""

    def __init__(self, initial: InitialState) -> None:
        self._initial = initial
        self._sentences = Sentences(initial.plan.timeline.network, initial.plan.head.vocabulary)

    def transcript(self, steps: Sequence[Step], about: Iterable[str] = (), shows: Iterable[str] = ()) -> str:
        """The transcript without outputs: comments `about` it, the head, and a command a step."""
        lines = [*self._head(BY_HAND), *self.commands(steps), *(f"> show {show}" for show in shows)]
        return "\n".join([*(f"# {line}".rstrip() for line in about), *lines]) + "\n"

    def with_times(self, settings: Sequence[str], timed: Iterable[tuple[SimTime, Command]], wait: SimTime) -> str:
        """A transcript with `settings` in place of such lines of the head, of commands with their delays, and a wait.

        The first command comes at the end of the setup, whatever its delay.
        """
        replaced = {line.split()[0] for line in settings}
        head = [line for line in self._head(*settings) if line in settings or line.split(" ")[0] not in replaced]
        words = [(after, self._sentences.command(command)) for after, command in timed]
        words += [(wait, f"wait {format_time(wait)}")] * bool(wait or not words)
        lines = [
            f"> after {format_time(after)} {text}" if place else f"> {text}"
            for place, (after, text) in enumerate(words)
        ]
        return "\n".join([*head, *lines]) + "\n"

    def name(self, node: NodeId) -> str:
        """The name of a node."""
        return self._sentences.name(node)

    def _head(self, *settings: str) -> list[str]:
        head = [line for line in self._initial.question.head if line.strip() and not line.startswith("#")]
        drawn = [line for line in head if line.split(" ")[0] != "agent" and line != BY_HAND]
        return ["", self._initial.agent_line, *settings, *drawn, ""]

    def commands(self, steps: Sequence[Step]) -> list[str]:
        """The commands, a line for the steps of an instant; without any it is the initial state that is wrong."""
        lines: list[str] = []
        for step in steps:
            parts = list(self._parts(step))
            if step.at_once:
                lines[-1] = "; ".join((lines[-1], *(f"{AT_ONCE}{part}" for part in parts)))
            else:
                # With timers or a clock, a step says how much time it takes: mostly none.
                after = f"after {format_time(step.after)} " * self._initial.is_timed
                lines.append(f"> {after}{'; '.join(parts)}")
        return ["> wait 0s", *lines] if self._initial.is_timed or not lines else lines

    def _parts(self, step: Step) -> Iterator[str]:
        name = self._sentences.name
        yield from (f"{name(node)} draws {' '.join(map(str, picks or (0,)))}" for node, picks in step.picks)
        yield self._sentences.command(step.command)
