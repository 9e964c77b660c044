"""Phoenix: publish/subscribe in a static tree of brokers, among which clients move (the thesis, section 2.4).

| module     | content                                                     | source              |
|------------|-------------------------------------------------------------|---------------------|
| `agent`    | tree, link, broker and client on a node; the clients        | section 2.4         |
| `broker`   | the algorithms as published; messages, queues, parameters   | algorithms 2.2, 2.3 |
| `numbered` | their faults, and how numbered migrations prevent them      | the default         |

Over reliable links every subscriber gets every notification once, in order from each publisher that stays. As
published (`number_migrations` false) that does not hold. Subscribe after the election, or let the scenario give the
tree.
"""

from roambus.python_protocol.papers.phoenix.agent import Phoenix

__all__ = ["Phoenix"]
