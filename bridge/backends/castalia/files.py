"""The files that a run with a simulator has in its folder."""

INI_FILE = "run.ini"
"""The run's ini, which Castalia reads."""

SIMULATOR_LOG = "simulator.log"
"""The log of what the simulator printed."""

SIMULATOR_FOLDER = ".roambus"
"""The folder of what the simulator needs, which is there only while the host waits or runs."""
