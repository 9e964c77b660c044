"""Phoenix: publish/subscribe in a static tree of brokers, among which clients move (the thesis, section 2.4).

| module             | what it is                                                  | source              |
|--------------------|-------------------------------------------------------------|---------------------|
| `agent`            | puts tree, link, broker and client on a node                | section 2.2         |
| `broker`           | the algorithms to the letter, by message                    | algorithms 2.2, 2.3 |
| `client`           | subscriber and publisher: knows what it received, migrates  | section 2.4         |
| `numbered_broker`  | where the letter fails, and how numbered migrations mend it | the default         |
| `numbered_client`  | numbers its migrations, delivers once and in order          | the default         |
| `sorter`           | the order in which it delivers                              |                     |
| `messages`         | PUB, MIG, REP, TURN and their bytes                         | table 2.4           |
| `queues`           | Q_i: what a broker has for its local subscribers            | section 2.4         |
| `parameters`       | what can be set                                             | the thesis gives none |
| `brokers.messages` | SUB, UNS                                                    | table 2.1           |
| `brokers.routing`  | R_i: filters and next hops of each subscriber               | table 2.3           |

On a static tree with reliable links every subscriber gets every notification once, and in order from each publisher
that stays where it is, however clients move. To the letter (`number_migrations` false) that does not hold.

Subscriptions flood the tree of brokers once: those made before the tree stands, and whatever the tree does afterwards,
reach only a part of it. So subscribe after the election has settled, or let the scenario give the tree.
"""

from roambus.python_protocol.papers.phoenix.agent import Phoenix

__all__ = ["Phoenix"]
