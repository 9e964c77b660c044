"""Unslotted CSMA-CA of IEEE 802.15.4-2006, written from the standard alone, to judge between two simulators.

    python -m benchmarks.csma_ca_model DIR    prints the model, the embedded MAC, and ns-3 from DIR/lr_wpan.csv, as CSV

The last rows of each number of senders are z: how many standard errors a simulator's mean is from the model's.

Senders that all hear each other offer frames to one receiver. Times are symbols of 16 us. A radio receives a frame if
it listened, and was at no other frame, when it began, with the bit errors of annex E.4.1.8. The standard does not say
how a clear-channel assessment (CCA) counts a signal that lasts for a part of it: `CCAS` are three readings.

`published` is the Markov chain of P. Park et al., A generalized Markov chain model for effective analysis of slotted
IEEE 802.15.4 (MASS 2009), equations 16, 17, 19 and 20, with one CCA, because the channel has no slots.
The load of its queue is that of M.-H. Zayani et al., A joint model for IEEE 802.15.4 physical and medium access control
layers (IWCMC 2011).
"""

from __future__ import annotations

import argparse
import heapq
import math
import sys
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from random import Random
from statistics import fmean, variance

from benchmarks.mac_fidelity import BYTES, FILE, METRICS, Planned, on_radio, read_groups, saturated
from roambus.python_protocol.simtime import MICROSECOND, SECOND

SYMBOL = 16 * MICROSECOND
BITS_PER_SYMBOL = 4
UNIT_BACKOFF, CCA, TURNAROUND, ACK_WAIT, LIFS, ACK = 20, 8, 12, 54, 40, 22
MIN_BE, MAX_BE, MAX_BACKOFFS, MAX_RETRIES = 3, 5, 4, 3
OVERHEAD_BYTES = 10 + 11 + 6
"""Of the network layer, the MAC and the PHY."""
QUEUE = 32

AVERAGE, ANY, AT_END = "average", "any", "at its end"
CCAS = (AVERAGE, ANY, AT_END)
"""The power is averaged, as a CC2420 does, with shares rounded down to sixteenths, as in Castalia's radio; any power
during it counts; or a signal that ends during it does not count, as in ns-3 before 3.47."""
SIXTEENTHS = 16
CCA_DBM, NOISE_DBM, FIRST_METRE_DB, DB_PER_DECADE = -85.0, -100.0, 55.0, 24.0

SENDERS = (2, 5, 10, 20, 50)
SCENARIO = "saturated, senders"

COUNTS = (
    "wanted",
    "offered",
    "received",
    "unicasts_received",
    "acknowledgements",
    "retransmissions",
    "transmitted",
    "unacknowledged",
    "access_failures",
    "delay_s",
)


@dataclass(slots=True)
class Signal:
    """A frame or an acknowledgement on the air."""

    start: float
    end: float
    sender: int
    to: int
    is_ack: bool = False
    receivers: set[int] = field(default_factory=set)


@dataclass(slots=True)
class Node:
    """A sender or the receiver."""

    place: tuple[float, float]
    queue: deque[float] = field(default_factory=deque)  # when each frame came
    is_busy: bool = False
    backoffs: int = 0
    exponent: int = MIN_BE
    retries: int = 0
    wait: int = 0  # the event that ends its wait for an acknowledgement; 0: it waits for none
    is_passed_on: bool = False
    deaf_until: float = 0.0  # it sends, or is about to
    locked_until: float = 0.0  # it is at a frame


