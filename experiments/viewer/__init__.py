"""The replay page: a run as a film.

`film` makes a header and columns of integers of a run, and `scene` says where nodes, links and overlays are drawn.
`witness` runs the agents again to see what a trace does not hold.
`document` puts films and the page (`page/`) into one HTML file, and `server` shows it to this machine.
`play` lets the page command a transcript, whose film is then made again.
"""
