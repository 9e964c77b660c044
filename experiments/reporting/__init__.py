"""The figures and the report of results.

`figure_files` draws a results folder's figures, and makes them elements of a page. `report` writes report.html, one
self-contained file; its template, style and script are in `page`.
"""
