"""Records of runs: what a simulator and the host said to each other, kept in a file and played again.

- `record_file`: the file, and the back-end that writes it during a run.
- `replay`: a back-end that says what a record's simulator said, and the debugger at the agent's lines.
"""
