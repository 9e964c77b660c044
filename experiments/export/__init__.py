"""Results for other programs: OMNeT++'s result files (`.sca`, `.vec`), and traces as JSON lines.

`runs` finds what is to be exported, `result_file` has the syntax of OMNeT++'s files, `scalars`, `vectors` and
`json_lines` each write one format, and `exporter` writes the files of `roambus export`.
"""
