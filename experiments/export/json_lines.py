"""Writes a trace as JSON lines: an object for each row, with the columns that have a value there."""

from __future__ import annotations

import json
from collections.abc import Iterator

from roambus.experiments.export.runs import rows
from roambus.spark.aggregation.traces import Trace


def json_lines(trace: Trace) -> Iterator[str]:
    """The lines of a trace, in its order; raises UserError, OSError."""
    for row in rows(trace):
        yield json.dumps({column: value for column, value in row.items() if value is not None}) + "\n"
