"""Live runs: agents on real sockets, in real time, a process for each node.

`conductor` runs all nodes (`node`), whose places are in `local` or `machines`, and collects one trace from their files
(`journal`). `udp_backend` is a node's back-end, on a wall clock; `frames` checks datagrams, and `links` selects those
that would have arrived on the air. A `receiver` has a node's place, a `driver` moves it.
"""
