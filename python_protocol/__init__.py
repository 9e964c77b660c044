"""Protocol agents, and the parts that they share.

An agent is a deterministic state machine without I/O: it is told events and answers with actions
(`roambus.python_protocol.agent`). It imports nothing of what runs it, so it runs without simulator, Spark and files.

| chapter       | holds                                                                                   |
|---------------|-----------------------------------------------------------------------------------------|
| `agent`       | how a protocol is written: processes, handlers, and the agent of a node                 |
| `events`      | what an agent is told                                                                   |
| `actions`     | what an agent can do, and the names of the rows in the trace                            |
| `vocabulary`  | nodes, their roles, and time                                                            |
| `filters`     | notifications, and the filters that select them                                         |
| `settings`    | what can be set, of an agent or of a run: kinds, units, bounds and meanings             |
| `messages/`   | what nodes send each other: typed fields, and all that follows from them                |
| `aodv/`       | AODV, with a layer for publish/subscribe                                                |
| `mft/`        | MFT-PubSub                                                                              |
| `brokers/`    | what the protocols with brokers share                                                   |
| `parts/`      | the link layer and the tree of brokers                                                  |
| `baselines`   | flooding, gossip, and beacons                                                           |
| `papers/`     | the protocols of other papers                                                           |
"""

if __name__ != "roambus.python_protocol":
    raise ImportError("python_protocol is a part of roambus: import roambus.python_protocol")
