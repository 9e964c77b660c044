"""Phoenix: publish/subscribe in a static tree of brokers, among which clients move (the thesis, section 2.4).

| chapter    | what it is                                                          | source              |
|------------|---------------------------------------------------------------------|---------------------|
| `agent`    | puts tree, link, broker and client on a node; its clients            | section 2.4         |
| `broker`   | the algorithms as they stand; messages, queues, what can be set      | algorithms 2.2, 2.3 |
| `numbered` | where they fail, and how numbered migrations prevent it             | the default         |

On a static tree with reliable links every subscriber gets every notification once, and in order from each publisher
that stays where it is, however clients move. With the algorithms as they stand (`number_migrations` false) that does
not hold.

Subscriptions flood the tree of brokers once: those made before the tree stands, and whatever the tree does afterwards,
reach only a part of it. So subscribe after the election has settled, or let the scenario give the tree.
"""

from roambus.python_protocol.papers.phoenix.agent import Phoenix

__all__ = ["Phoenix"]
