"""Explanations of the numbers: suppositions, each with a small sweep that can decide it, and a reading fixed here.

A supposition is tested like a claim (`roambus.experiments.claims`), and is printed whether it holds or not. Numbers
that differ by factors are compared as doublings, that is by the logarithm to base 2 of their ratio, so that a change
upwards counts as much as one downwards. "Hardly" and "without need" are thresholds that stand at the head of this file.

Each sweep changes one thing of the thesis' own, at two sizes and with few seeds, which is enough for effects of the
size that an explanation needs:

- `explain-mft` and `explain-aodv`: the protocol's parts, one left out at a time, and the link layer.
- `explain-movement`: the speed, down to 1 mm/s, at which next to nothing moves.
- `explain-load`: a quarter of the notifications. Where a number comes from a full channel, it must change.
- `explain-waiting`: the run goes on for 257 s after the last publication, so that what is stored can still arrive.
- `explain-start`: publishing begins at 30 s, when tree and subscriptions are there.
- `explain-payload`: 0 and 60 bytes. The thesis does not tell how long a notification is.

A supposition that does not hold stays in the list: which explanations were tried is a result, too.

Three rules keep an explanation from being a story. What is changed is changed alone, in runs of equal seeds. The
reading names a number that would be otherwise if the supposition were wrong: a delay that comes from a full channel
must become shorter with a quarter of the load. And the threshold is one of those below, not one for each supposition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from roambus.bridge.runs.layout import AGENT
from roambus.experiments.claims import (
    Claim,
    ClaimTest,
    Comparison,
    Parts,
    Place,
    Quantity,
    Side,
    Verdict,
    at_each,
    check,
    difference,
)
from roambus.experiments.measurements import Measurements, by_seed
from roambus.experiments.studies.thesis.claims import AODV, CONFIG, MFT, SPEED
from roambus.spark.metrics import catalogue as c

_SMALL, _LARGE = "C4", "C16"
"""The sizes of these sweeps."""
_DOUBLINGS = 2
"""The doublings of the size from one to the other."""
_LITTLE = 0.05
"""A change of a rate, or of the logarithm of a number, that is called little: 5 points, or 3.5 %."""
_HARDLY_ANY = 0.001
"""The share of what is expected that counts as none, because no test can show that it is 0."""
_TWICE = 1.0
"""Twice, in powers of 2."""
_EACH_SIZE = {CONFIG: (_SMALL, _LARGE)}
_AT_SMALL, _AT_LARGE = {CONFIG: _SMALL}, {CONFIG: _LARGE}
_RARE, _USUAL = ({"publish_interval": seconds} for seconds in ("4", "1"))
_STILL, _FAST = ({**_AT_LARGE, SPEED: speed} for speed in ("0.001", "8"))
_LATE, _AT_ONCE = ({AGENT: MFT, "publish_start": seconds} for seconds in ("30", "0"))


def check_suppositions(sweeps: Mapping[str, Measurements]) -> list[Claim]:
    """The verdict on each supposition, in their order; if its sweep was not run, it is not measured."""
    found = []
    for number, (sweep, test) in enumerate(SUPPOSITIONS, start=1):
        missing = Claim(number, test.text, test.reading, Verdict.NOT_MEASURED, (f"roambus sweep {sweep} was not run",))
        found += check([test], sweeps[sweep], number) if sweep in sweeps else [missing]
    return found


def _doublings(metric: str, new: Place, old: Place) -> Quantity:
    """How many doublings the metric is greater at the new place than at the old one; nothing where either is 0."""

    def ratio(measured: Measurements, at: Place) -> pd.Series[float]:
        both = (by_seed(measured, metric, **place, **at) for place in (new, old))
        more, less = (values.where(values > 0).transform(np.log2) for values in both)
        return more - less

    return ratio


def _agents(*names: str) -> tuple[dict[str, str], ...]:
    return tuple({AGENT: name} for name in names)


def _unchanged(label: str, quantity: Quantity) -> tuple[Comparison, Comparison]:
    """The values are neither more nor less by more than a little: two parts, so that both sides are tested."""
    return (
        Comparison(f"{label} (upwards)", quantity, Side.BELOW, _LITTLE),
        Comparison(f"{label} (downwards)", quantity, Side.ABOVE, -_LITTLE),
    )


def _messages_unchanged(changed: str, usual: str) -> Parts:
    """At the larger size the changed agent sends as many messages as the usual one."""
    change = _doublings(c.MESSAGES_PER_NODE, *_agents(changed, usual))
    return at_each({CONFIG: (_LARGE,)}, *_unchanged("C16: doublings of messages per node", change))


def _differs(label: str, plain: str, bare: str, quantity: Quantity) -> Parts:
    """A quantity is greater with the link layer than without it; both agents' names go into the label."""

    def more(measured: Measurements, _: Place) -> pd.Series[float]:
        return quantity(measured, {AGENT: plain}) - quantity(measured, {AGENT: bare})

    return at_each([], Comparison(label.format(plain=plain, bare=bare), more, Side.ABOVE))


