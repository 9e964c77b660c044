"""The embedded radio as a back-end: it hands frames to the compiled loop, and takes deliveries from it.

A frame is a row in an array and keeps its number until the loop is done with it; Python keeps the transmission under
that number, so that nothing is encoded. One call runs the loop to the next arrival or refusal, or to the host's
wake-up. A loop that lacks room stops; its array grows, and it continues. This module is on the path of every message:
it reaches arrays through their memory, which Python writes faster than through NumPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from operator import itemgetter
from pathlib import Path
from random import Random
from struct import Struct
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.backend import (
    DEATHS,
    NO_ENERGY,
    SENT,
    Course,
    Delivery,
    Failure,
    Hello,
    NodeInfo,
    Overhearing,
    Step,
    Totals,
    Transmission,
    make_deliveries,
    sent_before,
)
from roambus.bridge.backends.radio import setup, state
from roambus.bridge.backends.radio.channel import Cells, Steering
from roambus.bridge.backends.radio.energy import energy_mj
from roambus.bridge.backends.radio.kernel import GOING_ON, Parts, bind
from roambus.bridge.backends.radio.mac.registry import mac_of
from roambus.bridge.backends.radio.reception import bit_errors
from roambus.bridge.backends.radio.reception.registry import reception_of
from roambus.bridge.backends.radio.state import COUNTS, ENOUGH, FRAME, make_room, make_room_for_frames
from roambus.bridge.mobility.paths import known_moves, paths_of, steered
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.system.errors import BackendError
from roambus.bridge.trace.schema import AIR_NS
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import (
    BUFFER_FULL,
    CHANNEL_ACCESS_FAILURE,
    NO_ACKNOWLEDGEMENT,
    NOT_SENT,
    QUEUE_FULL,
)
from roambus.python_protocol.messages.message import Fragment, Message
from roambus.python_protocol.roles import BROADCAST, NodeId
from roambus.python_protocol.simtime import MICROSECOND, SimTime
from roambus.python_protocol.trace_rows import CRASH

MOST_DONE = 1000
"""Moves that have happened and are kept: each course of an agent copies all moves."""
FRAMES = 256
"""Frames for which there is room at first; the room is doubled when it is used up."""

PACK_FRAME = Struct(f"={len(FRAME.names or ())}q").pack_into
"""Writes a record FRAME at a place in memory."""

REASONS = {
    state.TAKEN: SENT,
    state.QUEUE_FULL: QUEUE_FULL,
    state.BUFFER_FULL: BUFFER_FULL,
    state.FRAME_TOO_LONG: "frame longer than Radio.maxPhyFrameSize",
    state.PACKET_TOO_LONG: "packet longer than MAC.macMaxPacketSize",
    state.NOT_BOOTED: "node has not booted",
    state.NO_ENERGY: NO_ENERGY,
    state.NO_ACKNOWLEDGEMENT: NO_ACKNOWLEDGEMENT,
    state.CHANNEL_ACCESS_FAILURE: CHANNEL_ACCESS_FAILURE,
    state.NOT_SENT: NOT_SENT,
    state.CRASHED: CRASH,
}
"""The reason that a Failure gives; the MAC's own ones follow."""


def part_of(message: Message) -> int:
    """Return FRAME's `message`: a number for the fragments of a message, negative for the first; 0 for no fragment."""
    if type(message) is not Fragment:
        return 0
    return message.datagram + 1 if message.offset else -message.datagram - 1


