"""The replay page: a run as a film.

`film` makes a header and integer columns of a run; `scene` places nodes and links; `witness` reruns the
agents for data that a trace lacks; `document` makes the HTML file, `server` serves it locally, and `play` lets it
command a transcript.
"""
