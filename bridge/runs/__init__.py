"""Complete runs: making and identifying them, and the files in their folders.

`run` makes runs, by plan and key (`identity`), with a log (`log`), in a results folder (`layout`). `guard` is for
agents that harm their run's process.
"""
