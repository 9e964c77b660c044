"""Everything between a simulator and the agents: it reads the ini, drives the agents, and carries their messages.

`keys` declares how a key of the ini is read, `scenario` has what an ini says as typed classes, and `ini` reads it from
files. `host` drives the agents of a run over one of the `backends`. `wire` is the language between the host and a
simulator in another process, and `record` keeps what is said in it. `trace` writes down what happens, `runs` makes
whole runs with their folders, `transcript` runs scenarios that people write by hand, and `agents` finds the agent's
class. `errors` says how a command ends, and `files` how files are read and written.
"""

if __name__ != "roambus.bridge":
    raise ImportError("bridge is a part of roambus: import roambus.bridge")
