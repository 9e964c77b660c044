"""Everything between a simulator and the agents.

`keys` declares ini keys, `ini` reads them into the classes of `scenario`. `host` drives agents over one of the
`backends`; `wire` is the protocol with a simulator in another process, `record` stores it. `trace` records events,
`runs` makes runs, `transcript` runs hand-written scenarios, `agents` finds agent classes, `errors` defines exit codes,
`files` handles files.
"""

if __name__ != "roambus.bridge":
    raise ImportError("bridge is a part of roambus: import roambus.bridge")
