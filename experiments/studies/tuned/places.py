"""Where the study cuts through its sweeps."""

CONFIG, SPEED = "config", "speed"
"""The axes: sizes, and speeds in m/s."""
LARGEST, CUT_SPEED = "C32", "8"
"""The size of figures over speed, and the speed (m/s) of those over size, which is that of the thesis' figures."""
