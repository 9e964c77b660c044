"""Records of runs: the exchange between a simulator and the host, kept in a file and replayed.

- `record_file`: the file, and the back-end that writes it during a run.
- `replay`: a back-end that says what a record's simulator said, and the debugger at the agent's lines.
"""
