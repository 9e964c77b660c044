"""Replicated brokers: sites of three brokers in a tree, which survive any one failure.

Sections are those of the paper on replicated brokers. An event goes from `agent` to the node's broker or client, from
a broker to the side of its sender, and from there to the replica, which returns the site's messages.

| module       | content                                                                  | section         |
|--------------|--------------------------------------------------------------------------|-----------------|
| `agent`      | a broker or a client on a node; crash, freeze and recovery; listings     | 2, 6.3          |
| `client`     | publisher and subscriber                                                 | 4 to 6.4        |
| `broker`     | messages of clients and neighbouring sites                               | 4 to 6.9        |
| `succession` | the other two brokers: whether the leader is there, and the next leader  | 6.2 to 6.8      |
| `neighbours` | the leaders of neighbouring sites, and whether another node is there     | 4.1, 6.3 to 6.9 |
| `replica`    | the three copies of the state: steps, yielding, catching up              | 6 to 6.7        |
| `site_state` | routing and order: effects of a message on the site; its bytes           | 4, 5            |
| `messages`   | messages and parameters                                                  | 4 to 6.9        |
| `sites`      | the brokers and clients of each site, and the tree of sites              | 2               |
"""

from roambus.python_protocol.papers.replicated.agent import Replicated

__all__ = ["Replicated"]
