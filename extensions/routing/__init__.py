"""Routing protocols for comparisons, each with publish/subscribe over unicast (`parts.unicast`).

`dsdv` (Perkins and Bhagwat 1994), `olsr` (RFC 3626), `dsr` (RFC 4728), `gpsr` (Karp and Kung 2000) and geocast by it.
"""
