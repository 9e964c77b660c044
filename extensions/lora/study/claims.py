"""Claims on meshes over LoRa, written before the runs with the numbers of `results/lora-predictions.csv`.

The first is that of managed flooding's authors, and the others are this study's. Airtime is that of all radios for a
notification. A load is that of the whole network, in notifications a minute.
"""

from __future__ import annotations

from roambus.experiments.claims import ClaimTest, Comparison, Parts, Place, Quantity, Side, at_each, value
from roambus.experiments.measurements import by_seed
from roambus.extensions.lora.study.metrics import AIRTIME_S, UTILISATION
from roambus.spark.metrics.catalogue import DELAY_MEAN_S, DELIVERY_RATE_ALL, ENERGY_PER_NODE_MJ

NODES, LOAD, MODEM, MOVEMENT, SIDE, INTEREST = "nodes", "load", "modem", "movement", "side", "interest"
"""The axes."""
MANAGED, FLOODING, GOSSIP = "managed-flooding", "lora-flooding", "lora-gossip"
REPAIR, LEAN, MFT = "lora-gossip-repair", "lora-mft-lean", "lora-mft"
EQUAL = 0.02
"""Shares of delivery less than this apart are equal."""
COLLAPSED = 0.5
"""Of what is delivered at one notification a minute."""


def over(metric: str, first: Place, second: Place) -> Quantity:
    """Return the metric of the first place over that of the second, with equal seeds."""
    return lambda measured, place: (
        by_seed(measured, metric, **{**place, **first}) / by_seed(measured, metric, **{**place, **second})
    )


def less(metric: str, first: Place, second: Place) -> Quantity:
    """Return the metric of the first place less that of the second, with equal seeds."""
    return lambda measured, place: (
        by_seed(measured, metric, **{**place, **first}) - by_seed(measured, metric, **{**place, **second})
    )


def _no_worse(label: str, first: Place, second: Place) -> Comparison:
    return Comparison(f"{label}: delivered", less(DELIVERY_RATE_ALL, first, second), Side.ABOVE, -EQUAL)


def _kept(label: str, load: str, side: Side, agent: str) -> Comparison:
    """Compare delivery under a load with that of one notification a minute."""
    quantity = over(DELIVERY_RATE_ALL, {"agent": agent, LOAD: load}, {"agent": agent, LOAD: "1"})
    return Comparison(f"{label}: delivered, {load} over 1 a minute", quantity, side, COLLAPSED)


_MANAGED_FLOODING: Place = {"agent": MANAGED}
_FLOODING: Place = {"agent": FLOODING}
_AT_ONE: Place = {"agent": MANAGED, LOAD: "1"}
_QUIET = {NODES: (), LOAD: ("1",)}

