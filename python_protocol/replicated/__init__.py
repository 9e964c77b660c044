"""Replicated brokers: sites of three brokers in a tree, which survive any one failure (002).

| module              | what it is                                                               | source           |
|---------------------|--------------------------------------------------------------------------|------------------|
| `agent`             | puts a broker or a client on a node; crash, freeze and recovery          | sections 2, 6.3  |
| `broker`            | what a broker does with each message                                     | sections 4 to 6.9 |
| `replica`           | leader and followers of a site: steps, taking over, catching up          | sections 6 to 6.7 |
| `neighbours`        | who leads the neighbouring sites                                         | sections 6.8, 6.9 |
| `site_state`        | routing and order: what a message changes, and makes the site send       | sections 4, 5    |
| `routing`           | the routing tables, with counts                                          | section 4        |
| `streams`           | numbers: expected ones, waiting list, renumbering, what is not accepted  | section 5.1      |
| `watch`             | time-out, "are you alive", doubled time-out                              | section 6.4      |
| `frozen`            | the order in which a node that was frozen looks at what has waited       | section 6.3      |
| `client`            | publisher and subscriber                                                 | sections 4 to 6.4 |
| `snapshot`          | a site's state as bytes                                                  | -                |
| `messages`, `failure_messages`, `replica_messages` | the messages and their bytes              | -                |
| `parameters`        | what can be set                                                          | -                |
| `listings`          | what transcripts can show                                                | -                |

In whatever order its clients ask for events, and whichever broker of each site crashes, freezes or recovers, one at a
time: every subscriber gets every event that it wants, once, and in that order.
"""

from roambus.python_protocol.replicated.agent import Replicated

__all__ = ["Replicated"]
