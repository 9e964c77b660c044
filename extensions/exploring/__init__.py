"""Exploring: agents are checked in all reachable states of a small network, or hunted in large ones.

`scenario_file` reads the question; `initial_state` runs its setup. `manual` works agents by commands. `shapes` and
`random_networks` make networks. `moments`, `copies`, `nodes`, `world` and `steps` make up a state, `model` its steps.
`checker` searches breadth first, `fair_cycles` finds endless runs. `properties`,
`property_checker` and `probes` judge; `counterexamples` and `verdicts` report. `exploration` runs one search, `hunt`
random `histories` in several processes.
"""
