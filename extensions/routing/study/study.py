"""The study of routing: delivery, delay and cost of routing protocols over size, speed and flows.

The claims are those of Broch, Maltz, Johnson, Hu and Jetcheva, "A performance comparison of multi-hop wireless ad hoc
network routing protocols" (MobiCom 1998), sections 5 and 7. Their networks have 802.11 at 2 Mbit/s and disks of 250 m,
and mobility grows as pauses shrink. Here it grows with speed, on 250 kbit/s and in a range of 38 m. Speeds of
1 and 3 m/s are their 7 and 20 m/s. Sources send four packets a second, as theirs.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from roambus.bridge.trace import schema
from roambus.experiments.claims import ClaimTest, Comparison, Place, Quantity, Side, at_each, value
from roambus.experiments.figures.figure import Plan, agent_lines, slug
from roambus.experiments.measurements import Measurements, by_seed, point_table_file
from roambus.experiments.studies.study import Study, StudySweep
from roambus.spark.metrics import catalogue as c
from roambus.spark.metrics.catalogue import over
from roambus.spark.metrics.extra import Extra
from roambus.spark.metrics.metric import Kind, metric
from roambus.spark.metrics.run import Run

SIZE, SPEED, FLOWS = "size", "speed", "flows"
AODV, DSDV, DSR, OLSR = "aodv", "dsdv", "dsr", "olsr"
PACKET, DATA = "PACKET", ("PACKET", "FLOOD", "ACK", "FRAGMENT")
SLOW, FAST = "1", "3"


@metric("routing packets", kind=Kind.COUNT)
def routing_packets(run: Run) -> float:
    """Packets that carry no notification: all but data, acknowledgements and fragments."""
    return float((~run.sends[schema.MESSAGE_TYPE].isin(DATA)).sum())


@metric("routing bytes", "B")
def routing_bytes(run: Run) -> float:
    """The bytes of these packets, without headers of network, MAC and PHY."""
    sends = run.sends
    return float(sends[schema.BYTES][~sends[schema.MESSAGE_TYPE].isin(DATA)].sum())


@metric("bytes of a data packet", "B")
def packet_bytes(run: Run) -> float:
    """Mean length of packets with a notification, with the protocol's header."""
    sizes = run.sends[schema.BYTES][run.sends[schema.MESSAGE_TYPE] == PACKET]
    return over(float(sizes.sum()), len(sizes))


ROUTING = Extra((routing_packets, routing_bytes, packet_bytes))
"""The study's own metrics."""
ROUTING_PACKETS, ROUTING_BYTES, PACKET_BYTES = routing_packets.column, routing_bytes.column, packet_bytes.column
_SHOWN = (c.DELIVERY_RATE_ALL, c.DELAY_MEAN_S, c.HOPS_MEAN, c.air_bytes_per_node.column, ROUTING_PACKETS, ROUTING_BYTES)


def routing_plans(measured: Measurements) -> Iterator[Plan]:
    """Plan each metric over speed, for each size and number of flows."""
    for shown, size, flows in itertools.product(_SHOWN, measured.values(SIZE), measured.values(FLOWS)):
        title = f"{measured.heading(shown)}: {size} nodes, {flows} flow{'' if flows == '1' else 's'}"
        lines = agent_lines(measured, {SIZE: size, FLOWS: flows})
        yield Plan(f"{slug(shown)}-size-{size}-flows-{flows}", title, shown, SPEED, lines)


_AT = "{size} nodes, {flows} flows"
_EVERYWHERE = (SIZE, FLOWS)
VIRTUALLY_ALL, VERY_GOOD, ALMOST = 0.95, 0.95, -0.05
CONSTANT = (0.8, 1.25)


def _against(metric_name: str, first: Place, second: Place) -> Quantity:
    """Return the metric of the first place over that of the second, with equal seeds."""
    return lambda measured, place: (
        by_seed(measured, metric_name, **first, **place) / by_seed(measured, metric_name, **second, **place)
    )


def _less(metric_name: str, first: Place, second: Place) -> Quantity:
    """Return the metric of the first place less that of the second."""
    return lambda measured, place: (
        by_seed(measured, metric_name, **first, **place) - by_seed(measured, metric_name, **second, **place)
    )


def _fast_over_slow(metric_name: str, agent: str) -> Quantity:
    return _against(metric_name, {"agent": agent, SPEED: FAST}, {"agent": agent, SPEED: SLOW})


