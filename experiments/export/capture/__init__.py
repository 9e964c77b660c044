"""Captures: what was on the air in a run, as Wireshark reads it, and dissectors for what agents say.

`packets` reads the record of a run, `frames` makes a frame of IEEE 802.15.4 of each message, and `pcapng` has the
syntax of the file. `dissector` writes a dissector in Lua from the messages that agents declare; `dissector.lua` is the
part of it that is the same for all agents.
"""
