"""The `castalia` back-end is real Castalia on OMNeT++, connected by a socket (docs/reference/bridge.md).

- `backend`: the phases of a run, what saves round trips, and the factories.
- `simulators`: a simulator that we start, or that somebody starts by hand, and what it finds in the run's folder.
- `endpoint`: the address, its keys and its token.
- `zeromq` and `local`: what carries the messages, over ZeroMQ or a plain Unix socket.
- `installation`: where OMNeT++, Castalia and our modules are, and how the modules are built.
"""
