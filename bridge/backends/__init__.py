"""Back-ends carry the agents' messages; they have one interface, and pass one suite of tests.

- `interface`: what a back-end does.
- `factory`: how a run gets one.
- `ideal`: perfect links.
- `radio`: the embedded radio.
- `castalia`: real Castalia, in a process of its own.
"""

BACKENDS = ("radio", "castalia", "ideal")
"""The names of the back-ends, of which the first is the default."""
