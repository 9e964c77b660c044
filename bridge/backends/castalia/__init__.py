"""The `castalia` back-end is real Castalia on OMNeT++, with which the host speaks over a socket (docs/bridge.md).

`backend` has the phases, and `lookahead` what is known of the time after a Step. `channel` chooses what carries the
messages: ZeroMQ, which is `connection`, or a plain socket, which is `local`, with `frames` on it. `endpoint` has the
address, `curve` its keys, and `guard` shows strangers out. `simulators` says how a simulator comes to the host, of
which `child` is one that we start and `rundir` what it finds in the run's folder. `installation` finds Castalia,
`releases` knows which OMNeT++ were tried, `cores` gives both sides one core of the machine, `files` names what they
leave, and `factory` makes the back-end.
"""
