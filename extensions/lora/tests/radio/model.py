"""A second model of the reception, written from the page: whole schedules at once, by instants and sums in milliwatts.

Nothing of the radio is imported but its matrix of SIRs, which is data. It returns for each receiver the frames that it
receives, and what became of all signals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf, log10

from roambus.extensions.lora.radio.reception import SIR_DB
from roambus.extensions.lora.radio.settings import LoRa
from roambus.extensions.lora.tests.radio.runs import BACK, NOISE_DBM, TURNAROUND
from roambus.python_protocol.roles import NodeId


@dataclass(frozen=True)
class Shot:
    """A frame on the air."""

    sender: NodeId
    factor: int
    start: int
    end: int
    symbol: int
    law: LoRa

    @property
    def needed(self) -> int:
        """When the part begins that receivers need."""
        return self.start + (self.law.preamble - self.law.needed) * self.symbol

    @property
    def header(self) -> int:
        """When the preamble is over."""
        return self.start + (4 * self.law.preamble + 17) * self.symbol // 4


PowerOf = Callable[[Shot, NodeId], float | None]
"""A frame's power at a node; None if it does not reach it."""


@dataclass
class Signal:
    """A frame at a receiver."""

    shot: Shot
    power: float
    is_heard: bool = True
    """Whether it has not been counted as failed."""
    is_drowned: bool = False
    is_alone: bool = True


@dataclass
class Receiver:
    """A node's share of a schedule."""

    node: NodeId
    law: LoRa
    shots: list[Shot]
    power_of: PowerOf
    noise_dbm: float = NOISE_DBM
    counts: Counter[str] = field(default_factory=Counter)

    def received(self) -> list[Shot]:
        """Return the frames received."""
        signals = [
            Signal(shot, power)
            for shot in sorted(self.shots, key=lambda shot: shot.start)
            if shot.sender != self.node and (power := self.power_of(shot, self.node)) is not None
        ]
        for place, signal in enumerate(signals):
            self._begin(signal, signals[:place])
        for signal in signals:
            self._interfere(signal, [other for other in signals if other is not signal])
        for signal in signals:
            self._finish(signal)
        return [signal.shot for signal in signals if signal.is_heard and not signal.is_drowned]

    def _fail(self, signal: Signal, why: str) -> None:
        signal.is_heard = False
        self.counts[why] += 1

    def _is_away(self, start: int, end: int) -> bool:
        """Whether the node is not in RX in some of this time."""
        own = [shot for shot in self.shots if shot.sender == self.node]
        return any(shot.start - TURNAROUND < end and start < shot.end + BACK for shot in own)

    def _is_gateway(self) -> bool:
        return self.node in self.law.gateways

    def _begin(self, signal: Signal, before: list[Signal]) -> None:
        shot = signal.shot
        if self._is_away(shot.start, shot.start + 1):
            self._fail(signal, "fail_nonrx")
        elif self._own_factor() not in (0, shot.factor) or signal.power - self.noise_dbm < -7.5 - 2.5 * (
            shot.factor - 7
        ):
            self._fail(signal, "fail_sens")
        else:
            self._take_demodulator(signal, before)

    def _own_factor(self) -> int:
        """The spreading factor to which the node listens; 0: to all."""
        return 0 if self._is_gateway() else self.law.factors[self.node % len(self.law.factors)]

    def _take_demodulator(self, signal: Signal, before: list[Signal]) -> None:
        shot = signal.shot
        holders = [
            other
            for other in before
            if other.is_heard and other.shot.end > shot.needed and not self._is_away(other.shot.start, shot.start + 1)
        ]
        if len(holders) < (self.law.demodulators if self._is_gateway() else 1):
            return
        for other in holders:
            in_time = self.law.relocks or shot.start < other.shot.header
            if other.shot.factor == shot.factor and in_time and signal.power - other.power >= self.law.capture_db:
                self._fail(other, "fail_interf")
                return
        self._fail(signal, "fail_interf")

    def _interfere(self, signal: Signal, others: list[Signal]) -> None:
        """Look at each instant at which something changes in the part of the frame that is needed."""
        shot = signal.shot
        marks = {mark for other in others for mark in (other.shot.start, other.shot.end, other.shot.needed)}
        for at in {mark for mark in marks if shot.needed < mark < shot.end} | {shot.needed}:
            by_factor: dict[int, list[float]] = {}
            for other in others:
                since = other.shot.start if self.law.preamble_harms else other.shot.needed
                if since <= at < other.shot.end:
                    by_factor.setdefault(other.shot.factor, []).append(other.power)
            for factor, powers in by_factor.items():
                signal.is_alone = False
                strength = 10 * log10(sum(10 ** (p / 10) for p in powers)) if self.law.adds_up else max(powers)
                if signal.power - strength < self._least(shot.factor, factor) - 1e-9:
                    signal.is_drowned = True

    def _least(self, own: int, other: int) -> float:
        if own == other:
            return self.law.capture_db
        return float(SIR_DB[(own - 7) * 6 + other - 7]) if self.law.is_imperfect else -inf

    def _finish(self, signal: Signal) -> None:
        if not signal.is_heard:
            return
        if self._is_away(signal.shot.start, signal.shot.end):
            self._fail(signal, "fail_nonrx")
        elif signal.is_drowned:
            self.counts["fail_interf"] += 1
        else:
            self.counts["rx_no_interf" if signal.is_alone else "rx_despite"] += 1
