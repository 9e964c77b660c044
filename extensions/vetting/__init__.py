"""Vets agents: runs an agent in demanding scenes, and reports its mistakes.

`examination` compares the traces of two processes, `causes` says why they differ, and `watching` ends what never ends.
In the agent's process, `examining` runs the checks: `scenes` and `isolation` have the runs, `workload` and `deliveries`
those on links that lose nothing. `contract` has the agent interface, `messages` messages, `findings` the results.
"""
