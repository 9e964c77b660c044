"""MFT-PubSub without its tree: notifications by distance to few, and by gossip with repair to many.

| chapter     | holds                                                                      |
|-------------|----------------------------------------------------------------------------|
| `agent`     | few or many, who forwards, acknowledgements, heartbeats                    |
| `distances` | how far subscribers are: links rated, distances told and kept              |
| `interests` | who wants what, told once and compared by sums                             |
| `messages`  | PUB, ACK and HEARTBEAT, and the parameters                                 |

Gossip with repair is the one of `roambus.python_protocol.baselines`.
"""

from roambus.python_protocol.lean.agent import LeanMft

__all__ = ["LeanMft"]
