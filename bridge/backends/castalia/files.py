"""What a run with a simulator has beside its ini."""

SIMULATOR_LOG = "simulator.log"
"""What the simulator printed."""

SIMULATOR_FOLDER = ".roambus"
"""What the simulator needs; it is there only while the host waits or runs."""
