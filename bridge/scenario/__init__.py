"""The scenario of a run: all that a rendered ini says, as typed classes that declare their keys.

`definition` has the scenario and the workload; `network`, `radio`, `mac`, `nodes` and `ideal` its parts, with their ini
keys. `plans` reads timed changes; `faults` and `tree` check them and derive outages, absences, links and places.
"""
