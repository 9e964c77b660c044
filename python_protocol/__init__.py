"""Protocol agents, and the parts they share.

An agent is a deterministic state machine without I/O: events in, actions out (see `roambus.python_protocol.agent`).
"""
