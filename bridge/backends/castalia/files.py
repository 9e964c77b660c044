"""What a run with a simulator has beside its ini."""

INI_FILE = "run.ini"
"""The run, as Castalia reads it."""

SIMULATOR_LOG = "simulator.log"
"""What the simulator printed."""

SIMULATOR_FOLDER = ".roambus"
"""What the simulator needs; it is there only while the host waits or runs."""
