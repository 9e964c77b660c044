"""Live runs: agents on real sockets, in real time, a process for each node.

- `frames`: datagrams and their checks.
- `links`: frames that would have arrived on the air.
- `air`: a node's back-end, on a wall clock.
- `journal`: a node's rows, which outlive its process.
- `node`: a node's process.
- `conductor`: runs all nodes and collects one trace.
- `local` and `machines`: the nodes' places.
"""
