"""The figures and the report of results.

`figure_files` draws all figures of a results folder, and makes them elements of a page.
`report` writes report.html, one file that needs nothing else; its template, style and script are in `page`.
"""
