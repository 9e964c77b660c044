"""Simple Routing: publish/subscribe in a static tree of brokers.

Clients are bound to their brokers (the thesis, section 2.3).

| module     | what it is                                      | source        |
|------------|-------------------------------------------------|---------------|
| `agent`    | puts tree, link, broker and client on a node    | section 2.2   |
| `broker`   | the algorithm, by message                       | algorithm 2.1 |
| `client`   | subscriber and publisher                        | section 2.2   |
| `messages` | SUB, UNS and their bytes                        | table 2.1     |
| `routing`  | R_i: filters and where what they match goes     | table 2.2     |

Subscriptions flood the tree of brokers once: those made before the tree stands, and whatever the tree does afterwards,
reach only a part of it. So subscribe after the election has settled, or let the scenario give the tree.
"""

from roambus.python_protocol.simple.agent import Simple

__all__ = ["Simple"]