class Model:
    """One run of planned frames; the last node receives."""

    def __init__(self, planned: Planned, cca: str = AVERAGE) -> None:
        """The frames all have the first one's length."""
        scenario, frames = planned
        self.nodes = [Node(node.position or (0.0, 0.0)) for node in scenario.nodes]
        self.powers_mw = [[received_mw(math.dist(a.place, b.place)) for b in self.nodes] for a in self.nodes]
        self.receiver = len(self.nodes) - 1
        self.length = (frames[0].size + OVERHEAD_BYTES) * 8 / BITS_PER_SYMBOL
        self.cca, self.random = cca, Random(scenario.seed)
        self.air: list[Signal] = []
        self.events: list[tuple[float, int, str, int, Signal | None]] = []
        self.planned_events = 0
        self.counts = dict.fromkeys(COUNTS, 0.0)
        for frame in frames:
            self.plan(frame.at / SYMBOL, "come", frame.node)

    def plan(self, time: float, kind: str, node: int, signal: Signal | None = None) -> int:
        """Plan an event, and return its number."""
        self.planned_events += 1
        heapq.heappush(self.events, (time, self.planned_events, kind, node, signal))
        return self.planned_events

    def run(self) -> Mapping[str, float]:
        """Handle all events, and return the counts."""
        while self.events:
            now, number, kind, node, signal = heapq.heappop(self.events)
            if signal is not None:
                (self.start if kind == "start" else self.end)(signal)
            elif kind == "come":
                self.come(node, now)
            elif kind == "sense":
                self.sense(node, now)
            elif kind == "next":
                self.go_on(node, now)
            elif self.nodes[node].wait == number:
                self.miss(node, now)
        return self.counts

    def come(self, sender: int, now: float) -> None:
        """Queue a frame from above."""
        node = self.nodes[sender]
        self.counts["wanted"] += 1
        self.counts["offered"] += 1
        if len(node.queue) < QUEUE:
            node.queue.append(now)
            if not node.is_busy:
                self.go_on(sender, now)

    def go_on(self, sender: int, now: float) -> None:
        """Begin with the next frame."""
        node = self.nodes[sender]
        node.is_busy, node.retries, node.is_passed_on = bool(node.queue), 0, False
        if node.is_busy:
            self.contend(sender, now)

    def contend(self, sender: int, now: float) -> None:
        """Begin a try."""
        self.nodes[sender].backoffs, self.nodes[sender].exponent = 0, MIN_BE
        self.back_off(sender, now)

    def back_off(self, sender: int, now: float) -> None:
        """Wait a random number of unit backoffs, and the CCA."""
        units = self.random.randrange(2 ** self.nodes[sender].exponent)
        self.plan(now + units * UNIT_BACKOFF + CCA, "sense", sender)

    def sense(self, sender: int, now: float) -> None:
        """Send into a clear channel; otherwise back off again, or fail."""
        node = self.nodes[sender]
        if self.is_clear(sender, now):
            start = now + TURNAROUND
            node.deaf_until = start + self.length
            self.plan(start, "start", sender, Signal(start, node.deaf_until, sender, self.receiver))
            return
        node.backoffs += 1
        node.exponent = min(node.exponent + 1, MAX_BE)
        if node.backoffs <= MAX_BACKOFFS:
            self.back_off(sender, now)
        else:
            self.finish(sender, now, "access_failures")

    def is_clear(self, sender: int, now: float) -> bool:
        """Whether the power during the CCA that ends now was below the threshold."""
        since, power_mw = now - CCA, 0.0
        for frame in self.air:
            overlap = min(frame.end, now) - max(frame.start, since)
            if frame.sender != sender and overlap > 0:
                share = math.floor(SIXTEENTHS * overlap / CCA) / SIXTEENTHS if self.cca == AVERAGE else 1.0
                is_missed = self.cca == AT_END and frame.start < since and frame.end < now
                power_mw += 0.0 if is_missed else share * self.powers_mw[frame.sender][sender]
        return power_mw < 10 ** (CCA_DBM / 10)

    def start(self, signal: Signal) -> None:
        """Put it on the air; whoever listens, and is at no frame, is at this one."""
        self.air = [frame for frame in self.air if frame.end > signal.start - 2 * self.length]
        self.air.append(signal)
        self.counts["transmitted"] += 1
        for index, node in enumerate(self.nodes):
            if index != signal.sender and max(node.deaf_until, node.locked_until) <= signal.start:
                node.locked_until = signal.end
                signal.receivers.add(index)
        self.plan(signal.end, "end", signal.sender, signal)

    def end(self, signal: Signal) -> None:
        """Acknowledge a frame, whose sender begins to wait; or end the wait."""
        now, node = signal.end, self.nodes[signal.to]
        is_received = self.is_received(signal)
        if not signal.is_ack:
            self.nodes[signal.sender].wait = self.plan(now + ACK_WAIT, "miss", signal.sender)
            if is_received:
                self.acknowledge(signal)
        elif is_received and node.wait:
            node.wait = 0
            self.finish(signal.to, now + LIFS)

    def acknowledge(self, frame: Signal) -> None:
        """Pass the frame on once, and answer after the turnaround."""
        sender, start = self.nodes[frame.sender], frame.end + TURNAROUND
        self.counts["acknowledgements"] += 1
        if not sender.is_passed_on:
            sender.is_passed_on = True
            self.counts["received"] += 1
            self.counts["unicasts_received"] += 1
            self.counts["delay_s"] += (frame.end - sender.queue[0]) * SYMBOL / SECOND
        self.nodes[self.receiver].deaf_until = start + ACK
        self.plan(start, "start", self.receiver, Signal(start, start + ACK, self.receiver, frame.sender, is_ack=True))

    def miss(self, sender: int, now: float) -> None:
        """Send the frame again, or let it fail."""
        node = self.nodes[sender]
        node.wait = 0
        if node.retries == MAX_RETRIES:
            self.finish(sender, now, "unacknowledged")
        else:
            node.retries += 1
            self.counts["retransmissions"] += 1
            self.contend(sender, now)

    def finish(self, sender: int, next_at: float, failure: str | None = None) -> None:
        """Take the frame off the queue."""
        self.nodes[sender].queue.popleft()
        if failure:
            self.counts[failure] += 1
        self.plan(next_at, "next", sender)

    def is_received(self, signal: Signal) -> bool:
        """Draw the bit errors of each stretch of the signal with the same others on the air."""
        if signal.to not in signal.receivers or self.nodes[signal.to].deaf_until > signal.start:
            return False
        others = [
            frame for frame in self.air if frame is not signal and frame.start < signal.end and frame.end > signal.start
        ]
        edges = {signal.start, signal.end, *(time for other in others for time in (other.start, other.end))}
        times = sorted(time for time in edges if signal.start <= time <= signal.end)
        survival = 1.0
        for since, until in pairwise(times):
            present = [other.sender for other in others if other.start <= since and other.end >= until]
            disturbing_mw = 10 ** (NOISE_DBM / 10) + sum(self.powers_mw[other][signal.to] for other in present)
            rate = bit_error_rate(self.powers_mw[signal.sender][signal.to] / disturbing_mw)
            survival *= (1 - rate) ** ((until - since) * BITS_PER_SYMBOL)
        return self.random.random() < survival


