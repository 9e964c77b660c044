"""Agents, and what they are made of; this part imports nothing of the others.

`messages/`, `roles`, `simtime`, `trace_rows`, `filters`, `settings`, `events`, `actions` and `agent` are the language
of every protocol; `parts/` are the link, the election and others that protocols share; `brokers/` is what broker
protocols share. `mft/` is MFT-PubSub, `aodv/` is AODV, and `baselines` has flooding, gossip and beacons.
"""

if __name__ != "roambus.python_protocol":
    raise ImportError("python_protocol is a part of roambus: import roambus.python_protocol")