CLAIMS = (
    ClaimTest(
        "Managed flooding needs less airtime than flooding.",
        "At one notification a minute, with each number of nodes, it needs less than half.",
        at_each(
            _QUIET,
            Comparison(
                "{nodes} nodes: airtime, managed over plain",
                over(AIRTIME_S, _MANAGED_FLOODING, _FLOODING),
                Side.BELOW,
                0.5,
            ),
        ),
        "airtime-load-1",
    ),
    ClaimTest(
        "It does so at equal delivery.",
        f"At one notification a minute, with each number of nodes, it delivers at most {EQUAL:g} less.",
        at_each(_QUIET, _no_worse("{nodes} nodes, managed less plain", _MANAGED_FLOODING, _FLOODING)),
        "delivery-load-1",
    ),
    ClaimTest(
        "Managed flooding carries ten notifications a minute, with any number of nodes.",
        "It delivers more than half of what it delivers at one a minute.",
        at_each((NODES,), _kept("{nodes} nodes", "10", Side.ABOVE, MANAGED)),
        "delivery-managed-flooding",
    ),
    ClaimTest(
        "It collapses below a hundred a minute, with any number of nodes.",
        "It delivers less than half of what it delivers at one a minute.",
        at_each((NODES,), _kept("{nodes} nodes", "100", Side.BELOW, MANAGED)),
        "delivery-managed-flooding",
    ),
    ClaimTest(
        "Flooding does not carry ten notifications a minute from a hundred nodes on.",
        "At ten a minute it delivers less than managed flooding, by more than 0.1.",
        at_each(
            {NODES: ("100", "300"), LOAD: ("10",)},
            Comparison(
                "{nodes} nodes: delivered, plain less managed",
                less(DELIVERY_RATE_ALL, _FLOODING, _MANAGED_FLOODING),
                Side.BELOW,
                -0.1,
            ),
        ),
        "delivery-load-10",
    ),
    ClaimTest(
        "The channel of managed flooding does not fill with the number of nodes.",
        "At one notification a minute its utilisation with 300 nodes is less than twice that with 30.",
        at_each(
            (),
            Comparison(
                "utilisation, 300 over 30 nodes",
                over(
                    UTILISATION, {"agent": MANAGED, NODES: "300", LOAD: "1"}, {"agent": MANAGED, NODES: "30", LOAD: "1"}
                ),
                Side.BELOW,
                2,
            ),
        ),
        "utilisation-load-1",
    ),
    ClaimTest(
        "Gossip delivers more than managed flooding for at most four times the airtime.",
        "At one notification a minute, with each number of nodes.",
        at_each(
            _QUIET,
            Comparison(
                "{nodes} nodes: delivered, gossip less managed",
                less(DELIVERY_RATE_ALL, {"agent": GOSSIP}, _MANAGED_FLOODING),
                Side.ABOVE,
            ),
            Comparison(
                "{nodes} nodes: airtime, gossip over managed",
                over(AIRTIME_S, {"agent": GOSSIP}, _MANAGED_FLOODING),
                Side.BELOW,
                4,
            ),
        ),
        "airtime-load-1",
    ),
    ClaimTest(
        "The protocol hardly matters to a battery, because the receiver is always on.",
        "At one notification a minute, with each number of nodes, managed flooding uses more than 0.8 of the energy "
        "of flooding.",
        at_each(
            _QUIET,
            Comparison(
                "{nodes} nodes: energy, managed over plain",
                over(ENERGY_PER_NODE_MJ, _MANAGED_FLOODING, _FLOODING),
                Side.ABOVE,
                0.8,
            ),
        ),
    ),
)

MORE_CLAIMS = (
    ClaimTest(
        "A hundred nodes with managed flooding carry three notifications a minute, but not ten of each node.",
        "At three a minute they deliver more than 0.8, and at a thousand less than 0.1.",
        at_each(
            (),
            Comparison("3 a minute", value(DELIVERY_RATE_ALL, agent=MANAGED, load="3"), Side.ABOVE, 0.8),
            Comparison("1000 a minute", value(DELIVERY_RATE_ALL, agent=MANAGED, load="1000"), Side.BELOW, 0.1),
        ),
    ),
)

AGENT_CLAIMS = (
    ClaimTest(
        "Repair costs more than twice the airtime of managed flooding, and delivers more.",
        "Gossip with repair, at one notification a minute.",
        at_each(
            {LOAD: ("1",)},
            Comparison(
                "delivered, repair less managed",
                less(DELIVERY_RATE_ALL, {"agent": REPAIR}, _MANAGED_FLOODING),
                Side.ABOVE,
            ),
            Comparison(
                "airtime, repair over managed", over(AIRTIME_S, {"agent": REPAIR}, _MANAGED_FLOODING), Side.ABOVE, 2
            ),
        ),
    ),
    ClaimTest(
        "A tree is not worth its upkeep where all nodes want everything.",
        "MFT-PubSub needs more than twice the airtime of managed flooding, at each load.",
        at_each(
            (LOAD,),
            Comparison(
                "{load} a minute: airtime, MFT-PubSub over managed",
                over(AIRTIME_S, {"agent": MFT}, _MANAGED_FLOODING),
                Side.ABOVE,
                2,
            ),
        ),
    ),
)

