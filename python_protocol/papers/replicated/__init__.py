"""Replicated brokers: sites of three brokers in a tree, which survive any one failure.

An event goes from `agent` to the broker or client that the node is, from a broker to the side that the sender is on,
and from there to the replica, which changes the state of the site and says what the site has to send. Sections are
those of the paper on replicated brokers, here and in all chapters.

| chapter      | what it is                                                                         | section         |
|--------------|------------------------------------------------------------------------------------|-----------------|
| `agent`      | puts a broker or a client on a node; crash, freeze and recovery; listings          | 2, 6.3          |
| `client`     | publisher and subscriber                                                           | 4 to 6.4        |
| `broker`     | what clients and neighbouring sites say, and who acts on it                        | 4 to 6.9        |
| `succession` | the other two brokers: whether the leader is there, and who leads next             | 6.2 to 6.8      |
| `neighbours` | who leads the neighbouring sites, what is sent on, whether another node is there   | 4.1, 6.3 to 6.9 |
| `replica`    | the three copies of the state: steps, yielding, catching up                        | 6 to 6.7        |
| `site_state` | routing and order: what a message changes, and makes the site send; its bytes      | 4, 5            |
| `messages`   | what is sent, and what can be set                                                  | 4 to 6.9        |
| `sites`      | who is broker or client of which site, and the tree of sites                       | 2               |

In whatever order its clients ask for events, and whichever broker of each site crashes, freezes or recovers, one at a
time: every subscriber gets every event that it wants, once, and in that order.
"""

from roambus.python_protocol.papers.replicated.agent import Replicated

__all__ = ["Replicated"]