class RadioBackend:
    """Carry messages over the embedded radio."""

    def __init__(self, scenario: Scenario) -> None:
        """Raise UserError for a scenario that this radio does not model."""
        mac = mac_of(scenario)
        scenario = mac.adapt(reception_of(scenario).adapt(scenario))
        setup.check(scenario)
        seeds = setup.seeds_of(scenario.seed)
        self._scenario = scenario
        self._paths = paths_of(scenario)
        self._state = setup.state_of(scenario, self._paths, seeds, FRAMES)
        self._run = bind(self._state, Parts.of(scenario))
        # Frames of the MAC's own come first, so that a number alone tells whose a frame is.
        frames = len(self._state.frames)
        self._sent: list[Transmission | None] = [None] * frames
        self._free = list(range(frames - FRAMES, frames))
        self._take_memory()
        by_kind: dict[int, dict[int, tuple[SimTime, int, int]]] = {}
        self._sizes = [by_kind.setdefault(kind, {}) for kind in self._state.nodes["kind"].tolist()]
        self._last = scenario.time_limit - 1
        self._now: SimTime = 0
        self._handed_over = 0
        self._readings = Readings.of(scenario)
        self._reasons = REASONS | dict(enumerate(mac.REASONS, state.FIRST_REASON_OF_MAC))
        self._is_mortal = not scenario.batteries_last
        self._dead: set[NodeId] = set()
        self._reporting: set[NodeId] = set()
        """The nodes whose sent frames are reported."""
        cells = Cells(scenario.field_m, scenario.channel)
        self._steering = Steering(steered(scenario), cells, scenario.time_limit)
        self._is_overheard = False
        """Whether some nodes listen to unicasts between others."""

    def open(self) -> Hello:
        """Tells the nodes' boot times and clock rates."""
        nodes = self._state.nodes
        infos = [NodeInfo(*info) for info in zip(nodes["start"].tolist(), nodes["clock_rate"].tolist(), strict=True)]
        scenario = self._scenario
        return Hello(
            "embedded radio",
            infos,
            scenario.time_limit,
            scenario.processing_delay,
            report_sent=self._report_sent,
            overhear=self._overhear,
            steer=self._steer,
        )

    def _report_sent(self, nodes: Sequence[NodeId]) -> None:
        self._state.nodes["reports"][nodes] = 1
        self._reporting.update(nodes)

    def _overhear(self, nodes: Sequence[NodeId]) -> None:
        self._state.nodes["overhears"][nodes] = 1
        self._is_overheard = True

    def _steer(self, course: Course) -> None:
        state, done = self._state, int(self._state.run["moves"][0])
        if done > MOST_DONE:
            state = state._replace(moves=state.moves[done:])
            state.run["moves"], state.nodes["moves_seen"], done = 0, -1, 0  # the next frames find their hearers afresh
        moves = self._steering.follow(course, state.moves, done, int(state.nodes["cell"][course.node]))
        self._state = state._replace(moves=moves)

    def advance(self, transmissions: Sequence[Transmission], wake_up: SimTime | None) -> Step | None:
        """Run to the next instant that concerns the host, as `Backend.advance` says."""
        for transmission in transmissions:
            node, at, destination, message, size = transmission
            if at < self._now:
                raise sent_before(transmission, self._now)
            if not self._free:
                self._make_room()
            airtime, on_air, refusal = self._sizes[node].get(size) or self._size(node, size)
            frame = self._free.pop()
            self._sent[frame] = transmission
            row = (at, airtime, on_air, node, destination, refusal, 0, 0, part_of(message))
            PACK_FRAME(self._frames, frame * FRAME.itemsize, *row)
            self._inbox[self._handed_over] = frame
            self._handed_over += 1
        return self._run_on(wake_up)

    def _run_on(self, wake_up: SimTime | None) -> Step | None:
        """Run the loop, make room as often as it lacks some, and return its outbox."""
        until = self._last if wake_up is None or wake_up > self._last else max(wake_up, self._now)
        self._now, deliveries, refusals, done, lacking = self._run(self._state, self._handed_over, until)
        # `GOING_ON` in place of the number of frames: the inbox was emptied before the loop stopped.
        while lacking != ENOUGH:
            self._state = make_room(self._state, lacking)
            self._take_memory()
            self._now, deliveries, refusals, done, lacking = self._run(self._state, GOING_ON, until)
        self._handed_over = 0
        deaths = self._new_deaths() if self._is_mortal else ()
        if deliveries or refusals:
            received, overheard = self._outbox(deliveries) if deliveries else ([], [])
            failures = self._failures(done) if refusals else ()
            step = Step(self._now, received, failures, deaths=deaths, overheard=overheard)
        elif wake_up is None or wake_up > self._last:
            return None
        else:
            step = Step(self._now, deaths=deaths)
        if done:
            self._free += self._released[:done].tolist()
        return step

    def _new_deaths(self) -> list[NodeId]:
        """The nodes whose batteries were found empty since this was last called."""
        dead = np.flatnonzero(self._state.batteries["died"]).tolist()
        new = [node for node in dead if node not in self._dead]
        self._dead.update(new)
        return new

    def fail(self, error: BaseException) -> None:
        """Does nothing, for there is nobody to tell."""

    def close(self) -> Totals:
        """The counts, the energy and the way-points up to now."""
        end = self._scenario.time_limit if self._now == self._last else self._now
        counts = {name: self._state.nodes[name].tolist() for name in COUNTS}
        counts |= {name: self._state.macs[name].tolist() for name in mac_of(self._scenario).COUNTS}
        if reception_of(self._scenario) is not bit_errors:  # else the data rate says it
            counts[AIR_NS] = self._state.nodes[AIR_NS].tolist()
        died = self._state.batteries["died"]
        if died.any():
            counts[DEATHS] = died.tolist()
        moves = known_moves(self._scenario, self._paths, end)
        return Totals(counts, energy_mj(self._scenario, self._state, end).tolist(), moves)

    def _size(self, node: NodeId, size: int) -> tuple[SimTime, int, int]:
        """Compute once for each kind and size: its airtime, its bytes on the air, and the reason to refuse it."""
        scenario, kind = self._scenario, int(self._state.nodes["kind"][node])
        airtime = setup.airtime(scenario, kind, size)
        found = airtime, setup.frame_bytes(scenario, size), setup.refusal(scenario, size)
        self._sizes[node][size] = found
        return found

    def _take_memory(self) -> None:
        """Take the memory of the arrays: NumPy needs longer to write a record than `struct`."""
        state = self._state
        self._frames, self._inbox = state.frames.view(np.uint8).data, state.inbox.data
        self._released: NDArray[np.int64] = state.done["frame"]
        self._columns: list[NDArray[Any]] = [state.deliveries[name] for name in ("receiver", "frame", "rssi", "lqi")]

    def _make_room(self) -> None:
        """Make room for twice as many frames. The inbox stays."""
        room = len(self._sent)
        self._state = make_room_for_frames(self._state)
        self._take_memory()
        self._sent += [None] * room
        self._free += range(room, 2 * room)

    def _outbox(self, count: int) -> tuple[list[Delivery], list[Overhearing]]:
        """Return the deliveries in the outbox, and what nodes overheard, with what their receivers read."""
        received, overheard = self._sort_out(count) if self._is_overheard else (self._deliveries(count), [])
        if self._readings is not None:
            received, overheard = self._readings.misread(received), self._readings.misread(overheard)
        return received, overheard

    def _sort_out(self, count: int) -> tuple[list[Delivery], list[Overhearing]]:
        received, overheard = [], []
        for receiver, frame, rssi, lqi in sorted(zip(*self._columns_of(count), strict=True), key=itemgetter(0)):
            sender, _, destination, message, _ = self._transmission(frame)
            if destination in (BROADCAST, receiver):
                received.append(Delivery(receiver, sender, message, rssi, lqi))
            else:
                overheard.append(Overhearing(receiver, sender, destination, message, rssi, lqi))
        return received, overheard

    def _columns_of(self, count: int) -> list[list[Any]]:
        return [column[:count].tolist() for column in self._columns]

    def _deliveries(self, count: int) -> list[Delivery]:
        """Return the deliveries in the outbox: most often one, or those of one broadcast."""
        if count == 1:
            receiver, frame, rssi, lqi = self._state.deliveries.item(0)
            sender, _, _, message, _ = self._transmission(frame)
            return [Delivery(receiver, sender, message, rssi, lqi)]
        receivers, frames, rssis, lqis = self._columns_of(count)
        # The commonest step of all: one broadcast, heard by many. Its deliveries are sorted already.
        if frames[0] == frames[-1]:  # each frame's deliveries come in one piece, by receiver
            sender, _, _, message, _ = self._transmission(frames[0])
            return make_deliveries(zip(receivers, repeat(sender), repeat(message), rssis, lqis, strict=False))
        sent = [self._transmission(frame) for frame in frames]
        senders, messages = [send.node for send in sent], [send.message for send in sent]
        rows = zip(receivers, senders, messages, rssis, lqis, strict=True)
        return make_deliveries(sorted(rows, key=itemgetter(0)))

    def _failures(self, count: int) -> list[Failure]:
        """Return the released frames that were refused or failed, or sent by a node that is to be told so."""
        failures = []
        for frame, reason in self._state.done[:count].tolist():
            sender, _, destination, message, _ = self._transmission(frame)
            if reason != state.TAKEN or sender in self._reporting:
                failures.append(Failure(sender, destination, message, self._reasons[reason]))
        return failures

    def _transmission(self, frame: int) -> Transmission:
        transmission = self._sent[frame]
        if transmission is None:
            raise BackendError(f"the radio reports frame {frame} at {self._now} ns, which it was never given")
        return transmission