CLAIMS = (
    ClaimTest(
        "DSDV delivers virtually all data packets when node mobility rate and movement speed are low.",
        f"At {SLOW} m/s, at each size and number of flows, it delivers more than {VIRTUALLY_ALL:g}.",
        at_each(
            _EVERYWHERE,
            Comparison(
                f"{_AT}: delivered", value(c.DELIVERY_RATE_ALL, agent=DSDV, speed=SLOW), Side.ABOVE, VIRTUALLY_ALL
            ),
        ),
    ),
    ClaimTest(
        "DSDV fails to converge as node mobility increases.",
        f"At each size and number of flows it delivers less at {FAST} m/s than at {SLOW} m/s.",
        at_each(
            _EVERYWHERE,
            Comparison(f"{_AT}: delivered, fast over slow", _fast_over_slow(c.DELIVERY_RATE_ALL, DSDV), Side.BELOW, 1),
        ),
    ),
    ClaimTest(
        "The performance of DSR was very good at all mobility rates and movement speeds.",
        f"At each size, number of flows and speed it delivers more than {VERY_GOOD:g}.",
        at_each(
            (*_EVERYWHERE, SPEED),
            Comparison(
                f"{_AT}, {{speed}} m/s: delivered", value(c.DELIVERY_RATE_ALL, agent=DSR), Side.ABOVE, VERY_GOOD
            ),
        ),
    ),
    ClaimTest(
        "AODV performs almost as well as DSR at all mobility rates and movement speeds.",
        "At each size, number of flows and speed it delivers at most 0.05 less, with equal seeds.",
        at_each(
            (*_EVERYWHERE, SPEED),
            Comparison(
                f"{_AT}, {{speed}} m/s: delivered, AODV less DSR",
                _less(c.DELIVERY_RATE_ALL, {"agent": AODV}, {"agent": DSR}),
                Side.ABOVE,
                ALMOST,
            ),
        ),
    ),
    ClaimTest(
        "The use of source routing increases the number of routing overhead bytes required by DSR.",
        "At each size, number of flows and speed a data packet of DSR has more bytes than one of AODV.",
        at_each(
            (*_EVERYWHERE, SPEED),
            Comparison(
                f"{_AT}, {{speed}} m/s: bytes of a packet, DSR over AODV",
                _against(PACKET_BYTES, {"agent": DSR}, {"agent": AODV}),
                Side.ABOVE,
                1,
            ),
        ),
    ),
    ClaimTest(
        "AODV requires the transmission of many routing overhead packets, and at high rates of node mobility is more "
        "expensive than DSR.",
        f"At {FAST} m/s, at each size and number of flows, it sends more routing packets than DSR.",
        at_each(
            _EVERYWHERE,
            Comparison(
                f"{_AT}: routing packets, AODV over DSR",
                _against(ROUTING_PACKETS, {"agent": AODV, SPEED: FAST}, {"agent": DSR, SPEED: FAST}),
                Side.ABOVE,
                1,
            ),
        ),
    ),
    ClaimTest(
        "DSDV's routing overhead is approximately constant, whatever the mobility (section 5.2).",
        f"At each size and number of flows, its routing packets at {FAST} m/s are {CONSTANT[0]:g} to {CONSTANT[1]:g} "
        f"times those at {SLOW} m/s.",
        at_each(
            _EVERYWHERE,
            *(
                Comparison(
                    f"{_AT}: routing packets, fast over slow", _fast_over_slow(ROUTING_PACKETS, DSDV), side, bound
                )
                for side, bound in zip((Side.ABOVE, Side.BELOW), CONSTANT, strict=True)
            ),
        ),
    ),
    ClaimTest(
        "The overhead of on-demand protocols drops as mobility drops (section 5.2).",
        f"At each size and number of flows, AODV and DSR send more routing packets at {FAST} m/s than at {SLOW} m/s.",
        at_each(
            _EVERYWHERE,
            *(
                Comparison(
                    f"{_AT}: {agent}, routing packets, fast over slow",
                    _fast_over_slow(ROUTING_PACKETS, agent),
                    Side.ABOVE,
                    1,
                )
                for agent in (AODV, DSR)
            ),
        ),
    ),
)

_QUICK = {SPEED: "1,3", FLOWS: "3"}


def _sweep(file: str, *alike: str) -> StudySweep:
    return StudySweep(
        file,
        routing_plans,
        CLAIMS,
        extra=ROUTING,
        tables=point_table_file("routing.md", _SHOWN),
        quick=_QUICK,
        quick_seeds=2,
        alike=alike,
    )


STUDY = Study(
    name="routing",
    title="Routing protocols side by side",
    source="Broch et al. (1998)",
    sweeps=(_sweep("routing", "routing-acknowledged", "routing-disks"),),
    notes=(
        "Each flow sends four packets a second for 25 s, after 20 s in which tables come to be. A pair is a packet and "
        "its destination. Flooding has no routing packets. GPSR's include requests for positions, which its paper has "
        "not; with an oracle there are none. DSR listens to packets between others.",
        "The sweep `routing-acknowledged` is the same over IEEE 802.15.4, and `routing-disks` on ideal disks.",
    ),
)
