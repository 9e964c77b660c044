"""Protocol agents, and the parts that they share.

An agent is a deterministic state machine without I/O: events in, actions out (`roambus.python_protocol.agent`). Nothing
here imports a simulator, Spark or files.

| module           | holds                                                           |
|------------------|-----------------------------------------------------------------|
| `messages/`      | typed fields, their bytes and their notation                    |
| `vocabulary`     | nodes, roles, time, and the rows of a trace                     |
| `filters`        | notifications, and the filters that select them                 |
| `settings`       | declared parameters: kinds, units, bounds and meanings          |
| `events`         | the events of an agent                                          |
| `actions`        | the actions of an agent                                         |
| `agent`          | processes, handlers, and the agent of a node                    |
| `parts/`         | the link layer, the election, digests                           |
| `brokers/`       | the parts that protocols with brokers share                     |
| `aodv/`, `mft/`  | AODV with publish/subscribe, and MFT-PubSub                     |
| `baselines`      | flooding, gossip, gossip with repair, and beacons               |
| `lean/`          | MFT-PubSub without its tree                                     |
| `opportunistic/` | epidemic routing, spray and wait, PRoPHET                       |
| `papers/`        | the protocols of other papers                                   |
"""

if __name__ != "roambus.python_protocol":
    raise ImportError("python_protocol is a part of roambus: import roambus.python_protocol")
