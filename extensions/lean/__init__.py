"""MFT-PubSub without its tree: notifications by distance to few, by gossip with repair to many.

`agent` chooses and forwards, `distances` rates links and subscribers, `interests` keeps all filters, `messages` has
PUB, ACK, HEARTBEAT and the parameters.
"""

from roambus.extensions.lean.agent import LeanMft

__all__ = ["LeanMft"]
