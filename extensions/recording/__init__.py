"""Records of runs: the exchange between simulator and host in a file, and its replay.

- `record_file`: the file, and the back-end that writes it.
- `replay`: the back-end that plays it, and the debugger at the agent's lines.
"""
