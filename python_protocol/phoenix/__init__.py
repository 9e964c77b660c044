"""Phoenix: publish/subscribe in a static tree of brokers, among which clients move (003, section 2.4).

| module             | what it is                                                  | source              |
|--------------------|-------------------------------------------------------------|---------------------|
| `agent`            | puts tree, link, broker and client on a node                | section 2.2         |
| `broker`           | the algorithms, by message                                  | algorithms 2.2, 2.3 |
| `client`           | subscriber and publisher: knows what it received, migrates  | section 2.4         |
| `messages`         | PUB, MIG, REP and their bytes                               | table 2.4           |
| `queues`           | Q_i: what a broker has for its local subscribers            | section 2.4         |
| `parameters`       | what can be set                                             | the thesis gives none |
| `brokers.messages` | SUB, UNS                                                    | table 2.1           |
| `brokers.routing`  | R_i: filters and next hops of each subscriber               | table 2.3           |

Subscriptions flood the tree of brokers once: those made before the tree stands, and whatever the tree does afterwards,
reach only a part of it. So subscribe after the election has settled, or let the scenario give the tree.
"""

from python_protocol.phoenix.agent import Phoenix

__all__ = ["Phoenix"]
