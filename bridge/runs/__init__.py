"""Whole runs: what one is made of, how it is told from others, and what it leaves in its folder.

`plan` is a run before it is made, and `run` makes it; `log` is what it says of itself. `identity` is the key by which a
finished run is known, `code` the part of the key that stands for the code. `layout` says what lies where in a results
folder, and `writing` what a user is told when a folder cannot be written. `guard` is for agents that do to the process
of a run what agents may not.
"""
