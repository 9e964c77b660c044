"""Tries what strangers could hand over: results that name code, damaged files, bad values, and disks without room.

`trap` makes a results folder in which everything that can be named is code that leaves a trace of itself, and `watched`
runs commands in a process that notes what it opens, imports and executes. `damage` damages files, `forged` makes sound
ones that hold nonsense, `subjects` are the files with what reads each, `files` gives them to it, and `judged` says
whether what came of it is what is promised. `values` are command lines with bad values, and `room` runs commands where
there is no room to write. As a program, it tries all of that at length.
"""
