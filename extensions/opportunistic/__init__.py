"""Opportunistic routing, for networks that are mostly disconnected: nodes carry notifications and hand them over.

`carrier` has the buffer, filters and contacts of a node; `replication` epidemic routing (Vahdat and Becker 2000) and
binary spray and wait (Spyropoulos et al. 2005); `prophet` PRoPHET (RFC 6693) with the forwarding strategy GRTR.
"""

from roambus.extensions.opportunistic.prophet import Prophet
from roambus.extensions.opportunistic.replication import Epidemic, SprayAndWait

__all__ = ["Epidemic", "Prophet", "SprayAndWait"]
