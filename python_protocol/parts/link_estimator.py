"""How good the links to the neighbours are, estimated from the signals of the heartbeats that were heard.

The models are ETX (De Couto et al., 2003) and the four-bit link estimator (Fonseca et al., 2007): a link is worth the
transmissions that a frame is expected to take over it. The ratio of frames that arrive takes many frames to be known,
and where nodes move at 8 m/s a link lasts for a few heartbeats. So it is computed from mean and deviation of the
signal, each following its samples: it is the probability that a signal is strong enough.

A heartbeat that does not come counts as one at the lower end of what the link has shown, but at the sensitivity of the
radio at least. Where nodes move the signal varies, and three that are missed make the link a bad one. Where nothing
moves it does not vary, and what is missed has collided, or is one of those that a link at the edge of range loses. So
only what is heard tells how a signal varies: if what is missed did, each miss would have the next one count for more.
"""

from __future__ import annotations

from math import erf, hypot, sqrt

from roambus.python_protocol.roles import NodeId

_GAIN = 1 / 3
"""Of the moving means: a link of 20 m is over after 2 or 3 s between nodes that pass each other at 8 m/s."""
_SHADOWING_DB = 4.0
"""The deviation of a link of which nothing is known: that of log-normal shadowing (Zuniga and Krishnamachari, 2004)."""
_WIDTH_DB = 1.0
"""Over about this range a frame goes from being lost to being received."""
_DEVIATIONS = 4
"""A signal hardly ever is weaker by more of them than the mean (as in RFC 6298)."""
_NEEDED_DBM = -91.8
"""A CC2420 loses half of the frames of 127 bytes at this signal, 8.2 dB over its noise floor."""
_UNHEARD_DBM = -95.0
"""The sensitivity of a CC2420: what is weaker is not heard at all."""
_SILENT = 2
"""Whoever has missed more rounds in a row is gone if the link layer says so, too (RFC 3561, section 10)."""
MOST_TRANSMISSIONS = 16
"""What the worst link is worth, over which one frame of so many arrives."""


class LinkEstimator:
    """The links of one node, by neighbour."""

    def __init__(self) -> None:
        """No neighbour is known."""
        self._links: dict[NodeId, _Signal] = {}

    def heard(self, neighbour: NodeId, rssi_dbm: float) -> None:
        """A heartbeat has arrived; a neighbour that was unknown counted as unheard before."""
        self._links.setdefault(neighbour, _Signal()).sample(rssi_dbm)

    def end_round(self) -> None:
        """Whoever was not heard since the last call has missed a heartbeat; whoever is hardly heard is forgotten."""
        for link in self._links.values():
            link.end_round()
        self._links = {one: link for one, link in self._links.items() if link.missed < MOST_TRANSMISSIONS}

    def failed(self, neighbour: NodeId) -> bool:
        """The link layer has given a neighbour up: whether it was heard lately all the same."""
        link = self._links.get(neighbour)
        if link is None or link.missed > _SILENT:
            return False
        link.failures += 1
        return True

    def transmissions(self, neighbour: NodeId) -> float:
        """How many transmissions a frame is expected to take to a neighbour."""
        link = self._links.get(neighbour)
        if link is None:
            return MOST_TRANSMISSIONS
        return min(1 / max(link.probability(), 1 / MOST_TRANSMISSIONS) + link.failures, MOST_TRANSMISSIONS)


class _Signal:
    """The signal from one neighbour, in dBm and dB."""

    def __init__(self) -> None:
        self.missed = 0
        """The rounds in a row in which nothing was heard."""
        self.failures = 0.0
        """How often it was given up lately; each counts as a transmission more, which alone moves nobody."""
        self._is_heard = False
        self._mean = _UNHEARD_DBM
        """Of what was heard and what was missed."""
        self._shown = _UNHEARD_DBM
        """The mean of what was heard, and the deviation from it: what is missed shows nothing of how it varies."""
        self._deviation = _SHADOWING_DB

    def sample(self, rssi_dbm: float) -> None:
        error = rssi_dbm - self._shown
        self._shown += _GAIN * error
        self._deviation += _GAIN * (abs(error) - self._deviation)
        self._mean += _GAIN * (rssi_dbm - self._mean)
        self._is_heard = True

    def end_round(self) -> None:
        self.missed = 0 if self._is_heard else self.missed + 1
        self._is_heard = False
        self.failures *= 1 - _GAIN
        if self.missed:
            lowest = max(_UNHEARD_DBM, self._shown - _DEVIATIONS * self._deviation)
            self._mean += _GAIN * (min(lowest, self._mean) - self._mean)

    def probability(self) -> float:
        """That a frame arrives: that the signal, which varies, is stronger than needed, which varies a little, too."""
        deviation = hypot(self._deviation, _WIDTH_DB)
        return (1 + erf((self._mean - _NEEDED_DBM) / (deviation * sqrt(2)))) / 2
