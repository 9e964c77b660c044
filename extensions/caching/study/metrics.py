"""The metrics of sections 6 and 7 of the paper on caching, from traces alone.

Section 6 has the definitions. Each function states its reading of an open point.
"""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from roambus.bridge.trace import schema
from roambus.extensions.caching.cache import ANSWER, CACHE, FORGET
from roambus.spark.metrics.arrays import billionths, difference_s
from roambus.spark.metrics.catalogue import mean, over, percentile, share
from roambus.spark.metrics.extra import Extra
from roambus.spark.metrics.metric import Scale, metric
from roambus.spark.metrics.run import Run, once

_SETTLED, _LATE = 0.2, 0.7
"""Observed messages come after the caches have filled, and early enough to disappear."""
_EARLY, _IN_TIME_S = 0.5, 1.0
"""An observed absence begins in a run's first half and ends in time for kept messages to arrive."""


# How long messages are cached


@metric("absorption time", "s")
def absorption_time_s(run: Run) -> float:
    """Time from a message's publication until no cache has it, mean over messages."""
    return mean(_absorbed(run)["time_s"])


@metric("median over mean absorption time")
def absorption_median(run: Run) -> float:
    """The median absorption time of messages that were cached, over their mean: 0.69 if exponential."""
    return _part_over_mean(run, 0.5)


@metric("last tenth over mean absorption time")
def absorption_tail(run: Run) -> float:
    """The absorption time that a tenth of these exceeds, over their mean: 2.30 if exponential."""
    return _part_over_mean(run, 0.9)


@metric("still cached", scale=Scale.SHARE)
def still_cached(run: Run) -> float:
    """Share of the messages observed that a cache has when the run ends."""
    return share(~_absorbed(run)["is_gone"])


@metric("messages observed")
def messages_observed(run: Run) -> float:
    """Messages over which the absorption time is a mean."""
    return len(_absorbed(run)) or math.nan


def _part_over_mean(run: Run, part: float) -> float:
    messages = _absorbed(run)
    cached_s = messages["time_s"][messages["into"] > 0]
    return over(percentile(cached_s, part), mean(cached_s))


@once
def _absorbed(run: Run) -> pd.DataFrame:
    """Return the observed messages: times `into` a cache, whether it `is_gone`, and `time_s` till then.

    An uncached message has 0; one still cached at the end counts up to then, so the mean is too small.
    """
    published, cached, forgotten = (
        run.rows(event).groupby(schema.NOTIFICATION_ID)[schema.TIME_S] for event in (schema.PUBLISH, CACHE, FORGET)
    )
    columns = {
        "published_s": published.min(),
        "into": cached.size(),
        "out": forgotten.size(),
        "last_s": forgotten.max(),
    }
    messages = pd.DataFrame(columns).fillna({"into": 0, "out": 0})
    observed = messages[messages["published_s"].between(_SETTLED * run.end_s, _LATE * run.end_s)]
    is_gone = observed["into"] == observed["out"]
    until_s = observed["last_s"].where(is_gone, run.end_s)
    time_s = (until_s - observed["published_s"]).where(observed["into"] > 0, 0.0)
    return observed.assign(is_gone=is_gone, time_s=time_s)


# How many responses come to a request for old messages


@metric("further responses", "%")
def gain_percent(run: Run) -> float:
    """Responses beyond the first with the same message for the same request."""
    # The paper has one response per request with the dropping of duplicates, and its gain is what there is more
    # without. Here a request can bring several messages: the gain is of responses over different messages.
    answers = run.rows(ANSWER)
    messages = len(answers.drop_duplicates([schema.NODE, schema.DETAIL, schema.NOTIFICATION_ID]))
    return 100 * (over(len(answers), messages) - 1)


@metric("responses per request")
def responses_per_request(run: Run) -> float:
    """Responses that reach the requesting client, over the requests that bring any."""
    return over(len(run.rows(ANSWER)), requests_answered(run))


@metric("requests answered")
def requests_answered(run: Run) -> float:
    """Requests for old messages that bring any."""
    return len(run.rows(ANSWER).drop_duplicates([schema.NODE, schema.DETAIL])) or math.nan


# What is missed in absences


@metric("lost message ratio", scale=Scale.SHARE)
def lost_ratio(run: Run) -> float:
    """Share of what was published in an absence that never came, mean over absences."""
    # The paper calls the inverse a lost message ratio, published over delivered; it is drawn as what is lost.
    return mean(_by_absence(run).mean())


@metric("absences observed")
def absences_observed(run: Run) -> float:
    """Absences in which something was published."""
    return len(_by_absence(run)) or math.nan


@metric("messages missed")
def missed(run: Run) -> float:
    """Messages published in the absence that never came."""
    found = missing_while_away(run)
    return found["is_lost"].sum() if len(found) else math.nan


@metric("time to catch up", "s")
def catch_up_s(run: Run) -> float:
    """Time from the client's return until the last message that it had missed and that comes."""
    found = missing_while_away(run)
    return float(difference_s(found["delivered_s"], found["back_s"]).max())


@once
def missing_while_away(run: Run) -> pd.DataFrame:
    """Return the pairs published in [detachment, return), and whether each `is_lost`.

    Absences must begin early enough and end in the run.
    """
    away = absences(run)
    left, back = billionths(away["left_s"]), billionths(away["back_s"])
    is_observed = (left < _EARLY * 1e9 * run.end_s) & (back < 1e9 * (run.end_s - _IN_TIME_S))
    both = run.pairs.merge(away[is_observed], left_on="subscriber", right_on=schema.NODE)
    pairs = both[(both["left_s"] <= both["published_s"]) & (both["published_s"] < both["back_s"])]
    return pairs.assign(is_lost=pairs["delivered_s"].isna())


def absences(run: Run) -> pd.DataFrame:
    """A row for each announced absence that ends: `node`, `left_s`, `back_s`."""
    moves = run.rows(schema.DETACH, schema.ATTACH)
    back = moves.groupby(schema.NODE)[schema.TIME_S].shift(-1)
    timed = moves[[schema.NODE, schema.TIME_S]].set_axis([schema.NODE, "left_s"], axis=1).assign(back_s=back)
    return timed[moves[schema.EVENT] == schema.DETACH].dropna()


def _by_absence(run: Run) -> Any:
    return missing_while_away(run).groupby([schema.NODE, "left_s"])["is_lost"]


POPULATION = Extra(
    (
        absorption_time_s,
        absorption_median,
        absorption_tail,
        still_cached,
        messages_observed,
        gain_percent,
        responses_per_request,
        requests_answered,
        lost_ratio,
        absences_observed,
    )
)
"""Return the pairs by absence."""
TITLES = {metric.column: metric.axis_title for metric in POPULATION.metrics}
"""The names of these metrics in claims."""
MOVE = Extra((missed, catch_up_s))
"""The metrics of figure 5."""

ABSORPTION_S, ABSORPTION_MEDIAN = absorption_time_s.column, absorption_median.column
ABSORPTION_TAIL, GAIN_PERCENT, LOST_RATIO = absorption_tail.column, gain_percent.column, lost_ratio.column
MISSED, CATCH_UP_S = missed.column, catch_up_s.column
