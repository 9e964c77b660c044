"""The parameters of bundles."""

from __future__ import annotations

from roambus.python_protocol.parameters import parameter
from roambus.python_protocol.parts.link_parameters import LinkParameters
from roambus.python_protocol.simtime import MILLISECOND, SimTime


class BundleParameters(LinkParameters):
    """What the parameters of an agent inherit if it can send in bundles."""

    bundles: bool = parameter(
        False,
        source="aggregation of frames, as IEEE 802.11n and 6LoWPAN's implementations have it",
        doc="all that a node has to say within bundle_delay shares a broadcast frame, acknowledgements included",
    )
    bundle_delay: SimTime = parameter(
        50 * MILLISECOND,
        unit="s",
        source="reasoned: two CSMA back-offs of at most 16 and 32 ms, which a frame on its way may take anyway",
        at_least=0,
        doc="a message waits half of this to all of it for others to share its frame",
    )
    spread_delay: SimTime = parameter(
        10 * MILLISECOND,
        unit="s",
        source="as broadcast_jitter of aodv: RFC 5148, section 5.4, for its kind; ns-3 AODV for its size",
        at_least=0,
        doc="what is for everybody waits a random time up to this, so that two that answer one frame do not collide",
    )
    ack_delay: SimTime = parameter(
        300 * MILLISECOND,
        unit="s",
        source="reasoned: a node of the tree sends about three frames a second, a heartbeat and two notifications",
        at_least=0,
        doc="an acknowledgement waits this long for a frame that goes anyway",
    )
    bundle_bytes: int = parameter(
        250,
        unit="B",
        source="reasoned: a BMIG of 32 subscribers; 9 ms on the air with its headers",
        at_least=1,
        doc="parcels of one bundle, unless a single one is longer",
    )
