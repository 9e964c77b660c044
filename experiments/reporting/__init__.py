"""The figures and the report of results.

`figure_files` draws all figures of a results folder. `report` writes report.html, one file that needs nothing else,
with `facts` (what was run), `making` (how, when and with what), `filters` (what the reader can choose), and the figures
that `inline_figure` puts into the page. `page` holds the page's template, style and script.
"""
