"""The `castalia` back-end is real Castalia on OMNeT++, with which the host speaks over ZeroMQ (docs/bridge.md).

`backend` has the phases, `connection` the socket, `endpoint` its address, `curve` its keys, and `guard` shows strangers
out. `simulators` says how a simulator comes to the host, of which `child` is one that we start and `rundir` what it
finds in the run's folder. `installation` finds Castalia, `cores` gives both sides one core of the machine, `files`
names what they leave, and `factory` makes the back-end.
"""
