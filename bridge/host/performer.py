"""Carries out what agents answer: messages go to the back-end, timers to the agenda, the rest to the trace.

A message that is sent after a while goes to the back-end at once, with its time, so that no wake-up is needed. Only in
a run with faults it waits on the agenda, for its node could fail before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from roambus.bridge.backends.interface import Hello, Transmission
from roambus.bridge.host.agenda import Agenda
from roambus.bridge.trace.schema import DELIVER, SEND
from roambus.bridge.trace.writer import TraceWriter
from roambus.python_protocol.actions import Action, CancelTimer, Deliver, Note, Send, SetTimer
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.refusals import check_note_name, check_time
from roambus.python_protocol.roles import BROADCAST, NodeId
from roambus.python_protocol.simtime import SimTime

MAX_MESSAGE_BYTES = 65535


@dataclass(frozen=True, slots=True, eq=False)
class Postponed:
    """The key of the timer of a send that waits, in a run in which its node could fail before."""

    send: Send


class Performer:
    """Carries out actions; `outgoing` is what the back-end gets next.

    `down` holds the nodes that can send nothing, and `encode` gives the bytes of a message.
    """

    def __init__(  # noqa: PLR0913  # the parts of a run that actions reach
        self,
        hello: Hello,
        agenda: Agenda,
        trace: TraceWriter,
        down: set[NodeId],
        encode: Callable[[Message], bytes],
        *,
        with_faults: bool,
    ) -> None:
        self.outgoing: list[Transmission] = []
        self._hello = hello
        self._clock_rates = [info.clock_rate for info in hello.nodes]
        self._agenda = agenda
        self._trace = trace
        self._down = down
        self._encode = encode
        self._with_faults = with_faults
        self._perform: dict[type[Any], Callable[[NodeId, Any], None]] = {
            Send: self._send,
            SetTimer: self._set_timer,
            CancelTimer: self._cancel_timer,
            Deliver: self._noted(self._deliver),
            Note: self._noted(self._note),
        }

    def perform_all(self, node: NodeId, actions: Iterable[Action]) -> None:
        """Carries out what the agent of a node answers, in its order; raises TypeError, ValueError."""
        for action in actions:
            perform = self._perform.get(type(action))
            if perform is None:
                raise TypeError(f"{action!r} is no action")
            perform(node, action)

    def transmit(self, node: NodeId, action: Send, time: SimTime) -> None:
        """Hands a message to the back-end, for that time; raises ValueError for one that cannot be sent."""
        message, destination = action.message, action.destination
        if time < self._agenda.now:
            raise ValueError(f"a {message.message_type} sent after {action.after} ns")
        if node in self._down:
            raise ValueError(f"a {message.message_type} from a node that is down")
        size = len(self._encode(message))
        if size > MAX_MESSAGE_BYTES:
            raise ValueError(f"a {message.message_type} of {size} bytes, at most {MAX_MESSAGE_BYTES} can be sent")
        if destination != BROADCAST and not 0 <= destination < len(self._clock_rates):
            raise ValueError(f"a {message.message_type} to {destination}, which is no node")
        if time >= self._hello.time_limit:
            return
        self.outgoing.append(Transmission(node, time + self._hello.processing_delay, destination, message, size))
        peer = None if destination == BROADCAST else destination
        self._trace.add(time, node, SEND, message.message_type, None, peer, size)

    def _send(self, node: NodeId, action: Send) -> None:
        if action.after == 0:
            self.transmit(node, action, self._agenda.now)
        elif self._with_faults:
            self._set_timer(node, SetTimer(Postponed(action), action.after))
        else:
            self.transmit(node, action, self._after(node, action.after))

    def _set_timer(self, node: NodeId, action: SetTimer) -> None:
        self._agenda.set_timer(node, action.key, self._after(node, action.after))

    def _after(self, node: NodeId, delay: SimTime) -> SimTime:
        """When so much time has passed by the node's own clock; raises TypeError, ValueError for what is no time."""
        if type(delay) is not int or delay < 0:  # an action can be changed after it was made
            check_time("an action asks for something", delay)
        return self._agenda.now + round(delay * self._clock_rates[node])

    def _cancel_timer(self, node: NodeId, action: CancelTimer) -> None:
        self._agenda.cancel_timer(node, action.key)

    def _deliver(self, node: NodeId, action: Deliver) -> None:
        self._trace.add(self._agenda.now, node, DELIVER, None, str(action.notification.id), hops=action.hops)

    def _note(self, node: NodeId, note: Note) -> None:
        check_note_name(note.name)  # an action can be changed after it was made
        self._trace.add(
            self._agenda.now,
            node,
            note.name,
            note.message_type,
            note.notification_id,
            note.peer,
            note.bytes,
            note.hops,
            note.detail,
        )

    def _noted(self, perform: Callable[[NodeId, Any], None]) -> Callable[[NodeId, Any], None]:
        """Performs the action, and writes a line in the simulator's own log if that wants one."""
        take_note = self._hello.take_note
        if take_note is None:
            return perform

        def performed(node: NodeId, action: Action) -> None:
            perform(node, action)
            take_note(self._agenda.now, node, str(action))

        return performed
