"""Vets agents: runs an agent in scenes that every agent must survive, and reports its mistakes.

`examination` runs the agent in two processes and compares their traces; `scenes` has the runs, and `isolation` the
runs with a process for each node. `messages` checks the agent's messages. `findings` finds shared memory and
suspicious lines.
"""
