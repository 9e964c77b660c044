"""RadioBackend: the embedded CC2420 radio with CSMA, mobility and energy, behind the back-end interface."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

from bridge.backends.interface import Delivery, Failure, Hello, NodeInfo, Step, Totals, Transmission
from bridge.backends.radio import outbox, setup
from bridge.backends.radio.energy import energy_mj
from bridge.backends.radio.kernel import advance
from bridge.backends.radio.mobility import moves_until
from bridge.backends.radio.state import COUNTS
from bridge.backends.radio.traffic import PoissonSources
from bridge.scenario import Scenario
from python_protocol.simtime import SimTime

FRAMES = 256
"""Room for frames at first; it is doubled whenever it is used up."""

REASONS = {
    outbox.QUEUE_FULL: "MAC queue full",
    outbox.BUFFER_FULL: "radio buffer full",
    outbox.FRAME_TOO_LONG: "frame longer than Radio.maxPhyFrameSize",
    outbox.PACKET_TOO_LONG: "packet longer than MAC.macMaxPacketSize",
    outbox.NOT_BOOTED: "node has not booted",
}
"""What a Failure says."""


class RadioBackend:
    """Carries messages over the embedded radio; with `sources`, makes traffic of its own that it only counts."""

    def __init__(self, scenario: Scenario, sources: PoissonSources | None = None) -> None:
        """Raises UserError for a scenario that this radio does not model."""
        setup.check(scenario)
        setup.check_powers(scenario)
        seeds = setup.randomness(scenario.seed)
        own_frames = len(scenario.nodes) if sources else 0
        self._scenario = scenario
        self._paths = setup.paths_of(scenario, seeds)
        self._state = setup.state_of(scenario, self._paths, seeds, own_frames, own_frames + FRAMES)
        self._sent: list[Transmission | None] = [None] * (own_frames + FRAMES)
        self._free = list(range(own_frames, own_frames + FRAMES))
        self._now: SimTime = 0
        if sources:
            setup.start_sources(self._state, scenario, sources, seeds)

    def open(self) -> Hello:
        """Tells the nodes' boot times and clock rates."""
        nodes = self._state.nodes
        infos = [NodeInfo(*info) for info in zip(nodes["start"].tolist(), nodes["clock_rate"].tolist(), strict=True)]
        return Hello("radio", infos, self._scenario.time_limit, self._scenario.processing_delay)

    def advance(self, transmissions: Sequence[Transmission], wake_up: SimTime | None) -> Step | None:
        """Runs to the next instant that concerns the host; see `bridge.backends.interface`.

        Raises ValueError for a transmission in the past.
        """
        last = self._scenario.time_limit - 1
        until = last if wake_up is None or wake_up > last else max(wake_up, self._now)
        for index, transmission in enumerate(transmissions):
            self._hand_over(index, transmission)
        self._now, deliveries, refusals, released = advance(self._state, len(transmissions), until)
        if deliveries or refusals:
            step = Step(self._now, self._deliveries(deliveries), self._failures(refusals))
        elif wake_up is None or wake_up > last:
            return None
        else:
            step = Step(self._now)
        if released:
            self._free += self._state.outbox.released[:released].tolist()
        return step

    def close(self) -> Totals:
        """Counts, energy and way-points up to now."""
        s, scenario = self._state, self._scenario
        counts = {name: s.nodes[name].tolist() for name in COUNTS}
        end = self._now + 1 if self._now == scenario.time_limit - 1 else self._now
        return Totals(counts, energy_mj(scenario, s, end).tolist(), moves_until(self._paths, end))

    def _hand_over(self, index: int, transmission: Transmission) -> None:
        if transmission.at < self._now:
            raise ValueError(f"node {transmission.node} sends at {transmission.at}, which is before {self._now}")
        if not self._free:
            self._make_room()
        frame = self._free.pop()
        self._sent[frame] = transmission
        node, at, destination, _, size = transmission
        airtime = setup.airtime(self._scenario, size)
        self._state.frames[frame] = (at, airtime, node, destination, self._refusal(size))
        self._state.inbox[index] = frame

    def _make_room(self) -> None:
        room = len(self._sent)
        self._state = setup.enlarge(self._state)
        self._sent += [None] * room
        self._free += range(room, 2 * room)

    def _refusal(self, size: int) -> int:
        scenario = self._scenario
        frame = setup.frame_bytes(scenario, size)
        if 0 < scenario.mac.max_packet_bytes < frame - scenario.radio.frame_overhead_bytes:
            return outbox.PACKET_TOO_LONG
        if 0 < scenario.radio.max_frame_bytes < frame:
            return outbox.FRAME_TOO_LONG
        return outbox.TAKEN

    def _deliveries(self, count: int) -> list[Delivery]:
        out = self._state.outbox
        sent = [self._sent[frame] for frame in out.frame[:count].tolist()]
        deliveries = [
            Delivery(receiver, transmission.node, transmission.message, rssi, lqi)
            for receiver, transmission, rssi, lqi in zip(
                out.receiver[:count].tolist(), sent, out.rssi[:count].tolist(), out.lqi[:count].tolist(), strict=True
            )
        ]
        deliveries.sort(key=itemgetter(0))
        return deliveries

    def _failures(self, count: int) -> list[Failure]:
        failures = []
        for frame, reason in self._state.outbox.refusals[:count].tolist():
            transmission = self._sent[frame]
            failures.append(Failure(transmission.node, transmission.destination, transmission.message, REASONS[reason]))
            self._free.append(frame)
        return failures
