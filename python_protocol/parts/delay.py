"""How long to wait for something whose delay varies, estimated as RFC 6298 estimates round-trip times.

Mean and mean deviation follow the samples, each at its own pace; what is waited for hardly ever takes longer than the
mean and four deviations.
"""

from __future__ import annotations

from roambus.python_protocol.simtime import SimTime

_MEAN_GAIN, _DEVIATION_GAIN, _DEVIATIONS = 1 / 8, 1 / 4, 4


class DelayEstimate:
    """Mean and mean deviation of a delay in ns, each following its samples (RFC 6298, section 2.3)."""

    def __init__(self, mean: float, deviation: float) -> None:
        self._mean = mean
        self._deviation = deviation

    def sample(self, delay: SimTime) -> None:
        """The delay was measured once more."""
        error = delay - self._mean
        self._mean += _MEAN_GAIN * error
        self._deviation += _DEVIATION_GAIN * (abs(error) - self._deviation)

    def bound(self) -> float:
        """The time that the delay will hardly exceed: mean plus four deviations."""
        return self._mean + _DEVIATIONS * self._deviation
