"""The back-end of a live node: a wall clock drives it, and its frames are datagrams.

Unlike in a simulation, timers fire late (`lateness` counts by how much), RSSI and LQI are NaN, and `SendFailed` means
only a datagram that the system refuses or the node's rate limit; other losses are never reported.

A receiver decodes only frames that its links let through, and holds them until the link's arrival time. `poll` waits in
milliseconds; the last one before a timer is slept.
"""

from __future__ import annotations

import math
import select
import socket
import time
from collections import Counter
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from itertools import count

from roambus.bridge.backend import (
    Course,
    Delivery,
    Failure,
    Hello,
    LocalNode,
    Move,
    NodeInfo,
    Step,
    Totals,
    Transmission,
)
from roambus.bridge.scenario.definition import Scenario
from roambus.extensions.live.frames import LONGEST_DATAGRAM, LONGEST_PAYLOAD, Frame, Gate, Seal
from roambus.extensions.live.links import Links
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.messages.octets import DecodeError
from roambus.python_protocol.roles import BROADCAST, NodeId
from roambus.python_protocol.simtime import MICROSECOND, MILLISECOND, SECOND, SimTime

Address = tuple[str, int] | tuple[str, int, int, int]
"""An IPv4 or IPv6 socket address."""

BURST = 64
"""Datagrams read in a row, so that a flood cannot delay timers."""
MOST_FRAMES_A_SECOND = 2000
"""The rate limit of a node; the fastest agents here send some fifty."""
LONGEST_WAIT_S = 0.25
"""How often an idle node checks for its conductor."""
LATE_STEP: SimTime = 10 * MICROSECOND
"""The unit of lateness."""

TOO_LONG, TOO_MANY = "message longer than a datagram", f"more than {MOST_FRAMES_A_SECOND} frames a second"
SENT, TAKEN, NO_LINK, UNREADABLE = "frames_sent", "frames_received", "frames_without_link", "frames_unreadable"
"""Names of frame counts, beside those of the gate."""


class Attend:
    """Input beside frames; this one has none."""

    def descriptors(self) -> Sequence[int]:
        """Descriptors that become readable with input."""
        return ()

    def hear(self) -> None:
        """Handle pending input; an exception ends the run."""


