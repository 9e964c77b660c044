"""The events and actions of a transcript's agents, and the lines that show them.

Wrappers keep whole messages instead of trace rows, because lines show their contents. An entry belongs to the slot of
its time. Every link has the same delay, so a message sent less than that before a slot's end is still under way; the
slot's last line counts these.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from roambus.bridge.host.agents import Handle
from roambus.bridge.transcript.document import format_attributes
from roambus.bridge.transcript.network import Network
from roambus.bridge.transcript.timeline import PlannedShow, Slot
from roambus.python_protocol.actions import Action, Deliver, GoTo, Halt, Note, Send
from roambus.python_protocol.agent import Agent, Listing
from roambus.python_protocol.events import Arrived, Event, SendFailed
from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.messages.fields import NOBODY, Names
from roambus.python_protocol.roles import BROADCAST, NodeId
from roambus.python_protocol.simtime import MILLISECOND, SimTime
from roambus.python_protocol.trace_rows import DROP, MIGRATE, REPLAY, ROUTE, STORE


class Entry(NamedTuple):
    """At `time`, `node` did `what`, or learned that something was not sent."""

    time: SimTime
    node: NodeId
    what: Send | Deliver | Note | GoTo | Halt | SendFailed | Arrived


class View(NamedTuple):
    """The listings of each node, by name, at the time of a command to show them."""

    planned: PlannedShow
    listings: dict[NodeId, Mapping[str, Listing]]


class Journal:
    """Records the events and actions of wrapped agents, and takes the views that are due."""

    def __init__(self, shows: Sequence[PlannedShow], names: Names) -> None:
        self.entries: list[Entry] = []
        self.views: list[View] = []
        self.agents: list[Agent] = []
        self._shows = deque(shows)
        self._names = names

    def reach(self, now: SimTime) -> None:
        """Take all views up to `now`."""
        while self._shows and self._shows[0].at <= now:
            planned = self._shows.popleft()
            nodes = planned.show.nodes or range(len(self.agents))
            self.views.append(View(planned, {node: self.agents[node].listings(self._names) for node in nodes}))

    def add(self, time: SimTime, node: NodeId, happenings: Iterable[Event | Action]) -> None:
        """Keep an entry that a transcript can show."""
        shown = Send | Deliver | Note | GoTo | Halt | SendFailed | Arrived
        self.entries += (Entry(time, node, happening) for happening in happenings if isinstance(happening, shown))

    def wrap(self, agent: Agent, handle: Handle) -> Handle:
        """Record the agent's events and actions."""
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
        """`filters` by themselves, `events` by notification identifiers."""
        self._network = network
        self._filters = filters
        self._events = events

    def node(self, node: NodeId | None) -> str:
        """Broadcast and "no node" have their usual names, every node its drawn one."""
        return super().node(node) if node is None or node == BROADCAST else self._network.node_name(node)

    def subscriber(self, node: NodeId | None) -> str:
        """The node's client, which has its own name on a broker's node."""
        return NOBODY if node is None else self._network.subscriber_name(node)

    def filter(self, wanted: Filter) -> str:
        """The transcript's name; none for a filter that an agent made itself."""
        return self._filters.get(wanted) or super().filter(wanted)

    def notification(self, event: Notification) -> str:
        """The event's name; an event without a command is written out."""
        return self._events.get(str(event.id)) or f"{{{format_attributes(event.attributes)}}}"

    def notification_id(self, identifier: str) -> str:
        """The event's name by its identifier, as notes have it."""
        return self._events.get(identifier, identifier)


class Wording:
    """Words a journal's entries and views with the names of a transcript."""

    def __init__(self, names: Names, own_notes: Mapping[str, str]) -> None:
        """`own_notes` are the agent's (`Agent.own_notes`)."""
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
        """The line of one entry."""
        names, node = self._names, self._names.node(entry.node)
        match entry.what:
            case Send(destination, message):
                return f"{node} -> {names.node(destination)}  {message.describe(names)}"
            case SendFailed(destination, message, reason):
                return f"{node} -x {names.node(destination)}  {message.describe(names)} ({reason})"
            case Deliver(notification):
                return f"{names.subscriber(entry.node)} delivers {names.notification(notification)}"
            case GoTo() | Halt() | Arrived() as move:
                return f"{node} {_movement(move)}"
            case Note() as note if write := self._notes.get(note.name):
                return write(node, note)
            case Note() as note:
                line = self._own_notes.get(note.name, "{node} notes {name} {subject} {detail}")
                detail, subject = note.detail or "", self._subject(note)
                return line.format(node=node, name=note.name, subject=subject, detail=detail).rstrip()

    def lines(self, view: View) -> Iterator[str]:
        """The listings of the named nodes, or of all with content."""
        show = view.planned.show
        for node, listings in view.listings.items():
            listing = listings.get(show.name_among(listings))
            if listing is not None and (listing.rows or show.nodes):
                yield self._names.node(node)
                yield from (f"  {line}" for line in listing.lines())

    def _subject(self, note: Note) -> str:
        identifier = note.notification_id
        return note.message_type or "" if identifier is None else self._names.notification_id(identifier)


NOTHING = "(nothing)"
"""The line below a command without effects."""

ALWAYS_HIDDEN = {ROUTE}
"""Notes for metrics only."""

Outputs = dict[int, list[str]]
"""The lines below each command, by its line number."""


class OutputWriter:
    """Gives each slot's command the entries of that slot, by time: causes are not visible."""

    def __init__(self, slots: Sequence[Slot], wording: Wording, delay: SimTime, hidden: Collection[str]) -> None:
        """`hidden` has message types and notes; a message is under way for `delay`."""
        self._slots = slots
        self._starts = [slot.start for slot in slots]
        self._wording = wording
        self._delay = delay
        self._hidden = hidden

    def outputs(self, journal: Journal, *, times: bool) -> Outputs:
        """The lines below each command; `times` adds the time since the command."""
        found: Outputs = {slot.number: [] for slot in self._slots if slot.number is not None}
        for view in journal.views:
            if view.planned.number is not None:
                found[view.planned.number] += self._wording.lines(view)
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
        """Skip slots that the author cut short: those are not quiet on purpose."""
        sent = [entry.time for entry in entries if isinstance(entry.what, Send)]
        for slot in self._slots:
            under_way = sum(slot.start <= time < slot.end <= time + self._delay for time in sent)
            if under_way and slot.number is not None and not slot.is_cut_short:
                found[slot.number].append(f"(not quiet: {under_way} under way)")


def _movement(move: GoTo | Halt | Arrived) -> str:
    """Other words than a command's, which no output line may be."""
    match move:
        case GoTo(x, y, speed):
            return f"goes to {x:g},{y:g} at {speed:g} m/s"
        case Arrived(x, y):
            return f"arrives at {x:g},{y:g}"
    return "stops"


def _kind(what: object) -> str | None:
    if isinstance(what, Note):
        return what.name
    return what.message.message_type if isinstance(what, Send | SendFailed) else None


def _transmission(entry: Entry, what: Send | SendFailed) -> tuple[SimTime, NodeId, NodeId, int]:
    """Identifies a transmission: the message is the very object that was sent."""
    return entry.time, entry.node, what.destination, id(what.message)
