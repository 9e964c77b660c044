"""Measures what sections 6 and 7 of the paper on caching measure, from traces alone.

The paper's definitions are in its section 6. Where one of them leaves something open, the function that computes it
says how it is read.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812  # the name that every text on Spark uses

from roambus.bridge.trace import schema
from roambus.spark.metrics.catalogue import Metric, Scale
from roambus.spark.metrics.extra import Extra, ExtraMetrics, ExtraTable
from roambus.spark.metrics.run_metrics import (
    BACK_NS,
    DELIVERED_NS,
    LEFT_NS,
    RUN,
    absences,
    billionths,
    mean_of_billionths,
    missed,
)

ABSORPTION_S = "absorption_time_s"
ABSORPTION_MEDIAN, ABSORPTION_TAIL = "absorption_median", "absorption_tail"
STILL_CACHED = "still_cached"
MESSAGES_OBSERVED = "messages_observed"
GAIN_PERCENT = "gain_percent"
RESPONSES_PER_REQUEST = "responses_per_request"
REQUESTS_ANSWERED = "requests_answered"
LOST_RATIO = "lost_ratio"
ABSENCES_OBSERVED = "absences_observed"
MISSED = "missed"
CATCH_UP_S = "catch_up_s"
DELIVERIES = "deliveries"
"""The table that says when the client of figure 5 gets each message."""
DELIVERED_S, COUNT = "delivered_s", "count"

_SETTLED, _LATE = 0.2, 0.7
"""Messages are observed from when the caches have filled, as long as there is time for them to disappear."""
_EARLY, _IN_TIME_S = 0.5, 1.0
"""An absence is observed if it begins in the first half of a run, so that long ones have time to end, and ends so long
before the run that what was kept has time to arrive."""


def absorption(traces: DataFrame) -> DataFrame:
    """The time from a message's publication until it is in no cache any more, mean over messages.

    One that no broker cached has 0. One that still is cached when the run ends counts with the time until then, which
    makes the mean too small; `still_cached` is the share of these. Of those that were cached, the median and the time
    that a tenth exceeds are given, too, over their mean: 0.69 and 2.30 if the times are exponential.
    """
    joined = _messages(traces).join(_ends(traces), RUN)
    observed = joined.where(F.col("published_s").between(_SETTLED * F.col("end_s"), _LATE * F.col("end_s")))
    is_gone = F.col("into") == F.col("out_of")
    until = F.when(is_gone, F.col("last_s")).otherwise(F.col("end_s"))
    time = F.when(F.col("into") == 0, 0.0).otherwise(until - F.col("published_s"))
    cached_s = F.when(F.col("into") > 0, time)
    return observed.groupBy(RUN).agg(
        _mean(time).alias(ABSORPTION_S),
        F.try_divide(F.percentile(cached_s, 0.5), _mean(cached_s)).alias(ABSORPTION_MEDIAN),
        F.try_divide(F.percentile(cached_s, 0.9), _mean(cached_s)).alias(ABSORPTION_TAIL),
        F.avg((~is_gone).cast("int")).alias(STILL_CACHED),
        F.count("*").alias(MESSAGES_OBSERVED),
    )


def responses(traces: DataFrame) -> DataFrame:
    """How many responses come to who asks for old messages, over the requests that bring any.

    The paper has one response per request with the dropping of duplicates, and its gain is what there is more without.
    Here a request can bring several messages: the gain is of responses over different messages, in per cent.
    """
    answers = traces.where(_event() == schema.ANSWER)
    request = [RUN, schema.NODE, schema.DETAIL]
    copies = answers.groupBy(*request, schema.NOTIFICATION_ID).agg(F.count("*").alias("copies"))
    found = copies.groupBy(*request).agg(F.sum("copies").alias("came"), F.count("*").alias("messages"))
    return found.groupBy(RUN).agg(
        (100 * (F.sum("came") / F.sum("messages") - 1)).alias(GAIN_PERCENT),
        (F.sum("came") / F.count("*")).alias(RESPONSES_PER_REQUEST),
        F.count("*").alias(REQUESTS_ANSWERED),
    )


def losses(traces: DataFrame) -> DataFrame:
    """The share of what was published while a client was away, and never came; mean over absences.

    The paper calls the inverse a lost message ratio, published over delivered; it is drawn as what is lost.
    """
    pairs = missing_while_away(traces)
    of_absence = pairs.groupBy(RUN, schema.NODE, LEFT_NS).agg(
        F.sum("lost").alias("lost"), F.count("*").alias("published")
    )
    ratio = F.col("lost") / F.col("published")
    return of_absence.groupBy(RUN).agg(_mean(ratio).alias(LOST_RATIO), F.count("*").alias(ABSENCES_OBSERVED))


def figure_5(traces: DataFrame) -> DataFrame:
    """How many messages a client that was away never gets, and how long after its return the last other one comes."""
    pairs = missing_while_away(traces)
    late = F.when(F.col("lost") == 0, (F.col(DELIVERED_NS) - F.col(BACK_NS)) / 1e9)
    return pairs.groupBy(RUN).agg(F.sum("lost").alias(MISSED), F.max(late).alias(CATCH_UP_S))


def deliveries(traces: DataFrame) -> DataFrame:
    """A row for each delivery, as figure 5 of the paper on caching shows them.

    It has the time since the first delivery (s), and how many deliveries there are up to then.
    """
    in_time = Window.partitionBy(RUN).orderBy(schema.TIME_S, schema.NOTIFICATION_ID)
    delivered = traces.where(_event() == schema.DELIVER)
    since = _time_s() - F.min(_time_s()).over(Window.partitionBy(RUN))
    return delivered.select(RUN, since.alias(DELIVERED_S), F.row_number().over(in_time).alias(COUNT))


def missing_while_away(traces: DataFrame) -> DataFrame:
    """A row for each message that somebody wants who is away, as `missed` gives them, and `lost`, 0 or 1.

    Only absences count that begin early enough to end in time, and do end.
    """
    ended = absences(traces).join(_ends(traces), RUN)
    is_early = F.col(LEFT_NS) < _EARLY * 1e9 * F.col("end_s")
    in_time = F.col(BACK_NS) < 1e9 * (F.col("end_s") - _IN_TIME_S)
    meanwhile = missed(traces, of=ended.where(is_early & in_time).drop("end_s"))
    return meanwhile.withColumn("lost", F.col(DELIVERED_NS).isNull().cast("int"))


def _messages(traces: DataFrame) -> DataFrame:
    """When each message was published, how often it went `into` a cache and `out_of` one, and when out last."""
    event, time_s = _event(), _time_s()
    of_message = traces.where(event.isin(schema.PUBLISH, schema.CACHE, schema.FORGET))
    return of_message.groupBy(RUN, schema.NOTIFICATION_ID).agg(
        F.min(F.when(event == schema.PUBLISH, time_s)).alias("published_s"),
        F.count_if(event == schema.CACHE).alias("into"),
        F.count_if(event == schema.FORGET).alias("out_of"),
        F.max(F.when(event == schema.FORGET, time_s)).alias("last_s"),
    )


def _event() -> Column:
    return F.col(schema.EVENT)


def _time_s() -> Column:
    return F.col(schema.TIME_S)


def _ends(traces: DataFrame) -> DataFrame:
    return F.broadcast(traces.groupBy(RUN).agg(F.max(schema.TIME_S).alias("end_s")))


def _mean(value: Column) -> Column:
    return mean_of_billionths(billionths(value))


POPULATION = Extra(
    metrics=(
        ExtraMetrics(
            (
                Metric(
                    ABSORPTION_S,
                    "absorption time",
                    "Time from a message's publication until no cache has it, mean over messages.",
                    "s",
                ),
                Metric(
                    ABSORPTION_MEDIAN,
                    "median over mean absorption time",
                    "The median absorption time of messages that were cached, over their mean: 0.69 if exponential.",
                ),
                Metric(
                    ABSORPTION_TAIL,
                    "last tenth over mean absorption time",
                    "The absorption time that a tenth of these exceeds, over their mean: 2.30 if exponential.",
                ),
                Metric(
                    STILL_CACHED,
                    "still cached",
                    "Share of the messages observed that a cache has when the run ends.",
                    scale=Scale.SHARE,
                ),
                Metric(MESSAGES_OBSERVED, "messages observed", "Messages over which the absorption time is a mean."),
            ),
            absorption,
        ),
        ExtraMetrics(
            (
                Metric(
                    GAIN_PERCENT,
                    "further responses",
                    "Responses beyond the first with the same message for the same request.",
                    "%",
                ),
                Metric(
                    RESPONSES_PER_REQUEST,
                    "responses per request",
                    "Responses that come to whom asked, over the requests that bring any.",
                ),
                Metric(REQUESTS_ANSWERED, "requests answered", "Requests for old messages that bring any."),
            ),
            responses,
        ),
        ExtraMetrics(
            (
                Metric(
                    LOST_RATIO,
                    "lost message ratio",
                    "Share of what was published in an absence that never came, mean over absences.",
                    scale=Scale.SHARE,
                ),
                Metric(ABSENCES_OBSERVED, "absences observed", "Absences in which something was published."),
            ),
            losses,
        ),
    )
)
"""What figure 4 needs."""

TITLES = {metric.column: metric.axis_title for metric in POPULATION.catalogue}
"""What claims call these metrics."""

MOVE = Extra(
    metrics=(
        ExtraMetrics(
            (
                Metric(MISSED, "messages missed", "Messages published in the absence that never came."),
                Metric(
                    CATCH_UP_S,
                    "time to catch up",
                    "Time from the client's return until the last message that it had missed and that comes.",
                    "s",
                ),
            ),
            figure_5,
        ),
    ),
    tables=(ExtraTable(DELIVERIES, (DELIVERED_S, COUNT), deliveries),),
)
"""What figure 5 needs."""
