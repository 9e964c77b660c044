"""Finds the lines that stand below each command."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence

from roambus.bridge.transcript.journal import Entry, Journal
from roambus.bridge.transcript.timeline import Slot
from roambus.bridge.transcript.wording import Wording
from roambus.python_protocol.actions import Deliver, Note, Send
from roambus.python_protocol.events import SendFailed
from roambus.python_protocol.notes import ANSWER, ROUTE
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import MILLISECOND, SimTime

NOTHING = "(nothing)"
"""This line stands below a command that nothing follows."""

ALWAYS_HIDDEN = {ROUTE, ANSWER}
"""These notes are for the metrics only."""

Outputs = dict[int, list[str]]
"""The lines below each command, by the number of the command's line."""


class OutputWriter:
    """Gives each slot's command what happened in it."""

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
            slot = self._slot(entry.time)
            if slot.number is not None:
                prefix = f"{_milliseconds(entry.time - slot.start)} " if times else ""
                found[slot.number].append(prefix + self._wording.line(entry))
        self._say_what_is_not_quiet(visible, found)
        return {number: lines or [NOTHING] for number, lines in found.items()}

    def _visible(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        # What there is no way for is told at once: that is one line, not two.
        failed = {_transmission(entry, entry.what) for entry in entries if isinstance(entry.what, SendFailed)}
        for entry in entries:
            is_told_below = isinstance(entry.what, Send) and _transmission(entry, entry.what) in failed
            if not is_told_below and _kind(entry.what) not in self._hidden:
                yield entry

    def _slot(self, time: SimTime) -> Slot:
        """The last that has begun: one that only shows something takes no time, and gets nothing."""
        return self._slots[bisect_right(self._starts, time) - 1]

    def _say_what_is_not_quiet(self, entries: Iterable[Entry], found: Outputs) -> None:
        for slot in self._slots:
            if slot.number is None or slot.is_cut_short:
                continue
            under_way = sum(self._is_under_way(one, slot) for one in entries)
            if under_way:
                found[slot.number].append(f"(not quiet: {under_way} under way)")

    def _is_under_way(self, entry: Entry, slot: Slot) -> bool:
        """Whether it is sent in this slot, and arrives after it."""
        return isinstance(entry.what, Send) and slot.start <= entry.time < slot.end <= entry.time + self._delay


def _kind(what: Send | SendFailed | Deliver | Note) -> str | None:
    """The name by which `hide` calls it."""
    if isinstance(what, Note):
        return what.name
    return None if isinstance(what, Deliver) else what.message.message_type


def _transmission(entry: Entry, what: Send | SendFailed) -> tuple[SimTime, NodeId, NodeId, int]:
    return entry.time, entry.node, what.destination, id(what.message)


def _milliseconds(time: SimTime) -> str:
    return f"{f'{time / MILLISECOND:.3f}'.rstrip('0').rstrip('.'):>5}ms"
