"""What the tuned profiles are to achieve, each with one precise reading that was fixed before the whole runs.

Delivery is that of all pairs that were wanted. Only runs of equal seeds are compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pandas as pd

from roambus.experiments.evidence.claim import ClaimTest
from roambus.experiments.evidence.rule import Part, Side, make_part
from roambus.experiments.measurements.by_seed import by_seed
from roambus.experiments.measurements.measurements import Measurements
from roambus.experiments.studies.tuned.places import CONFIG, CUT_SPEED, LARGEST, SPEED
from roambus.spark.metrics import catalogue as c

MFT, MFT_TUNED, AODV, AODV_TUNED = "mft", "mft-tuned", "aodv", "aodv-tuned"
FLOODING, GOSSIP = "flooding", "gossip"

_MFT_DELIVERS, _AODV_DELIVERS, _STANDING_DELIVERS = 0.99, 0.95, 0.999
_MFT_DELAY_S, _MFT_MESSAGES = 1.0, 1500.0
_QUARTER = 0.25
_AS_GOOD = -0.005
"""A delivery rate that is less than half a point lower is not worse."""


def _at(measured: Measurements, agent: str, metric: str, config: str, speed: str = CUT_SPEED) -> pd.Series[float]:
    return by_seed(measured, metric, agent=agent, **{CONFIG: config, SPEED: speed})


def _mft_holds(measured: Measurements) -> Iterator[Part]:
    for label, metric, side, threshold in (
        ("delivered of all", c.DELIVERY_RATE_ALL, Side.ABOVE, _MFT_DELIVERS),
        ("mean delay (s)", c.DELAY_MEAN_S, Side.BELOW, _MFT_DELAY_S),
        ("messages a node", c.MESSAGES_PER_NODE, Side.BELOW, _MFT_MESSAGES),
    ):
        yield make_part(label, _at(measured, MFT_TUNED, metric, LARGEST), side, threshold)


def _mft_beats_flooding(measured: Measurements) -> Iterator[Part]:
    tuned, flooding = (_at(measured, agent, c.MESSAGES_PER_NODE, LARGEST) for agent in (MFT_TUNED, FLOODING))
    yield make_part("messages a node, mft-tuned minus flooding", tuned - flooding, Side.BELOW)


def _aodv_holds(measured: Measurements) -> Iterator[Part]:
    yield make_part(
        "delivered of all", _at(measured, AODV_TUNED, c.DELIVERY_RATE_ALL, LARGEST), Side.ABOVE, _AODV_DELIVERS
    )
    tuned, usual = (_at(measured, agent, c.MESSAGES_PER_NODE, LARGEST) for agent in (AODV_TUNED, AODV))
    yield make_part("messages a node, aodv-tuned over aodv", tuned / usual, Side.BELOW, _QUARTER)


def _no_worse(agents: Sequence[tuple[str, str]], measured: Measurements) -> Iterator[Part]:
    for (tuned, usual), config in ((pair, one) for pair in agents for one in measured.values(CONFIG) if one != LARGEST):
        for speed in measured.values(SPEED):
            better, worse = (_at(measured, agent, c.DELIVERY_RATE_ALL, config, speed) for agent in (tuned, usual))
            label = f"{config}, {speed} m/s: delivered of all, {tuned} minus {usual}"
            yield make_part(label, better - worse, Side.ABOVE, _AS_GOOD)


def _mft_is_no_worse(measured: Measurements) -> Iterable[Part]:
    return _no_worse([(MFT_TUNED, MFT)], measured)


def _aodv_is_no_worse(measured: Measurements) -> Iterable[Part]:
    return _no_worse([(AODV_TUNED, AODV)], measured)


def _gossip_saves(measured: Measurements) -> Iterator[Part]:
    for config in measured.values(CONFIG):
        gossip, flooding = (_at(measured, agent, c.MESSAGES_PER_NODE, config) for agent in (GOSSIP, FLOODING))
        yield make_part(f"{config}: messages a node, gossip minus flooding", gossip - flooding, Side.BELOW)
    gossip, flooding = (_at(measured, agent, c.DELIVERY_RATE_ALL, LARGEST) for agent in (GOSSIP, FLOODING))
    yield make_part("C32: delivered of all, gossip minus flooding", gossip - flooding, Side.ABOVE, _AS_GOOD)


def _mft_stands(measured: Measurements) -> Iterator[Part]:
    rate = by_seed(measured, c.DELIVERY_RATE_ALL, agent=MFT_TUNED, **{CONFIG: "C16"})
    yield make_part("delivered of all", rate, Side.ABOVE, _STANDING_DELIVERS)
    migrations = by_seed(measured, c.MIGRATIONS, agent=MFT_TUNED, **{CONFIG: "C16"})
    yield make_part("migrations after the first minute", migrations, Side.BELOW, 1.0)


MOVING_CLAIMS = (
    ClaimTest(
        "At C32 and 8 m/s MFT-PubSub tuned delivers all but 1 %, within a second, with 1,500 messages a node.",
        "The delivery rate is above 0.99, the mean delay below 1 s, and messages a node are below 1,500.",
        _mft_holds,
    ),
    ClaimTest(
        "At C32 and 8 m/s MFT-PubSub tuned needs fewer messages than flooding.",
        "With equal seeds, its messages a node are fewer.",
        _mft_beats_flooding,
    ),
    ClaimTest(
        "At C32 and 8 m/s AODV tuned delivers all but 5 %, with a quarter of the messages.",
        "The delivery rate is above 0.95; with equal seeds, messages a node are under a quarter of the other's.",
        _aodv_holds,
    ),
    ClaimTest(
        "In smaller networks MFT-PubSub tuned delivers no less than with the thesis' profile.",
        "At every size but C32 and every speed, with equal seeds, its delivery rate is less than 0.005 lower.",
        _mft_is_no_worse,
    ),
    ClaimTest(
        "In smaller networks AODV tuned delivers no less than with the thesis' profile.",
        "At every size but C32 and every speed, with equal seeds, its delivery rate is less than 0.005 lower.",
        _aodv_is_no_worse,
    ),
    ClaimTest(
        "Gossip saves messages at every size, and at C32 delivers no less than flooding.",
        "At 8 m/s, with equal seeds, messages a node are fewer; at C32 the delivery rate is less than 0.005 lower.",
        _gossip_saves,
    ),
)
STATIC_CLAIMS = (
    ClaimTest(
        "Where nothing moves, MFT-PubSub tuned delivers all at C16, and nothing migrates after the first minute.",
        "Without the first minute, the delivery rate is above 0.999, and a run has less than one migration.",
        _mft_stands,
    ),
)
