"""Protocol agents, and the parts that they share.

An agent is a deterministic state machine without I/O: events in, actions out (`roambus.python_protocol.agent`). Nothing
here imports a simulator, Spark or files.

`messages/`, `vocabulary`, `filters`, `settings`, `events`, `actions` and `agent` are the language of every protocol,
`parts/` and `brokers/` its building blocks. `aodv/` and `mft/` are AODV with publish/subscribe and MFT-PubSub, `lean/`
MFT-PubSub without its tree, `opportunistic/` epidemic routing, spray and wait and PRoPHET, `routing/` DSDV, OLSR, DSR
and GPSR; `baselines` has flooding, gossip and beacons, `papers/` the protocols of other papers.
"""

if __name__ != "roambus.python_protocol":
    raise ImportError("python_protocol is a part of roambus: import roambus.python_protocol")
