"""What the leader's steps let its site send, held until another broker is informed of the step.

So whatever has left the site survives any one of its brokers (the paper on replicated brokers, section 6, in which
the leader sends first; docs/deviations.md tells why that is not enough).
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from roambus.python_protocol.replicated.messages import Numbered
from roambus.python_protocol.replicated.site_state import Output, Peer

_NEVER = -1


class Released(NamedTuple):
    """What a step lets the site send: the reply to `message` of `peer`, if it came from one, and `outputs`."""

    step: int
    peer: Peer | None
    message: Numbered | None
    outputs: tuple[Output, ...]


class Releases:
    """Holds back what one broker, as the leader of its site, is to send."""

    def __init__(self) -> None:
        self._held: deque[Released] = deque()
        self._informed = 0
        """The last step of this term of which another broker is informed."""
        self._ready: list[Released] = []
        """For the broker to carry out."""

    def hold(self, one: Released) -> None:
        """A step was taken; it waits for its turn, even if others are informed of it already."""
        self._held.append(one)
        self._release()

    def informed(self, step: int) -> None:
        """Another broker has come to this step."""
        if step > self._informed:
            self._informed = step
            self._release()

    def begin_term(self, first: Released) -> None:
        """A term of this broker begins: nobody is informed of anything yet."""
        self._informed = _NEVER
        self._held = deque([first])

    def end_term(self) -> None:
        """There is another leader, which does what this one has not done."""
        self._held.clear()

    def held(self) -> set[Output]:
        """What is not to be sent yet."""
        return {output for one in self._held for output in one.outputs}

    def take_ready(self) -> list[Released]:
        """What was released since this was last called, in the order of the steps."""
        ready, self._ready = self._ready, []
        return ready

    def _release(self) -> None:
        while self._held and self._held[0].step <= self._informed:
            self._ready.append(self._held.popleft())
