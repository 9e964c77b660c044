"""Replicated brokers: sites of three brokers in a tree, which survive any one failure.

Sections are those of the paper. Events go from `agent` to a broker or client, from a broker to the side of the sender,
and to the replica, which returns the site's messages.

| module       | content                                             | section         |
|--------------|-----------------------------------------------------|-----------------|
| `agent`      | a broker or client on a node; crash and freeze      | 2, 6.3          |
| `client`     | publisher and subscriber                            | 4 to 6.4        |
| `broker`     | messages of clients and neighbouring sites          | 4 to 6.9        |
| `succession` | the other two brokers, and the next leader          | 6.2 to 6.8      |
| `neighbours` | leaders of neighbouring sites; whether nodes answer | 4.1, 6.3 to 6.9 |
| `replica`    | three copies of the state                           | 6 to 6.7        |
| `site_state` | routing and order; bytes                            | 4, 5            |
| `messages`   | messages and parameters                             | 4 to 6.9        |
| `sites`      | brokers and clients of each site                    | 2               |
"""

from roambus.python_protocol.papers.replicated.agent import Replicated

__all__ = ["Replicated"]
