"""The replay page: a run as a film.

`film` makes a header and columns of integers of a run; `scene` places nodes, links and overlays; `witness` runs the
agents again for what a trace lacks. `document` puts films and the page (`page/`) into one HTML file, and `server` shows
it to this machine. `play` lets the page command a transcript.
"""