def _link_layer_sends(plain: str, bare: str) -> Parts:
    """Messages grow faster with the size if there is a link layer: acknowledgements and repetitions come on top."""
    doublings = _doublings(c.MESSAGES_PER_NODE, _AT_LARGE, _AT_SMALL)
    label = "exponent of messages per node, {plain} minus {bare}"
    return _differs(label, plain, bare, lambda measured, at: doublings(measured, at) / _DOUBLINGS)


def _link_layer_delivers(plain: str, bare: str) -> Parts:
    """The rate falls less with the size if there is a link layer, which sends again what was lost."""
    fall = difference(c.DELIVERY_RATE_THESIS, _AT_LARGE, _AT_SMALL)
    return _differs("fall of the rate, C4 to C16, {bare} more than {plain}", plain, bare, fall)


def _stored_arrives(agent: str) -> Parts:
    """Next to nothing of what was attempted is missing in the longest runs, which end 257 s after the last publication.

    What is still on its way when a run ends, and what is lost, are the same to the rate; time tells them apart.
    """

    def lost(measured: Measurements, _: Place) -> pd.Series[float]:
        return 1 - by_seed(measured, c.DELIVERY_RATE_THESIS, agent=agent, time_limit="400", **_AT_LARGE)

    label = f"{agent}, C16, 257 s after the last publication: 1 minus the rate"
    return at_each([], Comparison(label, lost, Side.BELOW, _LITTLE))


def _not_begun(measured: Measurements, place: Place) -> pd.Series[float]:
    """The share of what is expected that is never attempted, if publishing begins late."""
    attempted, expected = (by_seed(measured, m, **_LATE, **place) for m in (c.ATTEMPTED, c.EXPECTED))
    return 1 - attempted / expected


