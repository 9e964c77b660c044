"""Results for other programs: OMNeT++'s result files, captures for Wireshark, timelines, graphs, and JSON lines.

`runs` finds what is to be exported, and reads its rows.
`exporter` writes the files of `roambus export`, with graphs and JSON lines among them.
`result_files` has scalars and vectors as OMNeT++ writes them, and `timeline` what Perfetto shows.
`capture` has what was on the air, and `dissector` tells Wireshark what agents say in it.
"""
