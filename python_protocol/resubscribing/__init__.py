"""Subscribing anew at each migration: what Phoenix and the protocols of the thesis are to save (000, section 3.2).

| module                    | what it is                                                | source               |
|---------------------------|-----------------------------------------------------------|----------------------|
| `agent`                   | puts tree, link, broker and client on a node              | 003, section 2.2     |
| `broker`                  | SUBs flood the tree again, and turn the routes            | 000, section 3.2     |
| `client`                  | subscribes again at each broker to which it comes         | 000, section 3.2     |
| `first_approach.broker`   | SUB, UNS, PUB, REP but for that: algorithms 3.1 and 3.2   | 003, section 3.3     |
| `brokers.routing`         | R_i: filters and next hops of each subscriber             | 003, table 2.3       |
| `brokers.storage`         | Q_i: what is kept for whom cannot be reached              | 003, section 3.3     |

A baseline to compare costs with, and none of the papers' protocols: they only name it as what they avoid, "the
subscriber would have to send the subscription messages again", "the potential flooding of the network".

It delivers everything once all is quiet, if the network is whole when somebody subscribes or unsubscribes, and if
changes of the tree are far enough apart for the floods of one to end before the next.
"""

from python_protocol.resubscribing.agent import Resubscribing

__all__ = ["Resubscribing"]
