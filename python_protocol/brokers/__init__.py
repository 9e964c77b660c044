"""The parts that the protocols with brokers share: those of the thesis and of the paper on caching.

| module   | holds                                                                      |
|----------|----------------------------------------------------------------------------|
| `agent`  | tree, link, broker and client put together on a node; a scenario's tree    |
| `broker` | interfaces, shared messages and parameters, the routing table, the queues  |
| `client` | a client: its broker, its filters, and notifications that wait for one     |
"""
