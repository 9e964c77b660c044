"""Subscribers that no broker hears well, and that ask whoever is around (the parameter `ask_after`).

A tree of brokers does not reach a client whose links to all of them lose nearly everything, though other clients near
it have what it wants. By their digests it knows what there is. What it has lacked for longer than its broker needs to
notice, it asks for: an ASK names these notifications, and the filters that they have to match. Whoever has them sends
them again, after a random time and unless somebody else has. As nobody knows what a notification that it has not got
is about, much of what a subscriber lacks may not be for it: each ASK doubles the time to the next one, as Trickle does
(RFC 6206), until one has brought something.

Nobody asks for what was published before it subscribed.
"""

from __future__ import annotations

from collections.abc import Iterable

from roambus.python_protocol.filters import NotificationId
from roambus.python_protocol.parts.digest import Digest, Held, beyond
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime

_LONGEST = 64
"""Rounds between two ASKs, and for which something is asked for: as many as a digest has notifications."""


class Missing:
    """What one subscriber lacks, as far as others have told, and when it is to ask for it."""

    def __init__(self, ask_after: SimTime, round_: SimTime, limit: int) -> None:
        """`ask_after` is how long something has to be lacked, `round_` the time between heartbeats.

        `limit` is the number of publishers that an ASK has room for.
        """
        self._ask_after = ask_after
        self._round = self._pause = round_
        self._limit = limit
        self._next: SimTime = 0
        self._first: dict[NodeId, int] = {}
        """The newest number that was told of each publisher when anything was told of it first."""
        self._since: dict[NotificationId, SimTime] = {}
        """When it was told first of each notification that it lacks."""

    def begin(self) -> None:
        """The subscriber has subscribed: what there is by now is not for it."""
        self._first.clear()
        self._since.clear()

    def told(self, held: Iterable[Held], own: tuple[Held, ...], now: SimTime) -> None:
        """Somebody has told what it has, while this subscriber has what `own` says."""
        for one in held:
            first = self._first.setdefault(one.publisher, one.newest)
            if one not in own:
                for identifier in beyond(one, own):
                    if identifier.sequence > first:
                        self._since.setdefault(identifier, now)

    def got(self, identifier: NotificationId) -> None:
        """A notification has arrived: asking may have brought it."""
        if self._since.pop(identifier, None) is not None:
            self._pause = self._round

    def take_due(self, now: SimTime) -> tuple[Held, ...]:
        """What is to be asked for now, which is nothing most of the time."""
        if now < self._next:
            return ()
        self._since = {one: since for one, since in self._since.items() if now - since <= _LONGEST * self._round}
        due = Digest(self._limit)
        for identifier, since in self._since.items():
            if now - since >= self._ask_after:
                due.add(identifier)
        if due.tell():
            self._next = now + self._pause
            self._pause = min(2 * self._pause, _LONGEST * self._round)
        return due.tell()
