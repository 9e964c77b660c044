"""The commands of `roambus`, one file for each family.

A command imports slow modules only when it runs, so `--help` and other commands do not wait for them.
"""
