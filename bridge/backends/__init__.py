"""Back-ends: what carries the agents' messages. One interface, one conformance suite."""
