"""What PySpark and Py4J keep and say of a Java that has ended."""

from __future__ import annotations

import logging

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


def silence_losses() -> None:
    """Keeps Py4J from logging, with a traceback, each call that does not reach Java: the error itself says it.

    It holds for ever: objects that outlive Java are still being freed when the process ends.
    """
    logging.root.addFilter(_is_not_py4j)  # another time it changes nothing


def _is_not_py4j(record: logging.LogRecord) -> bool:
    return "py4j" not in record.pathname
