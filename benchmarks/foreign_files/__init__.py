"""Tries what strangers could hand over: results that name code, damaged files, bad values, and disks without room.

`trap` makes a results folder in which everything that can be named is code that leaves a trace of itself, and `watched`
runs commands in a process that notes what it opens, imports and executes. `damage` makes damaged files, `readers` gives
them to the commands, `values` are command lines with bad values, and `room` are commands without room to write.
"""
