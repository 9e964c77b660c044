"""The scenario of a run: everything that a rendered ini says, as typed classes that declare their keys.

- `definition`: the scenario as a whole, and the workload.
- `network`, `radio`, `nodes` and `ideal`: the parts that mirror modules of Castalia or stand in for them, with the keys
  of the ini that they are read from.
- `plans`: what can happen to links, nodes and places in a tree, and how that is written in a key.
- `faults` and `tree`: which plans make sense, and what follows from them: outages, absences, links, places.
"""
