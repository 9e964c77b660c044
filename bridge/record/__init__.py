"""Records of runs: what a simulator and the host said to each other, kept in a file and played again.

`record_file` is the file, and `recorder` writes it during a run. `replay` is a back-end that says what a record's
simulator said, `rerun` runs agents on it, and `differences` tells how an answer differs from the recorded one.
"""
