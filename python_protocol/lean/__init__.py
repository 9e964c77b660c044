"""MFT-PubSub without its tree: notifications by distance to few, by gossip with repair to many.

| module      | holds                                                       |
|-------------|-------------------------------------------------------------|
| `agent`     | the choice of few or many, forwarding, ACKs, heartbeats     |
| `distances` | expected transmissions to subscribers, by rated links       |
| `interests` | the filters of all subscribers, compared by sums            |
| `messages`  | PUB, ACK and HEARTBEAT, and the parameters                  |
"""

from roambus.python_protocol.lean.agent import LeanMft

__all__ = ["LeanMft"]