SUPPOSITIONS: Sequence[tuple[str, ClaimTest]] = (
    (
        "explain-mft",
        ClaimTest(
            "The link layer makes MFT-PubSub's messages grow with size.",
            "The exponent of size of messages per node, C4 to C16, is greater with it than without.",
            _link_layer_sends(MFT, "mft-bare"),
        ),
    ),
    (
        "explain-aodv",
        ClaimTest(
            "The link layer makes AODV's messages grow with size.",
            "The same for AODV, against hello messages alone.",
            _link_layer_sends(AODV, "aodv-hello"),
        ),
    ),
    (
        "explain-mft",
        ClaimTest(
            "The link layer keeps MFT-PubSub's delivery rate up as the network grows.",
            "Without it the rate (thesis) falls more from C4 to C16 than with it.",
            _link_layer_delivers(MFT, "mft-bare"),
        ),
    ),
    (
        "explain-aodv",
        ClaimTest(
            "The link layer keeps AODV's delivery rate up as the network grows.",
            "Without it the rate falls more from C4 to C16 than with it.",
            _link_layer_delivers(AODV, "aodv-hello"),
        ),
    ),
    (
        "explain-mft",
        ClaimTest(
            "A tree in which the first neighbour heard is the parent migrates without need.",
            "With `sticky_parent` off, as in the thesis, there are more than twice as many migrations.",
            at_each(
                _EACH_SIZE,
                Comparison(
                    "{config}: doublings of migrations",
                    _doublings(c.migrations.column, *_agents("mft-first-copy", MFT)),
                    Side.ABOVE,
                    _TWICE,
                ),
            ),
        ),
    ),
    (
        "explain-mft",
        ClaimTest(
            "Corrections of MFT-PubSub hardly change what it sends.",
            "Without all of them, messages per node at C16 change by less than 0.05 doublings (3.5 %).",
            _messages_unchanged("mft-published", "mft-first-copy"),
        ),
    ),
    (
        "explain-mft",
        ClaimTest(
            "A slower heartbeat saves messages and costs deliveries.",
            "With a heartbeat every 4 s, at C16, messages per node are fewer and the rate (all) is lower.",
            at_each(
                {CONFIG: (_LARGE,)},
                Comparison(
                    "C16: doublings of messages per node, every 4 s against every 1 s",
                    _doublings(c.MESSAGES_PER_NODE, *_agents("mft-slow-beat", MFT)),
                    Side.BELOW,
                ),
                Comparison(
                    "C16: delivery rate (all), every 4 s minus every 1 s",
                    difference(c.DELIVERY_RATE_ALL, *_agents("mft-slow-beat", MFT)),
                    Side.BELOW,
                ),
            ),
        ),
    ),
    (
        "explain-aodv",
        ClaimTest(
            "How AODV searches hardly matters on fields of one to three hops.",
            "Without growing rings and rate limit, messages per node at C16 change by less than 0.05 doublings.",
            _messages_unchanged("aodv-floods", AODV),
        ),
    ),
    (
        "explain-aodv",
        ClaimTest(
            "However AODV is run, it has more hops at C4 than elsewhere, as in the thesis.",
            "Mean hops at C4 are more than at C16 in every variant.",
            at_each(
                [AGENT],
                Comparison(
                    "{agent}: mean hops, C4 minus C16", difference(c.HOPS_MEAN, _AT_SMALL, _AT_LARGE), Side.ABOVE
                ),
            ),
        ),
    ),
    (
        "explain-movement",
        ClaimTest(
            "MFT-PubSub's messages and delay come from movement.",
            "At C16 both are more at 8 m/s than where next to nothing moves.",
            at_each(
                {AGENT: (MFT,)},
                Comparison(
                    "{agent}: doublings of messages per node",
                    _doublings(c.MESSAGES_PER_NODE, _FAST, _STILL),
                    Side.ABOVE,
                ),
                Comparison(
                    "{agent}: doublings of the mean delay", _doublings(c.DELAY_MEAN_S, _FAST, _STILL), Side.ABOVE
                ),
            ),
        ),
    ),
    (
        "explain-movement",
        ClaimTest(
            "AODV's searches come from movement.",
            "At C16 there are more than twice as many RREQs at 8 m/s as where next to nothing moves.",
            at_each(
                {AGENT: (AODV,)},
                Comparison(
                    "{agent}: doublings of RREQs",
                    _doublings(f"{c.SENT_PREFIX}RREQ", _FAST, _STILL),
                    Side.ABOVE,
                    _TWICE,
                ),
            ),
        ),
    ),
    (
        "explain-load",
        ClaimTest(
            "AODV delivers less at C32 because the channel is full.",
            "With a quarter of the notifications, its rate at C32 is higher.",
            at_each(
                {CONFIG: ("C32",), AGENT: (AODV,)},
                Comparison(
                    "{config}: {agent}, delivery rate (all), every 4 s minus every 1 s",
                    difference(c.DELIVERY_RATE_ALL, _RARE, _USUAL),
                    Side.ABOVE,
                ),
            ),
        ),
    ),
    (
        "explain-load",
        ClaimTest(
            "MFT-PubSub's delay is waiting for a full channel.",
            "With a quarter of the notifications, its mean delay is shorter at C16 and at C32.",
            at_each(
                {CONFIG: (_LARGE, "C32"), AGENT: (MFT,)},
                Comparison(
                    "{config}: {agent}, doublings of the mean delay, every 4 s against every 1 s",
                    _doublings(c.DELAY_MEAN_S, _RARE, _USUAL),
                    Side.BELOW,
                ),
            ),
        ),
    ),
    (
        "explain-waiting",
        ClaimTest(
            "What MFT-PubSub has stored at the end would be delivered if the run went on.",
            "At C16, 257 s after the last publication, less than 0.05 of what was attempted is missing.",
            _stored_arrives(MFT),
        ),
    ),
    (
        "explain-waiting",
        ClaimTest(
            "The same without a link layer.",
            "The same: what is lost under way is not stored.",
            _stored_arrives("mft-bare"),
        ),
    ),
    (
        "explain-start",
        ClaimTest(
            "It hardly matters that publishing begins before the tree is there.",
            "If it begins 30 s later, MFT-PubSub's rate (all) changes by less than 0.05.",
            at_each(
                _EACH_SIZE,
                *_unchanged("{config}: delivery rate (all)", difference(c.DELIVERY_RATE_ALL, _LATE, _AT_ONCE)),
            ),
        ),
    ),
    (
        "explain-start",
        ClaimTest(
            "What MFT-PubSub does not try to deliver was published before the tree was there.",
            "If publishing begins after 30 s, less than 0.001 of what is expected is not attempted.",
            at_each(
                _EACH_SIZE, Comparison("{config}: share not begun, from 30 s on", _not_begun, Side.BELOW, _HARDLY_ANY)
            ),
        ),
    ),
    (
        "explain-payload",
        ClaimTest(
            "The size of a notification, which the thesis does not tell, hardly matters.",
            "From 0 to 60 bytes, at C16, the rate (all) changes by less than 0.05 for both.",
            at_each(
                {AGENT: (MFT, AODV), CONFIG: (_LARGE,)},
                *_unchanged(
                    "{config}: {agent}, delivery rate (all), 60 minus 0 bytes",
                    difference(c.DELIVERY_RATE_ALL, {"payload": "60"}, {"payload": "0"}),
                ),
            ),
        ),
    ),
)
"""Each with the sweep whose runs it is about."""
