"""Results for other programs: OMNeT++'s result files, captures for Wireshark, timelines, graphs, and JSON lines.

`runs` finds what is to be exported. `result_file` has the syntax of OMNeT++'s files, and `perfetto` that of Perfetto's.
`scalars`, `vectors`, `timeline`, `graph` and `json_lines` each write one format, `capture` is the room of captures, and
`exporter` writes the files of `roambus export`.
"""
