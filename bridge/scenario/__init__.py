"""The scenario of a run: all that a rendered ini says, as typed classes that declare their keys.

`definition` has the scenario, the network and the workload; `radio`, `mac`, `nodes` and `ideal` its parts, with their
ini keys. `plans` reads timed changes; `tree` checks them and derives outages, absences, links and places.
"""