PRESET_CLAIMS = (
    ClaimTest(
        "Under load a faster modem delivers more.",
        "At thirty notifications a minute managed flooding delivers over 0.1 more with MediumFast than with LongFast.",
        at_each(
            {LOAD: ("30",)},
            Comparison(
                "delivered, MediumFast less LongFast",
                less(DELIVERY_RATE_ALL, {"agent": MANAGED, MODEM: "MediumFast"}, {"agent": MANAGED, MODEM: "LongFast"}),
                Side.ABOVE,
                0.1,
            ),
        ),
    ),
    ClaimTest(
        "Without load the slowest modem delivers no less.",
        "At one notification a minute managed flooding with LongFast delivers at most 0.02 less than with ShortFast.",
        at_each(
            {LOAD: ("1",)},
            _no_worse(
                "LongFast less ShortFast", {"agent": MANAGED, MODEM: "LongFast"}, {"agent": MANAGED, MODEM: "ShortFast"}
            ),
        ),
    ),
    ClaimTest(
        "A faster modem is faster all the way, although it needs more hops.",
        "At one notification a minute the delay of managed flooding with ShortFast is below a quarter of LongFast's.",
        at_each(
            {LOAD: ("1",)},
            Comparison(
                "delay, ShortFast over LongFast",
                over(DELAY_MEAN_S, {"agent": MANAGED, MODEM: "ShortFast"}, {"agent": MANAGED, MODEM: "LongFast"}),
                Side.BELOW,
                0.25,
            ),
        ),
    ),
)

SPEED_CLAIMS = (
    ClaimTest(
        "Cars cost managed flooding nothing.",
        "It delivers at most 0.05 less with cars than with walkers.",
        at_each(
            (),
            Comparison(
                "delivered, cars less walkers",
                less(DELIVERY_RATE_ALL, {"agent": MANAGED, MOVEMENT: "car"}, {"agent": MANAGED, MOVEMENT: "walk"}),
                Side.ABOVE,
                -0.05,
            ),
        ),
    ),
    ClaimTest(
        "Cars break a tree.",
        "MFT-PubSub delivers over 0.2 less with cars than with static nodes.",
        at_each(
            (),
            Comparison(
                "delivered, cars less static",
                less(DELIVERY_RATE_ALL, {"agent": MFT, MOVEMENT: "car"}, {"agent": MFT, MOVEMENT: "static"}),
                Side.BELOW,
                -0.2,
            ),
        ),
    ),
)


def _limit(label: str, side_m: str, first: str, side: Side, bound: float) -> Comparison:
    """Compare delivery under a hop limit with that under 7."""
    quantity = less(DELIVERY_RATE_ALL, {"agent": first, SIDE: side_m}, {"agent": "limit-7", SIDE: side_m})
    return Comparison(f"{label}: delivered, {first} less limit-7", quantity, side, bound)


HOP_CLAIMS = (
    ClaimTest(
        "A hop limit of 3 suffices for fields of up to 10 km.",
        f"It delivers at most {EQUAL:g} less than one of 7.",
        at_each(
            (),
            _limit("5 km", "5000", "limit-3", Side.ABOVE, -EQUAL),
            _limit("10 km", "10000", "limit-3", Side.ABOVE, -EQUAL),
        ),
        "delivery-side",
    ),
    ClaimTest(
        "It does not suffice for 20 km.",
        "It delivers over 0.05 less than one of 7.",
        at_each((), _limit("20 km", "20000", "limit-3", Side.BELOW, -0.05)),
        "delivery-side",
    ),
    ClaimTest(
        "A hop limit of 1 suffices for 5 km.",
        f"It delivers at most {EQUAL:g} less than one of 7.",
        at_each((), _limit("5 km", "5000", "limit-1", Side.ABOVE, -EQUAL)),
        "delivery-side",
    ),
)


def _filters(interest: str, side: Side, bound: float) -> Parts:
    """Compare the airtime of MFT-PubSub lean with that of managed flooding."""
    return at_each(
        {INTEREST: (interest,)},
        Comparison(
            "{interest} want it: airtime, lean over managed",
            over(AIRTIME_S, {"agent": LEAN}, _MANAGED_FLOODING),
            side,
            bound,
        ),
    )


INTEREST_CLAIMS = (
    ClaimTest(
        "Filters pay where three of a hundred nodes want a notification.",
        "At ten a minute MFT-PubSub lean needs less airtime than managed flooding, which knows no filters.",
        _filters("0.03", Side.BELOW, 1),
        "airtime-interest",
    ),
    ClaimTest(
        "They do not pay where twelve or more do.",
        "At ten a minute it needs more than 1.2 times the airtime where 12, 50 or all want it.",
        at_each(
            {INTEREST: ("0.12", "0.5", "1")},
            Comparison(
                "{interest} want it: airtime, lean over managed",
                over(AIRTIME_S, {"agent": LEAN}, _MANAGED_FLOODING),
                Side.ABOVE,
                1.2,
            ),
        ),
        "airtime-interest",
    ),
)
