"""Replicated brokers: sites of three brokers in a tree, which survive any one failure.

An event goes from `agent` to the broker or client that the node is, from a broker to the side that the sender is on,
and from there to the replica, which changes the state of the site and says what the site has to send. The sections in
the table are those of the paper on replicated brokers.

| module              | what it is                                                               | section          |
|---------------------|--------------------------------------------------------------------------|------------------|
| `agent`             | puts a broker or a client on a node; crash, freeze and recovery          | 2, 6.3           |
| `frozen`            | the order in which a node that was frozen looks at what has waited       | 6.3              |
| `client`            | publisher and subscriber                                                 | 4 to 6.4         |
| `broker`            | finds the side that an event comes from, and does what follows from it   | 4 to 6.9         |
| `client_side`       | what the clients of the site say                                         | 4 to 6.5         |
| `neighbour_side`    | what the brokers of neighbouring sites say                               | 4 to 6.9         |
| `mate_side`         | what the other brokers of the site say; whether the leader acts          | 6.4 to 6.8       |
| `outbox`            | what is sent on, and to whom                                             | 4.1, 6.9         |
| `neighbours`        | who leads the neighbouring sites                                         | 6.8, 6.9         |
| `replica`           | taking over, following, catching up                                      | 6.5 to 6.7       |
| `copy_of_state`     | a copy of the state: steps of leader and followers                       | 6                |
| `releases`          | what steps let the site send, held until that is safe                    | 6                |
| `site_state`        | routing and order: what a message changes, and makes the site send       | 4, 5             |
| `routing`           | the routing tables, with counts                                          | 4                |
| `streams`           | numbers: expected ones, waiting list, renumbering, what is not accepted  | 5.1              |
| `snapshot`          | a site's state as bytes                                                  | -                |
| `pieces`            | these bytes in several messages                                          | -                |
| `watch`             | time-out, "are you alive", doubled time-out                              | 6.4              |
| `patience`          | how long a time-out is, by what was measured                             | 6.3, 8           |
| `messages`          | subscriptions and events                                                 | 4, 5             |
| `failure_messages`  | who is alive, and who leads                                              | 6.2 to 6.9       |
| `replica_messages`  | what keeps the copies the same                                           | 6 to 6.7         |
| `parameters`        | what can be set                                                          | -                |
| `listings`          | what transcripts can show                                                | -                |

In whatever order its clients ask for events, and whichever broker of each site crashes, freezes or recovers, one at a
time: every subscriber gets every event that it wants, once, and in that order.
"""

from roambus.python_protocol.papers.replicated.agent import Replicated

__all__ = ["Replicated"]
