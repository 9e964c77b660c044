"""Everything between a simulator and the agents.

`keys` declares how ini keys are read, `scenario` holds an ini as typed classes, `ini` reads it. `host` drives the
agents over one of the `backends`. `wire` is the protocol with a simulator in another process; `record` stores that
exchange. `trace` records events, `runs` makes runs with their folders, `transcript` runs hand-written scenarios,
`agents` finds the agent's class. `errors` defines exit codes, `files` reads and writes files.
"""

if __name__ != "roambus.bridge":
    raise ImportError("bridge is a part of roambus: import roambus.bridge")
