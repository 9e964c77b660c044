"""Computes means that do not depend on the order in which Spark adds: numbers are summed as integers, in billionths."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812  # the name that every text on Spark uses


def billionths(value: Column) -> Column:
    """The nearest integer of billionths (nanoseconds for seconds); null where it does not fit 64 bits."""
    return F.round(value * 1e9).try_cast("long")


def mean_of_billionths(value: Column) -> Column:
    """An aggregate that is the mean of integers of billionths, as a number; null if there are no values."""
    return F.try_divide(F.sum(value), F.count(value)) / 1e9
