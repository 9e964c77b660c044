"""The air of a live node: a back-end that is driven by a wall clock, and whose frames are datagrams.

The host is the one of every run, with one agent to drive. It says when it wants to be woken up; this back-end waits for
that moment or for a frame, whichever comes first, and tells what time it is. So an agent cannot tell a live run from a
simulated one, but for these:

- A clock goes on. What is due at an instant is handled at it or a little after it, and the agent is told when it really
  is. By how much timers are late is counted, also for frames that are to leave after a while.
- What a radio tells and UDP does not is absent: RSSI and LQI are no numbers (NaN).
- A socket that would block, and a datagram that the system refuses, is a `SendFailed`. So is a frame beyond the rate
  that a node may send at, for an agent that has gone wild would keep everybody's processor busy. That a frame does not
  arrive is never told: on an ideal link it can be, for a link layer would miss an acknowledgement.

How a frame goes:

1. What the agent sends waits until its time, as in every back-end. Then it is sealed, with the time at which it really
   leaves, and goes to each address that its destination stands for.
2. A receiver opens it, asks its links whether it would have arrived and when, and decodes it. Only what would arrive is
   decoded: nobody pays for what is out of reach.
3. It waits until its link would have brought it. If it has come later than that, because the machine was busy, it
   arrives now.

The one loop is in `advance`. `poll` waits in milliseconds for any number of descriptors; the last millisecond before a
timer is slept. Datagrams are read in bursts, between which timers have their turn.
"""

from __future__ import annotations

import math
import select
import socket
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count

from roambus.bridge.backend import Delivery, Failure, Hello, NodeInfo, Own, Step, Totals, Transmission
from roambus.bridge.live.frames import LONGEST_DATAGRAM, LONGEST_PAYLOAD, Frame, Gate, Seal
from roambus.bridge.live.links import Links
from roambus.bridge.scenario.definition import Scenario
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.messages.octets import DecodeError
from roambus.python_protocol.vocabulary import BROADCAST, MICROSECOND, MILLISECOND, SECOND, NodeId, SimTime

Address = tuple[str, int] | tuple[str, int, int, int]
"""What a socket takes, of IPv4 or IPv6."""

BURST = 64
"""Datagrams that are read before the host handles them, so that a flood cannot keep timers waiting."""
MOST_FRAMES_A_SECOND = 2000
"""A node that sends more has gone wild: the fastest agents here send some fifty."""
LONGEST_WAIT_S = 0.25
"""How often an idle node checks that its conductor is still there."""
LATE_STEP: SimTime = 10 * MICROSECOND
"""Lateness is counted in steps of this length."""

TOO_LONG, TOO_MANY = "message longer than a datagram", f"more than {MOST_FRAMES_A_SECOND} frames a second"
SENT, TAKEN, NO_LINK, UNREADABLE = "frames_sent", "frames_received", "frames_without_link", "frames_unreadable"
"""The names under which frames are counted, beside those that the gate drops."""


