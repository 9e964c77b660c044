"""Protocol agents, and the parts they share.

An agent is a deterministic state machine without I/O: events in, actions out (see `python_protocol.agent`).
"""
