"""The scenario of a run: all that a rendered ini says, as typed classes that declare their keys.

- `definition`: the scenario and the workload.
- `network`, `radio`, `nodes` and `ideal`: counterparts of Castalia's modules, with their ini keys.
- `plans`: changes of links, nodes and tree places.
- `faults` and `tree`: checks of plans, and the resulting outages, absences, links and places.
"""
