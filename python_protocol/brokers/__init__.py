"""What the protocols of the broker family share, which are those of the thesis and of the paper on caching.

| chapter  | holds                                                                                       |
|----------|---------------------------------------------------------------------------------------------|
| `agent`  | a protocol on a node: tree, link, broker and client put together; the tree of a scenario      |
| `broker` | a broker with its interfaces; shared messages and parameters, the routing table and the queues |
| `client` | a client: its broker, its filters, and what it could not publish yet                          |
"""
