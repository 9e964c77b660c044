"""Why the numbers are as they are: suppositions, each with a small sweep that can settle it and a reading fixed here.

A supposition is tested like a claim (`roambus.experiments.claims`), and is printed whether it holds or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from roambus.bridge.runs.layout import AGENT, SEED
from roambus.experiments.claims import Claim, ClaimTest, Part, Side, Verdict, check, make_part
from roambus.experiments.measurements import Measurements, NotMeasuredError
from roambus.experiments.studies.thesis.claims import AODV, CONFIG, MFT, SPEED
from roambus.spark.metrics import catalogue as c

_SMALL, _LARGE = "C4", "C16"
"""The sizes of these sweeps."""
_DOUBLINGS = 2
"""The doublings of the size from one to the other."""
_LITTLE = 0.05
"""A change of a rate, or of the logarithm of a number, that is called little."""
_HARDLY_ANY = 0.001
_TWICE = 1.0
"""Twice, in powers of 2."""
_INTERVAL = "publish_interval"


@dataclass(frozen=True, slots=True)
class Supposition:
    """A claim about the runs of one sweep."""

    sweep: str
    test: ClaimTest


def check_suppositions(sweeps: Mapping[str, Measurements]) -> list[Claim]:
    """The verdict on each supposition, in their order; if its sweep was not run, it is not measured."""
    return [_check(number, one, sweeps) for number, one in enumerate(SUPPOSITIONS, start=1)]


def _check(number: int, supposition: Supposition, sweeps: Mapping[str, Measurements]) -> Claim:
    test, measured = supposition.test, sweeps.get(supposition.sweep)
    if measured is None:
        missing = f"roambus sweep {supposition.sweep} was not run"
        return Claim(number, test.text, test.reading, Verdict.NOT_MEASURED, (missing,))
    (claim,) = check([test], measured, number)
    return claim


# Numbers: one a seed


def _values(measured: Measurements, metric: str, **place: str) -> pd.Series[float]:
    runs = measured.runs
    for column, value in place.items():
        runs = runs[runs[column] == value] if column in runs else runs.iloc[:0]
    if runs.empty or metric not in runs:
        raise NotMeasuredError(f"there are no runs of {', '.join(place.values())}")
    return runs.set_index(SEED)[metric].astype(float)


def _log2(values: pd.Series[float]) -> pd.Series[float]:
    return values.where(values > 0).transform(np.log2)


def _ratio(measured: Measurements, metric: str, new: Mapping[str, str], old: Mapping[str, str]) -> pd.Series[float]:
    """How many doublings the metric is greater at the new place than at the old one."""
    return (_log2(_values(measured, metric, **new)) - _log2(_values(measured, metric, **old))).dropna()


def _change(measured: Measurements, metric: str, new: Mapping[str, str], old: Mapping[str, str]) -> pd.Series[float]:
    return (_values(measured, metric, **new) - _values(measured, metric, **old)).dropna()


def _growth(measured: Measurements, metric: str, agent: str) -> pd.Series[float]:
    """The exponent of size by which the metric grows."""
    return _ratio(measured, metric, {AGENT: agent, CONFIG: _LARGE}, {AGENT: agent, CONFIG: _SMALL}) / _DOUBLINGS


def _unchanged(label: str, values: pd.Series[float]) -> Iterable[Part]:
    """Two parts: the values are neither more nor less by more than a little."""
    yield make_part(f"{label} (upwards)", values, Side.BELOW, _LITTLE)
    yield make_part(f"{label} (downwards)", values, Side.ABOVE, -_LITTLE)


# The suppositions


def _link_layer_sends(plain: str, bare: str, measured: Measurements) -> Iterable[Part]:
    more = _growth(measured, c.MESSAGES_PER_NODE, plain) - _growth(measured, c.MESSAGES_PER_NODE, bare)
    yield make_part(f"exponent of messages per node, {plain} minus {bare}", more, Side.ABOVE)


def _link_layer_delivers(plain: str, bare: str, measured: Measurements) -> Iterable[Part]:
    falls = [
        _change(measured, c.DELIVERY_RATE_THESIS, {AGENT: agent, CONFIG: _LARGE}, {AGENT: agent, CONFIG: _SMALL})
        for agent in (plain, bare)
    ]
    yield make_part(f"fall of the rate, C4 to C16, {bare} more than {plain}", falls[0] - falls[1], Side.ABOVE)


def _first_copies_migrate(measured: Measurements) -> Iterable[Part]:
    for config in (_SMALL, _LARGE):
        places = ({AGENT: agent, CONFIG: config} for agent in ("mft-first-copy", MFT))
        yield make_part(
            f"{config}: doublings of migrations", _ratio(measured, c.MIGRATIONS, *places), Side.ABOVE, _TWICE
        )


def _mends_are_free(measured: Measurements) -> Iterable[Part]:
    places = ({AGENT: agent, CONFIG: _LARGE} for agent in ("mft-published", "mft-first-copy"))
    yield from _unchanged("C16: doublings of messages per node", _ratio(measured, c.MESSAGES_PER_NODE, *places))


def _rare_heartbeats(measured: Measurements) -> Iterable[Part]:
    slow, usual = ({AGENT: agent, CONFIG: _LARGE} for agent in ("mft-slow-beat", MFT))
    fewer = _ratio(measured, c.MESSAGES_PER_NODE, slow, usual)
    yield make_part("C16: doublings of messages per node, every 4 s against every 1 s", fewer, Side.BELOW)
    lost = _change(measured, c.DELIVERY_RATE_ALL, slow, usual)
    yield make_part("C16: delivery rate (all), every 4 s minus every 1 s", lost, Side.BELOW)


def _searches_hardly_matter(measured: Measurements) -> Iterable[Part]:
    places = ({AGENT: agent, CONFIG: _LARGE} for agent in ("aodv-floods", AODV))
    yield from _unchanged("C16: doublings of messages per node", _ratio(measured, c.MESSAGES_PER_NODE, *places))


def _hops_peak(measured: Measurements) -> Iterable[Part]:
    for agent in measured.agents:
        more = _change(measured, c.HOPS_MEAN, {AGENT: agent, CONFIG: _SMALL}, {AGENT: agent, CONFIG: _LARGE})
        yield make_part(f"{agent}: mean hops, C4 minus C16", more, Side.ABOVE)


def _movement_migrates(measured: Measurements) -> Iterable[Part]:
    still, fast = ({AGENT: MFT, CONFIG: _LARGE, SPEED: speed} for speed in ("0.001", "8"))
    yield make_part(
        "mft: doublings of messages per node", _ratio(measured, c.MESSAGES_PER_NODE, fast, still), Side.ABOVE
    )
    yield make_part("mft: doublings of the mean delay", _ratio(measured, c.DELAY_MEAN_S, fast, still), Side.ABOVE)


def _movement_searches(measured: Measurements) -> Iterable[Part]:
    still, fast = ({AGENT: AODV, CONFIG: _LARGE, SPEED: speed} for speed in ("0.001", "8"))
    more = _ratio(measured, f"{c.SENT_PREFIX}RREQ", fast, still)
    yield make_part("aodv: doublings of RREQs", more, Side.ABOVE, _TWICE)


def _load_collapses(measured: Measurements) -> Iterable[Part]:
    rare, usual = ({AGENT: AODV, CONFIG: "C32", _INTERVAL: interval} for interval in ("4", "1"))
    better = _change(measured, c.DELIVERY_RATE_ALL, rare, usual)
    yield make_part("C32: aodv, delivery rate (all), every 4 s minus every 1 s", better, Side.ABOVE)


def _load_delays(measured: Measurements) -> Iterable[Part]:
    for config in (_LARGE, "C32"):
        rare, usual = ({AGENT: MFT, CONFIG: config, _INTERVAL: interval} for interval in ("4", "1"))
        shorter = _ratio(measured, c.DELAY_MEAN_S, rare, usual)
        yield make_part(f"{config}: mft, doublings of the mean delay, every 4 s against every 1 s", shorter, Side.BELOW)


def _stored_arrives(agent: str, measured: Measurements) -> Iterable[Part]:
    place = {AGENT: agent, CONFIG: _LARGE, "time_limit": "400"}
    rate = _values(measured, c.DELIVERY_RATE_THESIS, **place)
    yield make_part(f"{agent}, C16, 257 s after the last publication: 1 minus the rate", 1 - rate, Side.BELOW, _LITTLE)


def _start_hardly_matters(measured: Measurements) -> Iterable[Part]:
    for config in (_SMALL, _LARGE):
        late, usual = ({AGENT: MFT, CONFIG: config, "publish_start": start} for start in ("30", "0"))
        yield from _unchanged(f"{config}: delivery rate (all)", _change(measured, c.DELIVERY_RATE_ALL, late, usual))


def _start_is_not_taken_on(measured: Measurements) -> Iterable[Part]:
    for config in (_SMALL, _LARGE):
        place = {AGENT: MFT, CONFIG: config, "publish_start": "30"}
        share = _values(measured, c.ATTEMPTED, **place) / _values(measured, c.EXPECTED, **place)
        yield make_part(f"{config}: share not begun, from 30 s on", 1 - share, Side.BELOW, _HARDLY_ANY)


def _size_hardly_matters(measured: Measurements) -> Iterable[Part]:
    for agent in (MFT, AODV):
        large, none = ({AGENT: agent, CONFIG: _LARGE, "payload": payload} for payload in ("60", "0"))
        change = _change(measured, c.DELIVERY_RATE_ALL, large, none)
        yield from _unchanged(f"C16: {agent}, delivery rate (all), 60 minus 0 bytes", change)


SUPPOSITIONS = (
    Supposition(
        "explain-mft",
        ClaimTest(
            "The link layer makes MFT-PubSub's messages grow with size.",
            "The exponent of size of messages per node, C4 to C16, is greater with it than without.",
            partial(_link_layer_sends, MFT, "mft-bare"),
        ),
    ),
    Supposition(
        "explain-aodv",
        ClaimTest(
            "The link layer makes AODV's messages grow with size.",
            "The same for AODV, against hello messages alone.",
            partial(_link_layer_sends, AODV, "aodv-hello"),
        ),
    ),
    Supposition(
        "explain-mft",
        ClaimTest(
            "The link layer keeps MFT-PubSub's delivery rate up as the network grows.",
            "Without it the rate (thesis) falls more from C4 to C16 than with it.",
            partial(_link_layer_delivers, MFT, "mft-bare"),
        ),
    ),
    Supposition(
        "explain-aodv",
        ClaimTest(
            "The link layer keeps AODV's delivery rate up as the network grows.",
            "Without it the rate falls more from C4 to C16 than with it.",
            partial(_link_layer_delivers, AODV, "aodv-hello"),
        ),
    ),
    Supposition(
        "explain-mft",
        ClaimTest(
            "A tree in which the first neighbour heard is the parent migrates without need.",
            "With `sticky_parent` off, as in the thesis, there are more than twice as many migrations.",
            _first_copies_migrate,
        ),
    ),
    Supposition(
        "explain-mft",
        ClaimTest(
            "Corrections of MFT-PubSub hardly change what it sends.",
            "Without all of them, messages per node at C16 change by less than 0.05 doublings (3.5 %).",
            _mends_are_free,
        ),
    ),
    Supposition(
        "explain-mft",
        ClaimTest(
            "A slower heartbeat saves messages and costs deliveries.",
            "With a heartbeat every 4 s, at C16, messages per node are fewer and the rate (all) is lower.",
            _rare_heartbeats,
        ),
    ),
    Supposition(
        "explain-aodv",
        ClaimTest(
            "How AODV searches hardly matters on fields of one to three hops.",
            "Without growing rings and rate limit, messages per node at C16 change by less than 0.05 doublings.",
            _searches_hardly_matter,
        ),
    ),
    Supposition(
        "explain-aodv",
        ClaimTest(
            "However AODV is run, it has more hops at C4 than elsewhere, as in the thesis.",
            "Mean hops at C4 are more than at C16 in every variant.",
            _hops_peak,
        ),
    ),
    Supposition(
        "explain-movement",
        ClaimTest(
            "MFT-PubSub's messages and delay come from movement.",
            "At C16 both are more at 8 m/s than where next to nothing moves.",
            _movement_migrates,
        ),
    ),
    Supposition(
        "explain-movement",
        ClaimTest(
            "AODV's searches come from movement.",
            "At C16 there are more than twice as many RREQs at 8 m/s as where next to nothing moves.",
            _movement_searches,
        ),
    ),
    Supposition(
        "explain-load",
        ClaimTest(
            "AODV delivers less at C32 because the channel is full.",
            "With a quarter of the notifications, its rate at C32 is higher.",
            _load_collapses,
        ),
    ),
    Supposition(
        "explain-load",
        ClaimTest(
            "MFT-PubSub's delay is waiting for a full channel.",
            "With a quarter of the notifications, its mean delay is shorter at C16 and at C32.",
            _load_delays,
        ),
    ),
    Supposition(
        "explain-waiting",
        ClaimTest(
            "What MFT-PubSub has stored at the end would be delivered if the run went on.",
            "At C16, 257 s after the last publication, less than 0.05 of what was attempted is missing.",
            partial(_stored_arrives, MFT),
        ),
    ),
    Supposition(
        "explain-waiting",
        ClaimTest(
            "The same without a link layer.",
            "The same: what is lost under way is not stored.",
            partial(_stored_arrives, "mft-bare"),
        ),
    ),
    Supposition(
        "explain-start",
        ClaimTest(
            "It hardly matters that publishing begins before the tree is there.",
            "If it begins 30 s later, MFT-PubSub's rate (all) changes by less than 0.05.",
            _start_hardly_matters,
        ),
    ),
    Supposition(
        "explain-start",
        ClaimTest(
            "What MFT-PubSub does not try to deliver was published before the tree was there.",
            "If publishing begins after 30 s, less than 0.001 of what is expected is not attempted.",
            _start_is_not_taken_on,
        ),
    ),
    Supposition(
        "explain-payload",
        ClaimTest(
            "The size of a notification, which the thesis does not tell, hardly matters.",
            "From 0 to 60 bytes, at C16, the rate (all) changes by less than 0.05 for both.",
            _size_hardly_matters,
        ),
    ),
)
