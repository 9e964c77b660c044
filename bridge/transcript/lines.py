"""The journal as lines: who sends what to whom, who delivers, stores, replays and drops."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

from bridge.transcript.journal import Entry, View
from bridge.transcript.network import Network
from bridge.transcript.timeline import Slot
from bridge.transcript.vocabulary import format_attributes
from python_protocol.actions import Deliver, Note, Send
from python_protocol.events import SendFailed
from python_protocol.filters import Filter, Notification
from python_protocol.names import NOBODY, Names
from python_protocol.notes import DROP, MIGRATE, REPLAY, ROUTE, STORE
from python_protocol.roles import BROADCAST, NodeId
from python_protocol.simtime import SimTime, format_time

NOTHING = "(nothing)"
"""Below a command that nothing follows."""


class NetworkNames(Names):
    """The names of a transcript."""

    def __init__(self, network: Network, filters: dict[Filter, str], events: dict[str, str]) -> None:
        """`filters` by themselves, `events` by the identifiers of the notifications."""
        self._network = network
        self._filters = filters
        self._events = events

    def node(self, node: NodeId | None) -> str:
        """See `Names`."""
        return super().node(node) if node is None or node == BROADCAST else self._network.node_name(node)

    def client(self, node: NodeId | None) -> str:
        """See `Names`."""
        return NOBODY if node is None else self._network.client_name(node)

    def filter(self, one: Filter) -> str:
        """See `Names`."""
        return self._filters.get(one) or super().filter(one)

    def notification(self, one: Notification) -> str:
        """See `Names`."""
        return self._events.get(str(one.id)) or f"{{{format_attributes(one.attributes)}}}"

    def notification_id(self, identifier: str) -> str:
        """See `Names`."""
        return self._events.get(identifier, identifier)


class LineWriter:
    """Makes the lines below each command."""

    def __init__(self, names: Names, slots: Sequence[Slot], hidden: Collection[str], delay: SimTime) -> None:
        """`hidden` are types of messages and names of notes; a message is under way for `delay`."""
        self._names = names
        self._slots = slots
        self._starts = [slot.start for slot in slots]
        self._hidden = hidden
        self._delay = delay
        self._write: dict[type[Any], Callable[[Entry, Any], str]] = {
            Send: self._send,
            SendFailed: self._fail,
            Deliver: self._deliver,
            Note: self._note,
        }

    def outputs(self, entries: Iterable[Entry], views: Iterable[View], *, times: bool) -> dict[int, list[str]]:
        """The lines below each command, by its line number; `times`: each with the time since the command."""
        found: dict[int, list[str]] = {slot.number: [] for slot in self._slots if slot.number is not None}
        for view in views:
            if view.look.number is not None:
                found[view.look.number] += self._view(view)
        visible = list(self._visible(list(entries)))
        for entry in visible:
            slot = self._slot(entry.time)
            if slot.number is not None:
                prefix = f"{format_time(entry.time - slot.start):>7} " if times else ""
                found[slot.number].append(prefix + self._write[type(entry.what)](entry, entry.what))
        self._say_what_is_not_quiet(visible, found)
        return {number: lines or [NOTHING] for number, lines in found.items()}

    def _visible(self, entries: list[Entry]) -> Iterator[Entry]:
        # What there is no way for is told at once: that is one line, not two.
        failed = {(e.time, e.node, id(e.what.message)) for e in entries if isinstance(e.what, SendFailed)}
        for entry in entries:
            what = entry.what
            if isinstance(what, Send) and (entry.time, entry.node, id(what.message)) in failed:
                continue
            if self._kind(what) not in self._hidden:
                yield entry

    def _kind(self, what: Send | SendFailed | Deliver | Note) -> str | None:
        if isinstance(what, Note):
            return what.name
        return None if isinstance(what, Deliver) else what.message.message_type

    def _slot(self, time: SimTime) -> Slot:
        """The last that has begun: one that only shows something takes no time, and gets nothing."""
        return self._slots[bisect_right(self._starts, time) - 1]

    def _say_what_is_not_quiet(self, entries: Sequence[Entry], found: dict[int, list[str]]) -> None:
        for slot in self._slots:
            under_way = [one for one in entries if isinstance(one.what, Send) and self._is_under_way(one, slot)]
            if under_way and slot.number is not None and not slot.is_cut_short:
                found[slot.number].append(f"(not quiet: {len(under_way)} under way)")

    def _is_under_way(self, entry: Entry, slot: Slot) -> bool:
        return slot.start <= entry.time < slot.end <= entry.time + self._delay

    def _send(self, entry: Entry, send: Send) -> str:
        ends = f"{self._names.node(entry.node)} -> {self._names.node(send.destination)}"
        return f"{ends}  {send.message.describe(self._names)}"

    def _fail(self, entry: Entry, failure: SendFailed) -> str:
        ends = f"{self._names.node(entry.node)} -x {self._names.node(failure.destination)}"
        return f"{ends}  {failure.message.describe(self._names)} ({failure.reason})"

    def _deliver(self, entry: Entry, deliver: Deliver) -> str:
        return f"{self._names.client(entry.node)} delivers {self._names.notification(deliver.notification)}"

    def _note(self, entry: Entry, note: Note) -> str:
        node, what = self._names.node(entry.node), self._subject(note)
        match note.name:
            case name if name in {STORE, REPLAY}:
                return f"{node} {name}s {what} for {self._names.client(note.peer)}"
            case name if name == DROP:
                return f"{node} drops {what} ({note.detail})"
            case name if name == MIGRATE:
                return f"{node} migrates to {self._names.node(note.peer)}"
        return f"{node} notes {note.name} {what} {note.detail or ''}".rstrip()

    def _subject(self, note: Note) -> str:
        if note.notification_id is not None:
            return self._names.notification_id(note.notification_id)
        return note.message_type or ""

    def _view(self, view: View) -> Iterator[str]:
        for node, listings in view.listings.items():
            if view.look.show.what in listings:
                yield self._names.node(node)
                yield from (f"  {line}" for line in listings[view.look.show.what].lines())


ALWAYS_HIDDEN = {ROUTE}
"""For the metrics only."""
