"""Back-ends carry the agents' messages; they have one interface, and pass one suite of tests.

`interface` says what a back-end does, and `factory` how a run gets one. `ideal` has perfect links, `radio` is the
embedded radio, `castalia` speaks with real Castalia.
"""

BACKENDS = ("radio", "castalia", "ideal")
"""The names of the back-ends, of which the first is the default."""
