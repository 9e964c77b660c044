"""Caching for mobility: brokers keep messages for later clients and for clients that move.

Sections are those of the paper on caching. Brokers stand in a static tree; clients announce their moves.

- `broker`: the handlers of a broker (sections 3 to 5).
- `client`: a client that detaches and returns; the agent (sections 3.2 and 4).
- `subscriptions`: ST, coverage, REQUEST and RESPONSE (sections 3.1 to 4).
- `cache`: both caches, eviction, parameters (sections 3.2 to 6).
"""

from roambus.python_protocol.papers.caching.client import Caching

__all__ = ["Caching"]
