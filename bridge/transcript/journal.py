"""The events and actions of a transcript's agents, and the lines that show them below each command.

The agents keep the journal themselves, with whole messages and not with the rows of a trace, because a line shows what
a message says. Each entry belongs to the slot in which it happens. Nobody knows from the outside when all is quiet; but
every link has the same delay, so a message that is sent in a slot less than that before its end is still under way when
the slot ends, and the last line says how many are.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from roambus.bridge.host.agents import Handle
from roambus.bridge.transcript.document import format_attributes
from roambus.bridge.transcript.network import Network
from roambus.bridge.transcript.timeline import Look, Slot
from roambus.python_protocol.actions import Action, Deliver, Note, Send
from roambus.python_protocol.agent import Agent, Listing
from roambus.python_protocol.events import Event, SendFailed
from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.messages.fields import NOBODY, Names
from roambus.python_protocol.vocabulary import (
    BROADCAST,
    DROP,
    MIGRATE,
    MILLISECOND,
    REPLAY,
    ROUTE,
    STORE,
    NodeId,
    SimTime,
)


class Entry(NamedTuple):
    """At `time`, `node` did `what`, or was told that something was not sent."""

    time: SimTime
    node: NodeId
    what: Send | Deliver | Note | SendFailed


class View(NamedTuple):
    """What there was to see at the time of a look: the listings of each node, by name."""

    look: Look
    listings: dict[NodeId, Mapping[str, Listing]]


class Journal:
    """Keeps the events and actions of the agents that it wraps, and looks at them when it is time to."""

    def __init__(self, looks: Sequence[Look], names: Names) -> None:
        self.entries: list[Entry] = []
        self.views: list[View] = []
        self.agents: list[Agent] = []
        self._looks = deque(looks)
        self._names = names

    def reach(self, now: SimTime) -> None:
        """Takes all looks up to `now`, before which everything has happened."""
        while self._looks and self._looks[0].at <= now:
            look = self._looks.popleft()
            nodes = look.show.nodes or range(len(self.agents))
            self.views.append(View(look, {node: self.agents[node].listings(self._names) for node in nodes}))

    def add(self, time: SimTime, node: NodeId, happenings: Iterable[Event | Action]) -> None:
        """Keeps what a transcript can show."""
        shown = Send | Deliver | Note | SendFailed
        self.entries += (Entry(time, node, one) for one in happenings if isinstance(one, shown))

    def wrap(self, agent: Agent, handle: Handle) -> Handle:
        """Have the agent's events and actions entered."""
        self.agents.append(agent)

        def handle_and_enter(event: Event, now: SimTime) -> Iterable[Action]:
            self.reach(now)
            actions = list(handle(event, now))
            self.add(now, agent.node, (event, *actions))
            return actions

        return handle_and_enter


class NetworkNames(Names):
    """The names of a transcript."""

    def __init__(self, network: Network, filters: dict[Filter, str], events: dict[str, str]) -> None:
        """`filters` by themselves, `events` by the identifiers of the notifications."""
        self._network = network
        self._filters = filters
        self._events = events

    def node(self, node: NodeId | None) -> str:
        """Broadcast, and no node at all, are called as everywhere; every node is called as it is drawn."""
        return super().node(node) if node is None or node == BROADCAST else self._network.node_name(node)

    def subscriber(self, node: NodeId | None) -> str:
        """The client on the node, which on a broker's node has a name of its own."""
        return NOBODY if node is None else self._network.subscriber_name(node)

    def filter(self, one: Filter) -> str:
        """The name that the transcript has given it; a filter that an agent has made itself has none."""
        return self._filters.get(one) or super().filter(one)

    def notification(self, one: Notification) -> str:
        """The name of the event; an event of no command, such as a subscription that travels as one, is written out."""
        return self._events.get(str(one.id)) or f"{{{format_attributes(one.attributes)}}}"

    def notification_id(self, identifier: str) -> str:
        """The name of the event with this identifier; notes know no more of an event than that."""
        return self._events.get(identifier, identifier)