@dataclass(frozen=True, slots=True)
class Sockets:
    """Where a node hears: at its own address, and in the group if there is one. They do not block."""

    own: socket.socket
    group: socket.socket | None = None

    def close(self) -> None:
        """Closes the node's own socket, and that of the group if there is one."""
        for one in (self.own, self.group):
            if one is not None:
                one.close()


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Where frames go: each node's address, and the group's if broadcasts go by multicast."""

    addresses: Sequence[Address]
    group: Address | None = None

    def reached(self, destination: NodeId, sender: NodeId) -> Sequence[Address]:
        """The addresses to which a datagram must be sent to reach its destination."""
        if destination != BROADCAST:
            return (self.addresses[destination],)
        if self.group is not None:
            return (self.group,)
        return [address for node, address in enumerate(self.addresses) if node != sender]


class Attend:
    """What the process has to hear beside frames; this one hears nothing, as in a test of the air alone."""

    def descriptors(self) -> Sequence[int]:
        """What becomes readable when there is something to hear."""
        return ()

    def hear(self) -> None:
        """Hears what there is, if there is anything; what it raises ends the run."""


class Air:
    """The back-end of one node."""

    def __init__(  # noqa: PLR0913, PLR0917  # the parts of a node
        self,
        scenario: Scenario,
        agent: type[Agent],
        own: Own,
        incarnation: int,
        start_ns: int,
        seal: Seal,
        sockets: Sockets,
        neighbours: Neighbours,
        links: Links,
        attend: Attend,
        written: Callable[[], None] = lambda: None,
    ) -> None:
        """The run starts when the monotonic clock shows `start_ns`; `written` is called before anything leaves."""
        self._scenario, self._decode = scenario, agent.messages.decode
        self._own, self._incarnation, self._start_ns = own, incarnation, start_ns
        self._gate = Gate(seal, own.node, len(scenario.nodes), own.since)
        self._seal, self._sockets, self._neighbours, self._links = seal, sockets, neighbours, links
        self._attend, self._written = attend, written
        self._poll = select.poll()
        for one in (sockets.own, sockets.group):
            if one is not None:
                self._poll.register(one, select.POLLIN)
        for descriptor in attend.descriptors():
            self._poll.register(descriptor, select.POLLIN)
        # One for all datagrams: to have the system make one of this size for each takes longer than to copy what came.
        self._buffer = memoryview(bytearray(LONGEST_DATAGRAM))
        self._order = count()
        self._leaving: list[tuple[SimTime, int, Transmission]] = []
        """What is to leave, the earliest first."""
        self._arriving: list[tuple[SimTime, int, Delivery]] = []
        """What has come and has not arrived yet."""
        self._failures: list[Failure] = []
        self._sequence = count()
        self._allowance, self._allowed_at = float(MOST_FRAMES_A_SECOND), own.since
        self.counts: Counter[str] = Counter()
        self.lateness: Counter[int] = Counter()
        """How many timers, and delayed frames, were late by a number of steps."""
        self._last: SimTime = -1

    def now(self) -> SimTime:
        """The time since the start of the run, which is negative before it."""
        return time.monotonic_ns() - self._start_ns

    def open(self) -> Hello:
        """All nodes boot at 0, as over ideal links, and one that was started again at its own time."""
        nodes = [NodeInfo(0)] * len(self._scenario.nodes)
        limit, delay = self._scenario.time_limit, self._scenario.processing_delay
        return Hello("UDP", nodes, limit, delay, own=self._own)

    def advance(self, transmissions: Sequence[Transmission], wake_up: SimTime | None) -> Step | None:
        """Waits for the next instant that concerns the host, as `Backend.advance` says."""
        self._written()
        for transmission in transmissions:
            heappush(self._leaving, (transmission.at, next(self._order), transmission))
        limit = self._scenario.time_limit
        until = limit if wake_up is None else min(wake_up, limit)
        while True:
            self._receive()
            self._attend.hear()
            now = self.now()
            self._send_until(now)
            if now >= limit:
                return None
            arrived = self._arrived_until(now)
            if arrived or self._failures or now >= until:
                if now >= until:
                    self._note_late(now - until)
                failures, self._failures, self._last = self._failures, [], now
                return Step(now, arrived, failures)
            self._wait(until)

    def fail(self, error: BaseException) -> None:
        """Does nothing: whoever started the run tells the others."""

    def close(self) -> Totals:
        """Closes the sockets. What only a radio has is empty, and the counts are for whoever asks the node."""
        self.counts.update(self._gate.dropped)
        self._sockets.close()
        return Totals()

    def _wait(self, until: SimTime) -> None:
        """Waits until then, or until something leaves, arrives, or can be read."""
        for queue in (self._leaving, self._arriving):
            if queue:
                until = min(until, queue[0][0])
        seconds = (until - self.now()) / SECOND
        if seconds >= MILLISECOND / SECOND:
            self._poll.poll(int(1000 * min(seconds, LONGEST_WAIT_S)))
        elif seconds > 0:
            time.sleep(seconds)

    def _note_late(self, by: SimTime) -> None:
        """Counts, and keeps no list: a node can be on the air for days."""
        self.lateness[by // LATE_STEP] += 1

    # Frames that come

    def _receive(self) -> None:
        """Takes what has come, at most a burst of each socket."""
        for one in (self._sockets.own, self._sockets.group):
            if one is None:
                continue
            for _ in range(BURST):
                try:
                    size = one.recv_into(self._buffer)
                except (BlockingIOError, InterruptedError):
                    break
                if (frame := self._gate.take(bytes(self._buffer[:size]))) is not None:
                    self._take(frame)

    def _take(self, frame: Frame) -> None:
        """Puts the frame among those that arrive, if the link brings it here.

        A sender whose clock is ahead cannot have it wait: what has come was sent.
        """
        sent = min(frame.sent, max(self.now(), 0))
        arrives = self._links.arrival(frame.node, sent, len(frame.payload))
        if arrives is None:
            self.counts[NO_LINK] += 1
            return
        try:
            message = self._decode(frame.payload)
        except DecodeError:  # it has the run's key, and so it is a mistake of the agent's, which others make, too
            self.counts[UNREADABLE] += 1
            return
        self.counts[TAKEN] += 1
        delivery = Delivery(self._own.node, frame.node, message, math.nan, math.nan)
        heappush(self._arriving, (arrives, next(self._order), delivery))

    def _arrived_until(self, now: SimTime) -> list[Delivery]:
        """Takes what has arrived, in the order in which the links bring it."""
        arrived = []
        while self._arriving and self._arriving[0][0] <= now:
            arrived.append(heappop(self._arriving)[2])
        return arrived

    # Frames that leave

    def _send_until(self, now: SimTime) -> None:
        """Sends what is to leave by now, and notes what was not taken."""
        while self._leaving and self._leaving[0][0] <= now:
            at, _, transmission = heappop(self._leaving)
            if at > self._last:
                self._note_late(now - at)
            if (reason := self._send(transmission, now)) is not None:
                _, _, destination, message, _ = transmission
                self._failures.append(Failure(self._own.node, destination, message, reason))

    def _send(self, transmission: Transmission, now: SimTime) -> str | None:
        """Sends the frame to whom it is for; returns why it was not taken, by all or by some.

        A broadcast that some have got and others have not has failed: an agent that sends it again reaches all, and
        whoever hears it twice is used to that from a radio.
        """
        payload, destination = transmission.message.encode(), transmission.destination
        if len(payload) > LONGEST_PAYLOAD:
            return TOO_LONG
        if (reason := self._links.refusal(len(payload))) is not None:
            return reason
        if not self._is_allowed(now):
            return TOO_MANY
        frame = Frame(self._own.node, destination, self._incarnation, next(self._sequence), now, payload)
        datagram = self._seal.write(frame)
        self.counts[SENT] += 1
        for address in self._neighbours.reached(destination, self._own.node):
            try:
                self._sockets.own.sendto(datagram, address)
            except BlockingIOError:
                reason = "the socket would block"
            except OSError as error:
                reason = error.strerror or "the system refuses it"
        return reason

    def _is_allowed(self, now: SimTime) -> bool:
        """Whether the node has not used up its rate; a second's frames may leave at once."""
        gained = (now - self._allowed_at) * MOST_FRAMES_A_SECOND / SECOND
        self._allowance, self._allowed_at = min(MOST_FRAMES_A_SECOND, self._allowance + gained), now
        if self._allowance < 1:
            return False
        self._allowance -= 1
        return True


def late_by(lateness: Counter[int], share: float) -> SimTime:
    """By how much so large a share of the wake-ups were late at most; 0 if there were none."""
    left = share * sum(lateness.values())
    for step, number in sorted(lateness.items()):
        left -= number
        if left <= 0:
            return (step + 1) * LATE_STEP
    return 0
