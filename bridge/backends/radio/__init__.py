"""The embedded radio: CC2420, CSMA, mobility and energy, with a compiled inner loop."""

from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.backends.radio.traffic import PoissonSources

__all__ = ["PoissonSources", "RadioBackend"]
