"""What PySpark and Py4J keep and say of a Java that has ended."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark import SparkContext
from pyspark.sql import SparkSession


def forget() -> None:
    """Lets PySpark know nothing of the Java that has ended, so that the next session starts another one.

    PySpark has no public way to that.
    """
    context = SparkContext._active_spark_context
    if context is not None:
        context._jsc = None  # else `stop` would ask the Java that is gone
        context.stop()
    SparkSession._instantiatedSession = SparkSession._activeSession = None
    SparkContext._gateway = SparkContext._jvm = None


@contextmanager
def losses_unlogged() -> Iterator[None]:
    """Keeps Py4J from logging, with a traceback, each call that does not reach Java: the error itself says it."""
    logging.root.addFilter(_is_not_py4j)
    try:
        yield
    finally:
        logging.root.removeFilter(_is_not_py4j)


def _is_not_py4j(record: logging.LogRecord) -> bool:
    return "py4j" not in record.pathname