Heard = TypeVar("Heard", Delivery, Overhearing)


class Readings:
    """Errors with which nodes read the strength of signals."""

    def __init__(self, scenario: Scenario) -> None:
        random, bound = Random(f"rssi/{scenario.seed}"), scenario.radio.rssi_offset_db
        self._offsets_db = [random.uniform(-bound, bound) for _ in scenario.nodes]
        self._noise_db = scenario.radio.rssi_noise_db
        self._random = random

    @classmethod
    def of(cls, scenario: Scenario) -> Self | None:
        """Return the errors of a scenario; None without any."""
        radio = scenario.radio
        return cls(scenario) if radio.rssi_offset_db or radio.rssi_noise_db else None

    def misread(self, deliveries: list[Heard]) -> list[Heard]:
        """The deliveries with what their receivers read."""
        return [
            delivery._replace(
                rssi_dbm=delivery.rssi_dbm + self._offsets_db[delivery.receiver] + self._random.gauss(0, self._noise_db)
            )
            for delivery in deliveries
        ]


@dataclass(frozen=True, slots=True)
class RadioFactory:
    """Makes embedded radios; `roambus.bridge.backend` says what a factory does."""

    name: str = "radio"

    def prepare(self, scenario: Scenario) -> None:
        """Run an instant, so that the radio is compiled once, before the workers need it."""
        warm = RadioBackend(replace(scenario, time_limit=MICROSECOND))
        warm.open()
        warm.advance((), None)
        warm.close()

    def make(self, scenario: Scenario, agent: type[Agent], folder: Path) -> RadioBackend:  # noqa: ARG002  # interface
        """Return the radio of one run; raise UserError for a scenario that it does not model."""
        return RadioBackend(scenario)
