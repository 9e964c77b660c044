"""Vets agents: runs an agent in demanding scenes, and reports its mistakes.

`examination` compares the traces of two processes; `scenes` has the runs, `isolation` those with a process for each
node. `messages` checks messages; `findings` names suspicious lines.
"""
