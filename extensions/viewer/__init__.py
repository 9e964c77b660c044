"""Runs and results in a browser: a run as a film, and the report of many runs.

`film` makes a header and integer columns of a run; `scene` places nodes and links; `observations` reruns the
agents for data that a trace lacks; `document` makes the HTML file, `server` serves it locally, and `play` lets it
command a transcript. `report` writes report.html with the figures (`inline_figure`) and all points (`explorer`), and
`results` leads from it to films.
"""
