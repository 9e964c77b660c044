"""The order in which a subscriber delivers what comes from several stays (see `numbered_broker`)."""

from __future__ import annotations

from collections import Counter
from itertools import count

from roambus.python_protocol.phoenix.messages import Pub, Rep, Stamp, Turn

Arrived = Pub | Rep | Turn


class Sorter:
    """Holds back what has come before its turn: a stay by its ticks, until a TURN names another stay."""

    def __init__(self, limit: int) -> None:
        """Holds at most `limit` back."""
        self._limit = limit
        self._begun = 0
        """Stays before this one are left aside."""
        self._current = 0
        self._ticks: Counter[int] = Counter()
        """The last tick delivered of each stay."""
        self._following: dict[int, int] = {}
        """What comes after each stay that is over."""
        self._held: dict[Stamp, Arrived] = {}

    @property
    def last(self) -> Stamp:
        """ts_last: all up to here was delivered, or nobody has it."""
        first = next(stay for stay in count(self._begun) if stay not in self._following)
        return Stamp(first, self._ticks[first])

    def cancel(self, stay: int) -> list[Pub | Rep]:
        """No broker has heard of a stay; returns what may be delivered now."""
        self._following[stay] = stay + 1
        self._current = self._resolve(self._current)
        return self._advance()

    def restart(self, stay: int) -> None:
        """Nothing of what is under way is wanted."""
        self._held.clear()
        self._following.clear()
        self._begun = self._current = stay

    def add(self, arrived: Arrived) -> list[Pub | Rep]:
        """Takes what has come; returns what may be delivered now, in its order."""
        stamp = arrived.stamp
        if stamp.stay < self._begun or stamp.stay in self._following:
            return [] if isinstance(arrived, Turn) else [arrived]
        if stamp.tick <= self._ticks[stamp.stay]:
            return []
        self._held[stamp] = arrived
        return self._give_up() if len(self._held) > self._limit else self._advance()

    def _advance(self) -> list[Pub | Rep]:
        released: list[Pub | Rep] = []
        while (stamp := Stamp(self._current, self._ticks[self._current] + 1)) in self._held:
            arrived = self._held.pop(stamp)
            self._ticks[self._current] += 1
            if isinstance(arrived, Turn):
                self._take_turn(arrived)
            else:
                released.append(arrived)
        return released

    def _take_turn(self, turn: Turn) -> None:
        if turn.over:
            self._following[self._current] = turn.following
        self._current = self._resolve(turn.following)

    def _resolve(self, stay: int) -> int:
        """A stay, or what comes after it if it is over."""
        stay = max(stay, self._begun)
        while stay in self._following:
            stay = self._following[stay]
        return stay

    def _give_up(self) -> list[Pub | Rep]:
        """Waits no longer for what is missing: delivers what has come, and goes on behind it."""
        held = [self._held[stamp] for stamp in sorted(self._held)]
        last = max(self._held)
        self.restart(last.stay)
        self._ticks[last.stay] = last.tick
        return [arrived for arrived in held if not isinstance(arrived, Turn)]
