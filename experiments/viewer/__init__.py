"""The replay page: a run as a film to look at.

`source` finds the files of a run, `witness` runs its agents again to see what a trace does not hold, `film` makes
columns of it all, `document` puts films and the page (`page/`) into one HTML file, and `server` shows that file to this
machine.
"""
