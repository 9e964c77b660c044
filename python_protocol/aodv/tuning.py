"""The constants of AODV for a slow channel: derived from its rate and from the number of nodes, not searched for.

RFC 3561, section 10, gives constants for fast channels, and says what they have to reckon with: NODE_TRAVERSAL_TIME
"should include queuing delays", NET_DIAMETER "measures the maximum possible number of hops". All is computed for the
worst case, in which every node hears every other and is a destination. `docs/tuned.md` has the derivation with numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, floor, sqrt
from typing import Any

from roambus.python_protocol.simtime import SECOND, SimTime

_REQUEST_BITS = 8 * (20 + 25)
"""A RREQ, and the headers of network, MAC and PHY around it: 10, 9 and 6 bytes."""
_USE = 0.5
"""The part of its rate that a channel carries under CSMA with hidden nodes (Kleinrock and Tobagi, 1975)."""
_SHARE = 0.25
"""The part of that for the searches of one node: two that search at once leave half of it to data."""
_RINGS = (2, 4, 6)
"""The TTLs of the expanding ring before the whole network is searched (TTL_START, TTL_INCREMENT, TTL_THRESHOLD)."""
_BACKED_OFF = 1 + 2 + 4
"""How often NET_TRAVERSAL_TIME is waited for at the end: once, and RREQ_RETRIES times more, each doubled."""
_BUFFER = 2
"""TIMEOUT_BUFFER."""
_MOST_HOPS = 255
"""What the eight bits of a TTL can count to."""


def flood_time(nodes: int, bit_rate: int) -> SimTime:
    """How long a RREQ takes the channel, in ns, when each node sends it once; `bit_rate` is in bit/s."""
    return round(nodes * _REQUEST_BITS * SECOND / (bit_rate * _USE))


def longest_search(traversal: SimTime, diameter: int) -> SimTime:
    """How long a search without any answer waits in all, in ns, after the RREQs that it sends."""
    rings = sum(ttl + _BUFFER for ttl in _RINGS if ttl < diameter)
    return 2 * traversal * (rings + _BACKED_OFF * diameter)


def tuned(nodes: int, bit_rate: int) -> Mapping[str, Any]:
    """The parameters of the profile `tuned`, for so many nodes and a channel of so many bit/s."""
    traversal, diameter = flood_time(nodes, bit_rate), min(ceil(sqrt(2 * nodes)), _MOST_HOPS)
    per_second = max(1, floor(_SHARE * SECOND / traversal))
    patience = longest_search(traversal, diameter) + nodes * SECOND // per_second
    waiting = ceil(nodes * patience / SECOND)
    return {
        "node_traversal_time": traversal,
        "net_diameter": diameter,
        "rreq_ratelimit": per_second,
        "request_queue_timeout": patience,
        "request_queue_limit": waiting,
        "link_queue_limit": waiting,
        "destination_only": True,
    }
