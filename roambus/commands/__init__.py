"""The commands of `roambus`, one file for each family.

A command reads its options, calls the code that does the work, and prints the outcome. It imports slow modules only
when it runs, so `--help` and other commands do not wait for them. `options` holds shared options; `output` prints every
command's outcome.
"""
