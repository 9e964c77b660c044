"""The self-stabilising supervised skip ring, and publish/subscribe on it.

Every node must reach every other: use `SN.ideal.complete = true`, or a radio with all in range. Sections are those of
the paper. `agent` has the `supervisor`, and a `subscriber` for each topic with its `ring` and `publications`.
`corrupted` has corrupted states and the ring as defined.
"""

from roambus.extensions.skip_ring.agent import SkipRing

__all__ = ["SkipRing"]
