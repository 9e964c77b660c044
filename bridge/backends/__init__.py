"""Back-ends: what carries the agents' messages. One interface, one conformance suite."""

BACKENDS = ("radio", "castalia", "ideal")
"""Their names, the default first."""
