"""The replay page: a run as a film.

`film` makes a header and integer columns of a run; `scene` places nodes, links and overlays; `witness` reruns the
agents for data that a trace lacks. `document` puts films and the page (`page/`) into one HTML file, and `server` serves
it locally. `play` lets the page command a transcript.
"""
