"""These are the commands of `roambus`, a file for each family of them.

A command reads its options, calls what does the work, and prints what came of it. It imports what is slow to import
when it runs, and not before, so that `--help` and the other commands do not wait for it. `options` are those that
several commands have, and `output` is how all of them say what came of it.
"""
