"""Results of sweeps as DataFrames, for notebooks and scripts: docs/compare.md.

import roambus

results = roambus.results("results/thesis")
results.points("messages_per_node", against="speed", where={"config": "C16"})
results.paired("messages_per_node", "mft", "aodv", against="speed")
"""

from roambus.bridge.errors import RoambusError, UserError
from roambus.frames import Results, results

__all__ = ["Results", "RoambusError", "UserError", "results"]
