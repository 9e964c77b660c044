"""The way between a simulator and Python: wire, host, back-ends, trace writer, command line."""
