"""Live runs: agents on real sockets, in real time, a process for each node.

- `frames`: datagrams and which of them a node takes.
- `links`: which frames would have arrived on the air.
- `air`: the back-end of one node, on a wall clock.
- `journal`: a node's rows, in a file that outlives its process.
- `node`: the process of a node.
- `conductor`: runs all nodes and collects one trace.
- `local` and `machines`: where the nodes are.
"""
