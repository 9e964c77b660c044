"""The scenario of a run: all that a rendered ini says, as typed classes that declare their keys.

- `definition`: the scenario as a whole, and the workload.
- `network`, `radio`, `nodes` and `ideal`: parts that mirror or replace modules of Castalia, with their ini keys.
- `plans`: changes of links, nodes and tree places, and their notation.
- `faults` and `tree`: checks of plans, and the resulting outages, absences, links and places.
"""
