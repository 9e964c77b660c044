"""The `castalia` back-end: real Castalia on OMNeT++ over a socket (docs/reference/bridge.md).

- `backend`: the run's phases, fewer round trips, and the factories.
- `simulators`: a started or awaited simulator, and its files in the run's folder.
- `zeromq`: the transport; the address, its keys and its token.
- `installation`: finds OMNeT++, Castalia and our modules, and builds these.
"""
