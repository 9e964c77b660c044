"""How links vary in time: Castalia's temporal model, whose parameters files are read, and written from measurements.

`model` is what a file says, `reader` reads one, `writer` writes one.
"""
