"""How good the links to the neighbours are, estimated from the signals of the heartbeats that were heard.

The models are ETX (De Couto et al., 2003) and the four-bit link estimator (Fonseca et al., 2007): a link is worth the
transmissions that a frame is expected to take over it. The ratio of frames that arrive takes many frames to be known,
and where nodes move at 8 m/s a link lasts for a few heartbeats. So it is computed from mean and deviation of the
signal, each following its samples: it is the probability that a signal is strong enough.

A heartbeat that does not come counts as one at the lower end of what the link has shown, but at the sensitivity of the
radio at least. Where nodes move the signal varies, and three that are missed make the link a bad one. Where nothing
moves it does not vary, and what is missed has collided.
"""

from __future__ import annotations

from math import erf, sqrt

from roambus.python_protocol.roles import NodeId

_GAIN = 1 / 3
"""Of the moving means: a link of 20 m is over after 2 or 3 s between nodes that pass each other at 8 m/s."""
_SHADOWING_DB = 4.0
"""The deviation of a link of which nothing is known: that of log-normal shadowing (Zuniga and Krishnamachari, 2004)."""
_LEAST_DEVIATION_DB = 1.0
"""That of a link that does not vary: over about this range a frame goes from being lost to being received."""
_DEVIATIONS = 4
"""A signal hardly ever is weaker by more of them than the mean (as in RFC 6298)."""
_NEEDED_DBM = -90.5
"""A CC2420 loses a tenth of the frames of 127 bytes at this signal, 9.5 dB over its noise floor."""
_UNHEARD_DBM = -95.0
"""The sensitivity of a CC2420: what is weaker is not heard at all."""
MOST_TRANSMISSIONS = 16.0
"""What the worst link is worth."""


class LinkEstimator:
    """The links of one node, by neighbour."""

    def __init__(self) -> None:
        """No neighbour is known."""
        self._links: dict[NodeId, _Signal] = {}
        self._silent: dict[NodeId, None] = {}

    def heard(self, neighbour: NodeId, rssi_dbm: float) -> None:
        """A heartbeat has arrived; a neighbour that was unknown counted as unheard before."""
        self._silent.pop(neighbour, None)
        self._links.setdefault(neighbour, _Signal()).sample(rssi_dbm)

    def end_round(self) -> None:
        """Whoever was not heard since the last call has missed a heartbeat; whoever is hardly heard is forgotten."""
        for neighbour in self._silent:
            self._links[neighbour].miss()
        self._links = {one: link for one, link in self._links.items() if link.mean > _UNHEARD_DBM + _LEAST_DEVIATION_DB}
        self._silent = dict.fromkeys(self._links)

    def transmissions(self, neighbour: NodeId) -> float:
        """How many transmissions a frame is expected to take to a neighbour."""
        link = self._links.get(neighbour)
        probability = 0.0 if link is None else link.probability()
        return min(1 / max(probability, 1 / MOST_TRANSMISSIONS), MOST_TRANSMISSIONS)


class _Signal:
    """The signal from one neighbour, in dBm and dB."""

    def __init__(self) -> None:
        self.mean = _UNHEARD_DBM
        self.deviation = _SHADOWING_DB

    def sample(self, rssi_dbm: float) -> None:
        error = rssi_dbm - self.mean
        self.mean += _GAIN * error
        self.deviation += _GAIN * (abs(error) - self.deviation)

    def miss(self) -> None:
        self.mean += _GAIN * (max(_UNHEARD_DBM, self.mean - _DEVIATIONS * self.deviation) - self.mean)

    def probability(self) -> float:
        """That a signal is as strong as it is needed."""
        deviation = max(self.deviation, _LEAST_DEVIATION_DB)
        return (1 + erf((self.mean - _NEEDED_DBM) / (deviation * sqrt(2)))) / 2
