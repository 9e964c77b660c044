"""What the metadata of a trace's file tell of its run, beside the run's key (`roambus.bridge.runs.identity`)."""

from __future__ import annotations

WARM_UP = "roambus.warm_up_s"
"""The name of the time (s) before which nothing counts in metrics; without it all counts."""