class Wording:
    """Puts entries and views of a journal in lines, with the names of a transcript."""

    def __init__(self, names: Names, own_notes: Mapping[str, str]) -> None:
        """`own_notes` are those of the agent (`Agent.own_notes`)."""
        self._names = names
        self._own_notes = own_notes
        self._notes: dict[str, Callable[[str, Note], str]] = {
            STORE: lambda node, note: f"{node} stores {self._subject(note)} for {names.subscriber(note.peer)}",
            REPLAY: lambda node, note: f"{node} replays {self._subject(note)} for {names.subscriber(note.peer)}",
            DROP: lambda node, note: f"{node} drops {self._subject(note)} ({note.detail})",
            MIGRATE: lambda node, note: (
                f"{node} has no parent" if note.peer is None else f"{node} migrates to {names.node(note.peer)}"
            ),
        }

    def line(self, entry: Entry) -> str:
        """One thing that a node did, or that was not done for it."""
        names, node = self._names, self._names.node(entry.node)
        match entry.what:
            case Send(destination, message):
                return f"{node} -> {names.node(destination)}  {message.describe(names)}"
            case SendFailed(destination, message, reason):
                return f"{node} -x {names.node(destination)}  {message.describe(names)} ({reason})"
            case Deliver(notification):
                return f"{names.subscriber(entry.node)} delivers {names.notification(notification)}"
            case Note() as note if write := self._notes.get(note.name):
                return write(node, note)
            case Note() as note:
                line = self._own_notes.get(note.name, "{node} notes {name} {subject} {detail}")
                detail, subject = note.detail or "", self._subject(note)
                return line.format(node=node, name=note.name, subject=subject, detail=detail).rstrip()

    def lines(self, view: View) -> Iterator[str]:
        """The listings of the nodes that a command names, or of all that have something to show."""
        show = view.look.show
        for node, listings in view.listings.items():
            listing = listings.get(show.name_among(listings))
            if listing is not None and (listing.rows or show.nodes):
                yield self._names.node(node)
                yield from (f"  {line}" for line in listing.lines())

    def _subject(self, note: Note) -> str:
        """The notification, or the type of message, that a note is about."""
        identifier = note.notification_id
        return note.message_type or "" if identifier is None else self._names.notification_id(identifier)


NOTHING = "(nothing)"
"""This line stands below a command that nothing follows."""

ALWAYS_HIDDEN = {ROUTE}
"""These notes are for the metrics only."""

Outputs = dict[int, list[str]]
"""The lines below each command, by the number of the command's line."""


class OutputWriter:
    """Gives each slot's command what happened in it.

    An entry belongs to the slot in which it happens, and not to the command that caused it: nobody knows causes from
    outside.
    """

    def __init__(self, slots: Sequence[Slot], wording: Wording, delay: SimTime, hidden: Collection[str]) -> None:
        """`hidden` are types of messages and names of notes; a message is under way for `delay`."""
        self._slots = slots
        self._starts = [slot.start for slot in slots]
        self._wording = wording
        self._delay = delay
        self._hidden = hidden

    def outputs(self, journal: Journal, *, times: bool) -> Outputs:
        """The lines below each command; `times`: each with the time since the command."""
        found: Outputs = {slot.number: [] for slot in self._slots if slot.number is not None}
        for view in journal.views:
            if view.look.number is not None:
                found[view.look.number] += self._wording.lines(view)
        visible = list(self._visible(journal.entries))
        for entry in visible:
            # The last that has begun: one that only shows something takes no time, and gets nothing.
            slot = self._slots[bisect_right(self._starts, entry.time) - 1]
            if slot.number is not None:
                since = f"{f'{(entry.time - slot.start) / MILLISECOND:.3f}'.rstrip('0').rstrip('.'):>5}ms "
                found[slot.number].append((since if times else "") + self._wording.line(entry))
        self._say_what_is_not_quiet(visible, found)
        return {number: lines or [NOTHING] for number, lines in found.items()}

    def _visible(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        # What there is no way for is told at once: that is one line, not two.
        failed = {_transmission(entry, entry.what) for entry in entries if isinstance(entry.what, SendFailed)}
        for entry in entries:
            if isinstance(entry.what, Send) and _transmission(entry, entry.what) in failed:
                continue
            if _kind(entry.what) not in self._hidden:
                yield entry

    def _say_what_is_not_quiet(self, entries: Iterable[Entry], found: Outputs) -> None:
        """A slot that is cut short is not quiet anyway: the author wanted it so, and knows."""
        sent = [entry.time for entry in entries if isinstance(entry.what, Send)]
        for slot in self._slots:
            under_way = sum(slot.start <= time < slot.end <= time + self._delay for time in sent)
            if under_way and slot.number is not None and not slot.is_cut_short:
                found[slot.number].append(f"(not quiet: {under_way} under way)")


def _kind(what: Send | SendFailed | Deliver | Note) -> str | None:
    """The name by which `hide` calls it."""
    if isinstance(what, Note):
        return what.name
    return None if isinstance(what, Deliver) else what.message.message_type


def _transmission(entry: Entry, what: Send | SendFailed) -> tuple[SimTime, NodeId, NodeId, int]:
    """What tells a transmission from all others: the message is the very object that was sent."""
    return entry.time, entry.node, what.destination, id(what.message)