def received_mw(distance_m: float) -> float:
    """The power of a signal sent with 1 mW."""
    return float(10 ** (-(FIRST_METRE_DB + DB_PER_DECADE * math.log10(max(distance_m, 1.0))) / 10))


@lru_cache(maxsize=1 << 16)
def bit_error_rate(ratio: float) -> float:
    """O-QPSK of the standard's annex E.4.1.8 over signal / (interference + noise)."""
    terms = ((-1) ** k * math.comb(16, k) * math.exp(20 * ratio * (1 / k - 1)) for k in range(2, 17))
    return max(0.0, float(sum(terms)) / 30)


def on_model(senders: int, seed: int, cca: str = AVERAGE) -> Mapping[str, float]:
    """The counts of one run of the saturated scenario."""
    return Model(saturated(senders, seed), cca).run()


def z_scores(simulator: Sequence[Mapping[str, float]], model: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Each metric's difference of means in standard errors; infinite for different constants."""
    return {
        name: _z(*([metric(row) for row in rows] for rows in (simulator, model))) for name, metric in METRICS.items()
    }


def _z(first: Sequence[float], second: Sequence[float]) -> float:
    difference = fmean(first) - fmean(second)
    error = math.sqrt(variance(first) / len(first) + variance(second) / len(second))
    return difference / error if error else math.copysign(math.inf, difference) if difference else 0.0


def published(senders: int, frames_per_s: float = 400.0) -> dict[str, float]:
    """The metrics of the published chain, by fixed point; its time step is the unit backoff."""
    length = (BYTES + OVERHEAD_BYTES) * 8 / BITS_PER_SYMBOL
    busy, collided, served = 0.5, 0.1, 0.0
    windows = [2 ** min(MIN_BE + i, MAX_BE) for i in range(MAX_BACKOFFS + 1)]
    for _ in range(2000):
        finds = 1 - busy ** len(windows)  # the chance that a try finds a clear channel
        tries = sum((collided * finds) ** j for j in range(MAX_RETRIES + 1))
        sensing = sum(busy**i * ((w - 1) / 2 * UNIT_BACKOFF + CCA) for i, w in enumerate(windows))
        waiting = (1 - collided) * (TURNAROUND + ACK + LIFS) + collided * ACK_WAIT
        service = tries * (sensing + finds * (TURNAROUND + length + waiting)) / UNIT_BACKOFF
        load = frames_per_s / senders * service * UNIT_BACKOFF * SYMBOL / SECOND
        served = min(1.0, 1 / load)
        senses = min(1.0, load) * tries * sum(busy**i for i in range(len(windows))) / service
        other, any_one = 1 - (1 - senses) ** (senders - 1), 1 - (1 - senses) ** senders
        alone = senders * senses * (1 - senses) ** (senders - 1) / any_one
        busy += 0.1 * (other * (1 - busy) * (length + ACK * alone) / UNIT_BACKOFF - busy)
        collided += 0.1 * (other - collided)
    lost, unacknowledged = served * (1 - finds) * tries, served * (collided * finds) ** (MAX_RETRIES + 1)
    received = served - lost - unacknowledged
    return {
        "received": received,
        "throughput, 1/s": received * frames_per_s,
        "sent": served * finds * tries,
        "not acknowledged": unacknowledged,
        "access failures": lost,
    }


def table(path: Path, seeds: int) -> Iterator[list[str]]:
    """For each number of senders and source, the means of all metrics."""
    yield ["senders", "source", *METRICS]
    groups = read_groups(path)
    for senders in SENDERS:
        sources: dict[str, Sequence[Mapping[str, float]]] = {"ns-3": groups[SCENARIO, senders]}
        sources["embedded"] = [on_radio(SCENARIO, senders, seed) for seed in range(seeds)]
        sources |= {f"model, CCA {cca}": [on_model(senders, seed, cca) for seed in range(seeds)] for cca in CCAS}
        for source, rows in sources.items():
            means = [fmean(metric(row) for row in rows) for metric in METRICS.values()]
            yield [str(senders), source, *(f"{mean:.4g}" for mean in means)]
        for simulator, cca in (("embedded", AVERAGE), ("ns-3", AT_END)):
            scores = z_scores(sources[simulator], sources[f"model, CCA {cca}"])
            yield [str(senders), f"z of {simulator}, CCA {cca}", *(f"{score:.2f}" for score in scores.values())]
        chain = published(senders)
        yield [str(senders), "Park et al. 2009", *(f"{chain[name]:.4g}" if name in chain else "" for name in METRICS)]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.csma_ca_model", description=__doc__)
    parser.add_argument("folder", metavar="DIR", type=Path)
    parser.add_argument("--seeds", type=int, default=8)
    asked = parser.parse_args(arguments)
    for row in table(asked.folder / FILE, asked.seeds):
        print(",".join(f'"{cell}"' if "," in cell else cell for cell in row), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
