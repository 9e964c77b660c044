"""Gives an executor its tasks, and the driver their outcomes.

All of this goes by value, as `roambus.spark.engine.shipment` does: on an executor roambus is not importable yet.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any

from pyspark import cloudpickle
from pyspark.accumulators import Accumulator, AccumulatorParam

from roambus.spark.engine.shipment import arrive

Outcome = tuple[int, str | None, str | None]
"""The run's number, its error, and the executor's problem (then no run)."""


class Outcomes(AccumulatorParam[list[Outcome]]):
    """Collects the tasks' outcomes; Spark counts each once."""

    def zero(self, value: list[Outcome]) -> list[Outcome]:  # the interface
        """The start: there is no outcome yet."""
        return []

    def addInPlace(self, value1: list[Outcome], value2: list[Outcome]) -> list[Outcome]:  # noqa: N802  # the interface
        """Joins two lists of outcomes."""
        value1.extend(value2)
        return value1


def worker(archive: str, maker: str, outcomes: Accumulator[list[Outcome]]) -> Callable[[Iterable[bytes]], None]:
    """Give tasks to `make` of the module `maker`, on an executor."""

    def work(tasks: Iterable[bytes]) -> None:
        module = arrive(archive, maker)
        for sent in tasks:
            outcomes.add([module.make(sent)])

    return work


_pickler: Any = cloudpickle  # PySpark does not type its copy
_pickler.register_pickle_by_value(sys.modules[__name__])
