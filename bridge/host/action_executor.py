"""Carries out the actions of agents: sends, timers, deliveries and notes, at the time of the event that caused them.

A send becomes a `Transmission` for the back-end after the processing delay. If its node can fail, a delayed send waits
under a timer's key, and a crash cancels it. `courses` carries out the movements.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from roambus.bridge.backend import Hello, Transmission
from roambus.bridge.host.codec import CodecCheck
from roambus.bridge.host.event_queue import EventQueue
from roambus.bridge.host.fragments import Fragments
from roambus.bridge.trace.parquet import TraceWriter
from roambus.bridge.trace.schema import TraceRow
from roambus.python_protocol.actions import (
    Action,
    CancelTimer,
    Deliver,
    Note,
    Send,
    SetTimer,
    check_note_name,
    check_time,
)
from roambus.python_protocol.messages.message import Fragment, Message
from roambus.python_protocol.roles import BROADCAST, NodeId
from roambus.python_protocol.simtime import SimTime
from roambus.python_protocol.trace_rows import DELIVER, SEND

MAX_MESSAGE_BYTES = 65535
"""A two-byte length, as of a datagram; a radio's MAC has a far smaller limit."""


@dataclass(frozen=True, slots=True, eq=False)
class Postponed:
    """The timer key of a delayed send, in a run in which its node could fail before."""

    send: Send


class ActionExecutor:
    """Carries out actions; `outgoing` is the back-end's next input, `down` the nodes that cannot send."""

    def __init__(  # noqa: PLR0913  # the parts of a run that actions reach
        self,
        hello: Hello,
        queue: EventQueue,
        trace: TraceWriter,
        codec: CodecCheck,
        down: set[NodeId],
        *,
        with_faults: bool,
    ) -> None:
        self.outgoing: list[Transmission] = []
        self.unpublished: set[str] = set()
        """The notifications still to come."""
        self._time_limit, self._processing_delay = hello.time_limit, hello.processing_delay
        self._take_note = hello.take_note
        self._nodes = len(hello.nodes)
        self._clock_rates = [info.clock_rate for info in hello.nodes]
        self._queue = queue
        self._trace = trace
        self._codec = codec
        self._down = down
        self._with_faults = with_faults
        self._fragments: Fragments | None = None
        self._longest = MAX_MESSAGE_BYTES
        """The longest message that is not fragmented, in bytes."""
        self.executing: dict[type[Any], Callable[[NodeId, Any], None]] = {
            Send: self.send,
            SetTimer: lambda node, it: queue.set_timer(node, it.key, self._after(node, it.after)),
            CancelTimer: lambda node, it: queue.cancel_timer(node, it.key),
            Deliver: self._noted(self._deliver),
            Note: self._noted(self._note),
        }
        """The function for each exact action class; it raises TypeError, ValueError. A subclass could add unknown
        meaning."""

    def send(self, node: NodeId, action: Send) -> None:
        """Pass a message to the back-end; raises TypeError, ValueError for an invalid one."""
        message, destination, time = action.message, action.destination, self._queue.now
        if action.after != 0:
            time = self._after(node, action.after)
            if self._with_faults:
                self._queue.set_timer(node, Postponed(Send(destination, message)), time)
                return
        peer = None if destination == BROADCAST else destination
        if node in self._down:
            raise _unsendable(message, "from a node that is down")
        if peer is not None and not 0 <= peer < self._nodes:
            raise _unsendable(message, f"to {destination}, which is not a node")
        codec, kind = self._codec, type(message)
        if left := codec.uncompared.get(kind):
            codec.uncompared[kind] = left - 1
            size = message.encoded_size()
        else:
            size = codec.compared_size(message)
        if size > self._longest:
            self._send_long(node, destination, message, time, size)
        elif time < self._time_limit:
            sent = (node, time + self._processing_delay, destination, message, size)
            self.outgoing.append(tuple.__new__(Transmission, sent))  # in a third of the time of the constructor
            row = (time, node, SEND, message.message_type, None, peer, size, None, None)
            self._trace.add(tuple.__new__(TraceRow, row))

    def carry_in_fragments(self, fragments: Fragments, longest: float) -> None:
        """Fragment messages of more than `longest` bytes from now on."""
        self._fragments, self._longest = fragments, int(min(longest, MAX_MESSAGE_BYTES))

    def _send_long(self, node: NodeId, destination: NodeId, message: Message, time: SimTime, size: int) -> None:
        """Send a message in fragments; raises ValueError if it is too long even so."""
        if size > MAX_MESSAGE_BYTES or self._fragments is None:
            raise _unsendable(message, f"of {size} bytes, at most {MAX_MESSAGE_BYTES} can be sent")
        peer = None if destination == BROADCAST else destination
        for piece in self._fragments.split(node, message) if time < self._time_limit else ():
            sent = Transmission(node, time + self._processing_delay, destination, *piece)
            self.outgoing.append(sent)
            self._trace.add(TraceRow(time, node, SEND, Fragment.message_type, None, peer, piece.size))

    def _after(self, node: NodeId, delay: SimTime) -> SimTime:
        """The time after `after` on the node's clock; raises TypeError, ValueError for an invalid delay."""
        if type(delay) is not int or delay < 0:  # an action can be changed after it was made
            check_time("an action requests something", delay)
        return self._queue.now + round(delay * self._clock_rates[node])

    def _deliver(self, node: NodeId, action: Deliver) -> None:
        """Raise ValueError for a notification that is not published yet."""
        notification = str(action.notification.id)
        if notification in self.unpublished:
            raise ValueError(f"it delivers {notification}, which is not published yet")
        self._trace.add(TraceRow(self._queue.now, node, DELIVER, None, notification, hops=action.hops))

    def _note(self, node: NodeId, note: Note) -> None:
        check_note_name(note.name)  # an action can be changed after it was made
        self._trace.add(TraceRow(
            self._queue.now, node, note.name,
            note.message_type, note.notification_id, note.peer, note.bytes, note.hops, note.detail,
        ))  # fmt: skip

    def _noted(self, perform: Callable[[NodeId, Any], None]) -> Callable[[NodeId, Any], None]:
        take_note = self._take_note
        if take_note is None:
            return perform

        def performed(node: NodeId, action: Action) -> None:
            perform(node, action)
            take_note(self._queue.now, node, str(action))

        return performed


def refuse(_: NodeId, action: object) -> NoReturn:
    """Raise TypeError for an agent's answer that is no action."""
    raise TypeError(f"{action!r} is not an action")


def _unsendable(message: Message, problem: str) -> ValueError:
    return ValueError(f"a {message.message_type} {problem}")
