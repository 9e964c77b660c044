"""Caching for mobility: brokers keep what their clients wanted, for later clients and for clients that move.

Figures and sections are those of the paper on caching, here and in all chapters.

| chapter         | what it is                                                            | source             |
|-----------------|-----------------------------------------------------------------------|--------------------|
| `broker`        | the handlers of a broker; who is in movement, and who was here        | sections 3 to 5    |
| `client`        | subscriber and publisher, which detaches and comes back; the agent    | sections 3.2 and 4 |
| `subscriptions` | ST, which filter covers which; REQUEST and RESPONSE                    | sections 3.1 to 4  |
| `cache`         | ordinary and emergency cache, which message leaves; what can be set   | sections 3.2 to 6  |

Brokers stand in a tree that does not change; clients move among them, and say so before.
"""

from roambus.python_protocol.papers.caching.client import Caching

__all__ = ["Caching"]
