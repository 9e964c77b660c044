"""Caching for mobility: brokers keep messages for later clients and for clients that move.

Figures and sections are those of the paper on caching. Brokers stand in a static tree; clients announce their moves.

| module          | content                                                               | source             |
|-----------------|-----------------------------------------------------------------------|--------------------|
| `broker`        | the handlers of a broker; clients in movement and former clients      | sections 3 to 5    |
| `client`        | subscriber and publisher that detaches and returns; the agent         | sections 3.2 and 4 |
| `subscriptions` | ST, coverage of filters; REQUEST and RESPONSE                         | sections 3.1 to 4  |
| `cache`         | ordinary and emergency cache, eviction; parameters                    | sections 3.2 to 6  |
"""

from roambus.python_protocol.papers.caching.client import Caching

__all__ = ["Caching"]
