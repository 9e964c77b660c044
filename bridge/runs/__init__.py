"""Runs: planned, told apart, made, and kept where others find them.

`plan` is a run that can be made in any process. `identity` has its key, a hash of all that can change its trace, for
which `code` hashes the code. `run` makes it, and leaves a whole trace or a log with the error. `layout` says what
lies where in a folder of results, and `writing` what a user is told when a folder cannot be written.
"""
