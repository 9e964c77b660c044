"""The wait before a packet is repeated: a random number of slots from a window that the SNR chooses.

A packet with a low SNR comes from far away, and its receiver covers more new ground than one near the sender. So the
window grows with the SNR, in powers of two for clients, and those far away mostly repeat first. Routers draw from a
short window, and clients wait until it is over. In a slot a node can find out that another one has begun. It has the
symbols of a channel activity detection, the way there and back, and the turn from receiving to sending.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from random import Random

from roambus.python_protocol.simtime import MICROSECOND, MILLISECOND, SimTime

CAD_SYMBOLS = 2.5
"""Two symbols for the detection, and half a symbol to fall into step with it."""
PROPAGATION, TURNAROUND, PROCESSING = 200 * MICROSECOND, 400 * MICROSECOND, 7 * MILLISECOND
"""There and back over 30 km; from receiving to sending; of the MAC."""


def slot_time(symbol: SimTime) -> SimTime:
    """Return a slot's ns for a symbol's ns, in whole milliseconds, as the nodes' clocks count them."""
    exact = round(CAD_SYMBOLS * symbol) + PROPAGATION + TURNAROUND + PROCESSING
    return exact // MILLISECOND * MILLISECOND


@dataclass(frozen=True, slots=True)
class Window:
    """The windows of a node: their sizes as exponents of two, and the SNRs (dB) of the least and the greatest."""

    least: int
    greatest: int
    least_snr: int
    greatest_snr: int

    def exponent(self, snr_db: float) -> int:
        """Return the exponent at an SNR: linear in whole dB, cut towards 0; an unmeasured SNR has the greatest."""
        if isnan(snr_db) or snr_db >= self.greatest_snr:
            return self.greatest
        above = max(int(snr_db) - self.least_snr, 0)
        return self.least + above * (self.greatest - self.least) // (self.greatest_snr - self.least_snr)

    def router_slots(self, snr_db: float, random: Random) -> int:
        """Draw the slots that a router waits: fewer than twice the exponent."""
        return random.randrange(2 * self.exponent(snr_db))

    def client_slots(self, snr_db: float, random: Random) -> int:
        """Draw the slots that a client waits, not counting the window of routers."""
        return random.randrange(2 ** self.exponent(snr_db))

    @property
    def routers_end(self) -> int:
        """The slots after which every router has begun to send."""
        return 2 * self.greatest
