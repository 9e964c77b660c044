"""Caching for mobility: brokers keep messages for later and for moving clients.

Sections are those of the paper on caching. Brokers stand in a static tree; clients announce their moves. `broker`
(sections 3 to 5), `client` (3.2 and 4), `subscriptions` (3.1 to 4) and `cache` (3.2 to 6) follow them.
"""

from roambus.extensions.caching.client import Caching

__all__ = ["Caching"]
