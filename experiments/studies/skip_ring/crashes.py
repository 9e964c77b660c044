"""Measures what becomes of a skip ring in which subscribers crash (section 3.3 of its paper)."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  # the name that every text on Spark uses

from roambus.bridge.trace import schema
from roambus.experiments.studies.skip_ring.metrics import CLOSURE_S, LEGITIMATE, edges, sound
from roambus.experiments.studies.skip_ring.rows import is_event, last_states, time_s
from roambus.spark.metrics.catalogue import Metric, Scale
from roambus.spark.metrics.extra import Extra, ExtraMetrics
from roambus.spark.metrics.run_metrics import RUN

RESTORED = "restored"
ROUNDS_TO_RESTORE = "rounds_to_restore"


def recovery(traces: DataFrame) -> DataFrame:
    """Whether those that have not crashed end in the skip ring of as many, and the rounds from the crash until then."""
    crashed = traces.where(is_event(schema.CRASH)).select(RUN, schema.NODE).distinct()
    left = traces.join(crashed, [RUN, schema.NODE], "left_anti")
    is_state = is_event(schema.OVERLAY)
    times = left.groupBy(RUN).agg(F.max(F.when(is_state, time_s())).alias("since"), F.max(time_s()).alias("until"))
    began = traces.where(is_event(schema.CRASH)).groupBy(RUN).agg(F.max(time_s()).alias("at"))
    restored = F.col(LEGITIMATE) & (F.col("until") - F.col("since") >= CLOSURE_S)
    rounds = F.greatest(F.col("since") - F.col("at"), F.lit(0.0))
    return (
        sound(edges(last_states(left)))
        .join(times, RUN)
        .join(began, RUN)
        .select(RUN, restored.cast("int").alias(RESTORED), F.when(restored, rounds).alias(ROUNDS_TO_RESTORE))
    )


CRASHES = Extra(
    (
        ExtraMetrics(
            (
                Metric(
                    RESTORED,
                    "share of runs that are restored",
                    "Whether those left end in the skip ring of as many that is 10 rounds old: 1 or 0.",
                    scale=Scale.SHARE,
                ),
                Metric(
                    ROUNDS_TO_RESTORE,
                    "rounds to restore the ring",
                    "Rounds from the crashes until the last change of a label or edge, in runs that are restored.",
                ),
            ),
            recovery,
        ),
    )
)
