"""Trials of the bridge's failure contract: a run, one blow at some moment, and what must be true at the end."""
