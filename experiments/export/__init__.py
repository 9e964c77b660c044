"""Results for other programs: OMNeT++'s result files, and captures for Wireshark with their dissector.

`runs` finds what is to be exported, and reads its rows. `exporter` writes the files of `roambus export`.
`result_files` has scalars and vectors as OMNeT++ writes them. `capture` has what was on the air, and `dissector` writes
the description by which Wireshark reads the agents' messages.
"""
