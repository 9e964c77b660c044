"""Live runs: agents on real sockets, in real time, a process for each node.

- `frames`: what is in a datagram, and which datagrams are taken.
- `links`: which of them would have arrived on the air.
- `air`: the back-end of one node, driven by a wall clock.
- `journal`: what happened at a node, in a file that outlives its process.
- `node`: the process of a node, which does what a conductor asks.
- `conductor`: has all nodes run at once, and makes one trace of what they did.
- `local` and `machines`: where the nodes are.
"""