class UdpBackend:
    """The back-end of one node."""

    def __init__(  # noqa: PLR0913, PLR0917  # the parts of a node
        self,
        scenario: Scenario,
        agent: type[Agent],
        own: LocalNode,
        incarnation: int,
        start_ns: int,
        seal: Seal,
        own_socket: socket.socket,
        addresses: Sequence[Address],
        links: Links,
        attend: Attend,
        written: Callable[[], None] = lambda: None,
        moves: Callable[[SimTime], Sequence[Move]] = lambda _: (),
        steer: Callable[[Course], None] = lambda _: None,
    ) -> None:
        """The run starts at `start_ns` (monotonic); `addresses` are all nodes'.

        `written` is called before frames leave; `moves` returns those of a receiver, and `steer` moves the node.
        """
        self._scenario, self._decode = scenario, agent.messages.decode
        self._own, self._incarnation, self._start_ns = own, incarnation, start_ns
        self._gate = Gate(seal, own.node, len(scenario.nodes), own.since)
        self._seal, self._socket, self._addresses, self._links = seal, own_socket, addresses, links
        self._attend, self._written, self._moves, self._steer = attend, written, moves, steer
        self._courses: list[Course] = []
        """Courses for the driver."""
        self._poll = select.poll()
        for descriptor in (own_socket.fileno(), *attend.descriptors()):
            self._poll.register(descriptor, select.POLLIN)
        # One for all datagrams: to have the system make one of this size for each takes longer than to copy what came.
        self._buffer = memoryview(bytearray(LONGEST_DATAGRAM))
        self._order = count()
        self._leaving: list[tuple[SimTime, int, Transmission]] = []
        """Frames to send, the earliest first."""
        self._arriving: list[tuple[SimTime, int, Delivery]] = []
        """Received frames that have not arrived yet."""
        self._failures: list[Failure] = []
        self._sequence = count()
        self._allowance, self._allowed_at = float(MOST_FRAMES_A_SECOND), own.since
        self.counts: Counter[str] = Counter()
        self.lateness: Counter[int] = Counter()
        """Late timers and delayed frames, counted by steps."""
        self._last: SimTime = -1
        self._moved: list[Move] = []
        """Moves that the host has not heard of."""

    def now(self) -> SimTime:
        """The time since the start of the run; negative before it."""
        return time.monotonic_ns() - self._start_ns

    def open(self) -> Hello:
        """Boot at 0, as over ideal links; a restarted node boots now."""
        nodes = [NodeInfo(0)] * len(self._scenario.nodes)
        limit, delay = self._scenario.time_limit, self._scenario.processing_delay
        return Hello("UDP", nodes, limit, delay, own=self._own, steer=self._courses.append)

    def advance(self, transmissions: Sequence[Transmission], wake_up: SimTime | None) -> Step | None:
        """Wait for the host's next instant, as `Backend.advance` says."""
        self._written()
        courses, self._courses[:] = [*self._courses], []
        for course in courses:
            self._steer(course)
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
            if now >= 0:
                self._moved += self._moves(now)
            arrived = self._arrived_until(now)
            if arrived or self._failures or now >= until:
                if now >= until:
                    self._note_late(now - until)
                failures, self._failures, self._last = self._failures, [], now
                moves, self._moved = self._moved, []
                return Step(now, arrived, failures, moves=moves)
            self._wait(until)

    def fail(self, error: BaseException) -> None:
        """Do nothing: the conductor informs the others."""

    def close(self) -> Totals:
        """Close the socket; radio statistics are empty."""
        self.counts.update(self._gate.dropped)
        self._socket.close()
        return Totals()

    def _wait(self, until: SimTime) -> None:
        """Wait until then, or until a frame leaves, arrives or can be read."""
        for queue in (self._leaving, self._arriving):
            if queue:
                until = min(until, queue[0][0])
        seconds = (until - self.now()) / SECOND
        if seconds >= MILLISECOND / SECOND:
            self._poll.poll(int(1000 * min(seconds, LONGEST_WAIT_S)))
        elif seconds > 0:
            time.sleep(seconds)

    def _note_late(self, by: SimTime) -> None:
        """Count only: a node can be on the air for days."""
        self.lateness[by // LATE_STEP] += 1

    # Frames that come

    def _receive(self) -> None:
        """Read at most a burst."""
        for _ in range(BURST):
            try:
                size = self._socket.recv_into(self._buffer)
            except (BlockingIOError, InterruptedError):
                return
            if (frame := self._gate.take(bytes(self._buffer[:size]))) is not None:
                self._take(frame)

    def _take(self, frame: Frame) -> None:
        """Queue the frame if the link brings it, without delay by a fast sender clock."""
        sent = min(frame.sent, max(self.now(), 0))
        arrives = self._links.arrival(frame.node, sent)
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
        """Take arrived frames in the order of the links."""
        arrived = []
        while self._arriving and self._arriving[0][0] <= now:
            arrived.append(heappop(self._arriving)[2])
        return arrived

    # Frames that leave

    def _send_until(self, now: SimTime) -> None:
        """Send the frames due by now, and note those refused."""
        while self._leaving and self._leaving[0][0] <= now:
            at, _, transmission = heappop(self._leaving)
            if at > self._last:
                self._note_late(now - at)
            if (reason := self._send(transmission, now)) is not None:
                _, _, destination, message, _ = transmission
                self._failures.append(Failure(self._own.node, destination, message, reason))

    def _send(self, transmission: Transmission, now: SimTime) -> str | None:
        """Send the frame; return why receivers were refused.

        A partly sent broadcast has failed: a retry reaches all, and duplicates are usual on a radio.
        """
        payload, destination = transmission.message.encode(), transmission.destination
        if len(payload) > LONGEST_PAYLOAD:
            return TOO_LONG
        if not self._is_allowed(now):
            return TOO_MANY
        frame = Frame(self._own.node, destination, self._incarnation, next(self._sequence), now, payload)
        datagram = self._seal.write(frame)
        self.counts[SENT] += 1
        reason = None
        for address in self._reached(destination):
            try:
                self._socket.sendto(datagram, address)
            except BlockingIOError:
                reason = "the socket would block"
            except OSError as error:
                reason = error.strerror or "the system refuses it"
        return reason

    def _reached(self, destination: NodeId) -> Sequence[Address]:
        """The addresses that a destination stands for: a broadcast goes to each node by itself."""
        if destination != BROADCAST:
            return (self._addresses[destination],)
        return [address for node, address in enumerate(self._addresses) if node != self._own.node]

    def _is_allowed(self, now: SimTime) -> bool:
        """Whether the rate allows it; a second's frames may leave at once."""
        gained = (now - self._allowed_at) * MOST_FRAMES_A_SECOND / SECOND
        self._allowance, self._allowed_at = min(MOST_FRAMES_A_SECOND, self._allowance + gained), now
        if self._allowance < 1:
            return False
        self._allowance -= 1
        return True


def late_by(lateness: Counter[int], share: float) -> SimTime:
    """The lateness quantile of this share; 0 without wake-ups."""
    left = share * sum(lateness.values())
    for step, number in sorted(lateness.items()):
        left -= number
        if left <= 0:
            return (step + 1) * LATE_STEP
    return 0
