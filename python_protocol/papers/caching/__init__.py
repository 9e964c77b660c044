"""Caching for mobility: brokers keep what their clients wanted, for later clients and for clients that move.

Figures and sections below are those of the paper on caching.

| module          | what it is                                                      | source             |
|-----------------|-----------------------------------------------------------------|--------------------|
| `agent`         | puts tree, link, broker and client on a node                    | figure 2           |
| `broker`        | the handlers of a broker                                        | sections 3 to 5    |
| `client`        | subscriber and publisher, which detaches and comes back         | sections 3.2 and 4 |
| `subscriptions` | ST, and what of it goes to the neighbours                       | section 3.1        |
| `cache`         | ordinary and emergency cache                                    | sections 3.2 and 4 |
| `policies`      | which message leaves a full cache first                         | section 3.2        |
| `visits`        | who is in movement, and where who was here is now               | section 4          |
| `passed`        | what has gone back for a request already: the reactive mechanism | section 5          |
| `messages`      | REQUEST, RESPONSE and their bytes                               | sections 3.2 and 4 |
| `parameters`    | what can be set                                                 | sections 3 to 6    |

Brokers stand in a tree that does not change; clients move among them, and say so before. Which filter covers which, and
which may have a message in common, is in `roambus.python_protocol.papers.caching.subscriptions`.
"""

from roambus.python_protocol.papers.caching.client import Caching

__all__ = ["Caching"]
