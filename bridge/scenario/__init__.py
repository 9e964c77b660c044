"""The scenario of a run: everything that its rendered ini says, typed, each key declared beside the field that it sets.

`scenario` is the whole. Its parts are `network`, `node`, `radio`, `channel`, `mac`, `mobility`, `application` and
`ideal`, each with the keys of the ini that it is read from. `plans` and `happenings` are what happens when: to links,
to places in a given tree, and to nodes. `faults`, `absences`, `given_sites` and `given_tree` say which plans make
sense, and what follows from them for agents and back-ends.
"""
