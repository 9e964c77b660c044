"""Protocol agents, and the parts that they share.

An agent is a deterministic state machine without I/O: it is told events and answers with actions
(`roambus.python_protocol.agent`).
"""
