"""Complete runs: making and identifying them, and the files in their folders.

`run` makes runs, by plan and key, with a log (`log`), in a results folder (`layout`).
"""
