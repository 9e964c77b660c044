"""Subscribing anew at each migration: what Phoenix and the protocols of the thesis are to save.

The sources are the thesis and the paper on the first approach.

| module             | what it is                                        | source           |
|--------------------|---------------------------------------------------|------------------|
| `agent`            | puts tree, link, broker and client on a node      | the thesis, section 2.2 |
| `broker`           | SUBs flood the tree again, and turn the ways      | first approach, section 3.2 |
| `client`           | subscribes again at each broker to which it comes | first approach, section 3.2 |
| `brokers.messages` | SUB, UNS, PUB                                     | the thesis, table 2.1   |
| `brokers.routing`  | R_i: filters and next hops of each subscriber     | the thesis, table 2.3   |

A baseline to compare costs with, and none of the papers' protocols: they only name it as what they avoid, "the
subscriber would have to send the subscription messages again", "the potential flooding of the network".

Once a migration's SUBs have arrived, every notification reaches everybody who wants it: if the network is whole while
somebody subscribes or unsubscribes, and if the next migration waits for that.
"""

from roambus.python_protocol.resubscribing.agent import Resubscribing

__all__ = ["Resubscribing"]
