"""The parameters of AODV: RFC 3561, section 10, under the RFC's names, and additions for simulations.

Constants that the RFC computes are properties. A given parameter overrides the profile. `rfc` has the RFC's values, but
TTL_START is 2, as section 10 requires with hellos. `thesis` adds hellos from every node and a RERR when a route times
out (the thesis, section 4.5.1). `derived` takes bit rate and network size for the worst case: all nodes hear each other
and are destinations.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, floor, sqrt
from typing import Any

from roambus.python_protocol.parts.unicast import MOST_HOPS, UnicastParameters
from roambus.python_protocol.settings import parameter
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime

_SECTION_10 = "RFC 3561, section 10"

CHOICES = ("profile", "on", "off")
"""The values of a profile's switch."""

# What the profile `derived` is computed from.

_REQUEST_BITS = 8 * (20 + 25)
"""A RREQ with headers of network, MAC and PHY: 10, 9 and 6 bytes."""
_USE = 0.5
"""The share of its rate that a channel carries under CSMA with hidden nodes (Kleinrock and Tobagi, 1975)."""
_SHARE = 0.25
"""The share of that for a node's searches: two leave half to data."""


class AodvParameters(UnicastParameters):
    """Raises ValueError, naming the parameter, for impossible values."""

    profile: str = parameter(
        "rfc",
        source="RFC 3561; thesis: the thesis, section 4.5.1; derived: RFC 3561, section 10",
        choices=("rfc", "thesis", "derived"),
        doc="defaults of the other parameters; thesis: hello_always and rerr_on_expiry on; derived: constants that "
        "follow from network_size and bit_rate",
    )
    network_size: int = parameter(
        66,
        unit="nodes",
        source="the thesis, table 4.2: C32, its largest network",
        at_least=2,
        doc="with profile=derived, the number of nodes for which the constants are computed",
    )
    bit_rate: int = parameter(
        250_000, unit="bit/s", source="CC2420", at_least=1, doc="with profile=derived, the rate of the channel"
    )
    # Section 10, under its names. The RFC gives times in ms, and TTLs in hops.

    active_route_timeout: SimTime = parameter(
        3 * SECOND, unit="s", source=_SECTION_10, above=0, doc="life of an unused route"
    )
    allowed_hello_loss: int = parameter(
        2, source=_SECTION_10, at_least=1, doc="hello intervals without a sign of a neighbour"
    )
    hello_interval: SimTime = parameter(SECOND, unit="s", source=_SECTION_10, above=0, doc="between two hello messages")
    node_traversal_time: SimTime = parameter(
        40 * MILLISECOND,
        unit="s",
        source=_SECTION_10,
        above=0,
        doc="estimate of the time a packet takes for one hop",
    )
    rreq_retries: int = parameter(2, source=_SECTION_10, at_least=0, doc="more attempts with the largest TTL")
    rreq_ratelimit: int = parameter(10, unit="1/s", source=_SECTION_10, at_least=1, doc="RREQs that a node originates")
    rerr_ratelimit: int = parameter(10, unit="1/s", source=_SECTION_10, at_least=1, doc="RERRs that a node generates")
    ttl_start: int = parameter(
        2,
        unit="hops",
        source=f"{_SECTION_10}: 1, but at least 2 with hello messages",
        at_least=1,
        at_most=MOST_HOPS,
        doc="TTL of the first RREQ",
    )
    ttl_increment: int = parameter(2, unit="hops", source=_SECTION_10, at_least=1, doc="growth of the search ring")
    ttl_threshold: int = parameter(
        7,
        unit="hops",
        source=_SECTION_10,
        at_least=0,
        at_most=MOST_HOPS,
        doc="beyond it the whole network is searched",
    )
    timeout_buffer: int = parameter(2, unit="hops", source=_SECTION_10, at_least=0, doc="slack in the wait for a ring")
    local_add_ttl: int = parameter(
        2, unit="hops", source=_SECTION_10, at_least=0, doc="slack in the TTL of a local repair"
    )
    delete_period_factor: int = parameter(
        5, source=f"{_SECTION_10}: K", at_least=1, doc="DELETE_PERIOD is K times the longer life"
    )

    destination_only: bool = parameter(
        False, source="RFC 3561, section 6.6; the thesis, section 4.5.1", doc="D flag: intermediate nodes do not answer"
    )
    gratuitous_rrep: bool = parameter(
        False, source="RFC 3561, section 6.6.3", doc="G flag: a node that answers for a destination informs it"
    )
    rrep_ack: bool = parameter(
        False,
        source="RFC 3561, section 6.8",
        doc="A flag: request a RREP-ACK, and blacklist a neighbour that does not send it",
    )
    local_repair: bool = parameter(
        False,
        source="RFC 3561, section 6.12",
        doc="a node on the way searches a new route for the packet that it holds",
    )
    hello_always: str = parameter(
        "profile",
        source="the thesis, section 4.5.1; RFC 3561, section 6.9",
        choices=CHOICES,
        doc="on: continual hellos from every node; off: only on active routes, and not after another broadcast",
    )
    rerr_on_expiry: str = parameter(
        "profile",
        source="the thesis, section 4.5.1",
        choices=CHOICES,
        doc="on: a route that times out is reported like a broken one",
    )

    # What the RFC does not have, and a radio on which nodes collide, or a run that must end, needs.

    hello_jitter: SimTime = parameter(
        250 * MILLISECOND,
        unit="s",
        source="RFC 5148, section 5.2: up to a quarter of the interval",
        at_least=0,
        doc="a hello is early by at most this, so that two hidden nodes do not collide for ever",
    )
    request_queue_limit: int = parameter(
        64,
        unit="packets",
        source="ns-2 and ns-3 AODV",
        at_least=1,
        doc="packets that wait for routes; then the oldest is dropped",
    )
    request_queue_timeout: SimTime = parameter(
        30 * SECOND, unit="s", source="ns-2 and ns-3 AODV", above=0, doc="longest wait of a packet for a route"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.hello_jitter >= self.hello_interval:
            raise ValueError("parameter hello_jitter: it must be shorter than hello_interval")
        if self.active_route_timeout <= self.hello_timeout:
            # Section 10: else hellos that are still allowed to be lost would let routes expire.
            raise ValueError(
                "parameter active_route_timeout: it must be longer than allowed_hello_loss times hello_interval"
            )

    @classmethod
    def implied(cls, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the constants of the profile `derived`."""
        if given.get("profile") != "derived":
            return {}
        return derived(given.get("network_size", cls.network_size), given.get("bit_rate", cls.bit_rate))

    # What section 10 computes from others

    @property
    def hello_timeout(self) -> SimTime:
        """ALLOWED_HELLO_LOSS * HELLO_INTERVAL: silence that loses a neighbour (section 6.9)."""
        return self.allowed_hello_loss * self.hello_interval

    @property
    def sweep_interval(self) -> SimTime:
        """The ns between checks for lost neighbours: half a HELLO_INTERVAL (ns-3: a whole one)."""
        return self.hello_interval // 2

    @property
    def net_traversal_time(self) -> SimTime:
        """NET_TRAVERSAL_TIME: the wait for a search of the whole network (section 10)."""
        return 2 * self.node_traversal_time * self.net_diameter

    @property
    def path_discovery_time(self) -> SimTime:
        """PATH_DISCOVERY_TIME: how long a RREQ is remembered, longer than its copies travel."""
        return 2 * self.net_traversal_time

    @property
    def my_route_timeout(self) -> SimTime:
        """MY_ROUTE_TIMEOUT: the lifetime of routes to the node in its RREPs (section 6.6.1)."""
        return 2 * self.active_route_timeout

    @property
    def delete_period(self) -> SimTime:
        """DELETE_PERIOD: how long an invalid route keeps its sequence number (section 6.11).

        It bounds how long any node can route over one that forgot the destination, hence the wait after a reboot
        (6.13).
        """
        return self.delete_period_factor * max(self.active_route_timeout, self.hello_interval)

    @property
    def blacklist_timeout(self) -> SimTime:
        """BLACKLIST_TIMEOUT: how long RREQs over a one-way link are ignored, one search's repetitions (6.8)."""
        return self.rreq_retries * self.net_traversal_time

    @property
    def next_hop_wait(self) -> SimTime:
        """NEXT_HOP_WAIT: the wait for a RREP-ACK (section 10: NODE_TRAVERSAL_TIME + 10 ms)."""
        return self.node_traversal_time + 10 * MILLISECOND

    @property
    def max_repair_ttl(self) -> int:
        """MAX_REPAIR_TTL: the farthest destination of a local repair (section 10: 0.3 NET_DIAMETER)."""
        return round(0.3 * self.net_diameter)

    def ring_traversal_time(self, ttl: int) -> SimTime:
        """RING_TRAVERSAL_TIME of a TTL: there and back, plus TIMEOUT_BUFFER hops (6.4)."""
        return 2 * self.node_traversal_time * (ttl + self.timeout_buffer)

    @property
    def sends_hellos_always(self) -> bool:
        """Whether all nodes always send hellos; in section 6.9 only those on active routes do."""
        return self._is_on(self.hello_always)

    @property
    def reports_expiry(self) -> bool:
        """Whether a RERR reports a timed-out route; section 6.11 does not."""
        return self._is_on(self.rerr_on_expiry)

    def _is_on(self, choice: str) -> bool:
        return self.profile == "thesis" if choice == "profile" else choice == "on"


# The profile `derived`


def flood_time(nodes: int, bit_rate: int) -> SimTime:
    """Return the ns that a RREQ occupies the channel if each node sends it once, at `bit_rate` bit/s."""
    return round(nodes * _REQUEST_BITS * SECOND / (bit_rate * _USE))


def longest_search(traversal: SimTime, diameter: int) -> SimTime:
    """Return the ns that an unanswered search waits after its RREQs."""
    usual = AodvParameters
    ttls = range(usual.ttl_start, usual.ttl_threshold + 1, usual.ttl_increment)
    rings = sum(ttl + usual.timeout_buffer for ttl in ttls if ttl < diameter)
    # At the end NET_TRAVERSAL_TIME is waited for once, and RREQ_RETRIES times more, each doubled: 1 + 2 + 4.
    return 2 * traversal * (rings + ((2 << usual.rreq_retries) - 1) * diameter)


def derived(nodes: int, bit_rate: int) -> Mapping[str, Any]:
    """Return the constants of section 10, and queues, for a number of nodes and a rate in bit/s.

    A hop takes at worst the time in which all nodes send the RREQ; the diameter is a square's diagonal.
    """
    traversal, diameter = flood_time(nodes, bit_rate), min(ceil(sqrt(2 * nodes)), MOST_HOPS)
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
    }
