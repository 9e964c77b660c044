"""AODV (RFC 3561) with the publish/subscribe layer of the thesis (the thesis, section 4.5).

Each module imports only those before it: `messages` (5, and 6.10: link layer, jitter, rate limits), `parameters`
(10), `routing_table` (2, 6.1, 6.2, 6.7), `maintenance` (6.8, 6.9, 6.11: neighbours, route errors), `discovery` (6.3,
6.4, 6.5, 6.12: searches and waiting packets), `agent` (6: the handlers).
"""

from roambus.python_protocol.aodv.agent import Aodv
from roambus.python_protocol.aodv.parameters import AodvParameters

__all__ = ["Aodv", "AodvParameters"]
