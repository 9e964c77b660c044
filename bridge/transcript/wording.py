"""Tells in words what agents do: who sends what to whom, who delivers, stores, replays and drops."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from roambus.bridge.transcript.journal import Entry, View
from roambus.bridge.transcript.network import Network
from roambus.bridge.transcript.vocabulary import format_attributes
from roambus.python_protocol.actions import Deliver, Note, Send
from roambus.python_protocol.events import SendFailed
from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.messages.names import NOBODY, Names
from roambus.python_protocol.notes import CACHE, DROP, FORGET, MIGRATE, REPLAY, STORE
from roambus.python_protocol.roles import BROADCAST, NodeId


class NetworkNames(Names):
    """The names of a transcript."""

    def __init__(self, network: Network, filters: dict[Filter, str], events: dict[str, str]) -> None:
        """`filters` by themselves, `events` by the identifiers of the notifications."""
        self._network = network
        self._filters = filters
        self._events = events

    def node(self, node: NodeId | None) -> str:
        """The name of it in the transcript, as `Names` says."""
        return super().node(node) if node is None or node == BROADCAST else self._network.node_name(node)

    def subscriber(self, node: NodeId | None) -> str:
        """The name of it in the transcript, as `Names` says."""
        return NOBODY if node is None else self._network.subscriber_name(node)

    def filter(self, one: Filter) -> str:
        """The name of it in the transcript, as `Names` says."""
        return self._filters.get(one) or super().filter(one)

    def notification(self, one: Notification) -> str:
        """The name of it in the transcript, as `Names` says."""
        return self._events.get(str(one.id)) or f"{{{format_attributes(one.attributes)}}}"

    def notification_id(self, identifier: str) -> str:
        """The name of it in the transcript, as `Names` says."""
        return self._events.get(identifier, identifier)


class Wording:
    """Puts entries and views of a journal in lines, with the names of a transcript."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._write: dict[type[Any], Callable[[str, Any], str]] = {
            Send: self._send,
            SendFailed: self._fail,
            Note: self._note,
        }
        self._notes: dict[str, Callable[[str, Note], str]] = {
            STORE: lambda node, note: f"{node} stores {self._subject(note)} for {names.subscriber(note.peer)}",
            REPLAY: lambda node, note: f"{node} replays {self._subject(note)} for {names.subscriber(note.peer)}",
            DROP: lambda node, note: f"{node} drops {self._subject(note)} ({note.detail})",
            CACHE: lambda node, note: f"{node} caches {self._subject(note)}",
            FORGET: lambda node, note: f"{node} forgets {self._subject(note)} ({note.detail})",
            MIGRATE: self._migrate,
        }

    def line(self, entry: Entry) -> str:
        """One thing that a node did, or that was not done for it."""
        if isinstance(entry.what, Deliver):
            return f"{self._names.subscriber(entry.node)} delivers {self._names.notification(entry.what.notification)}"
        return self._write[type(entry.what)](self._names.node(entry.node), entry.what)

    def lines(self, view: View) -> Iterator[str]:
        """The listings of the nodes that a command names, or of all that have something to show."""
        show = view.look.show
        for node, listings in view.listings.items():
            listing = listings.get(show.what)
            if listing is not None and (listing.rows or show.nodes):
                yield self._names.node(node)
                yield from (f"  {line}" for line in listing.lines())

    def _send(self, node: str, send: Send) -> str:
        return f"{node} -> {self._names.node(send.destination)}  {send.message.describe(self._names)}"

    def _fail(self, node: str, failure: SendFailed) -> str:
        ends = f"{node} -x {self._names.node(failure.destination)}"
        return f"{ends}  {failure.message.describe(self._names)} ({failure.reason})"

    def _note(self, node: str, note: Note) -> str:
        write = self._notes.get(note.name)
        return (
            write(node, note)
            if write
            else f"{node} notes {note.name} {self._subject(note)} {note.detail or ''}".rstrip()
        )

    def _migrate(self, node: str, note: Note) -> str:
        return f"{node} has no parent" if note.peer is None else f"{node} migrates to {self._names.node(note.peer)}"

    def _subject(self, note: Note) -> str:
        """What a note is about."""
        if note.notification_id is not None:
            return self._names.notification_id(note.notification_id)
        return note.message_type or ""
