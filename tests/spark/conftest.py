"""For the tests of the metrics."""

import pytest

from roambus.spark.aggregation import computation


@pytest.fixture
def divided(monkeypatch: pytest.MonkeyPatch) -> None:
    """The smallest batch is divided as a large one is, into many tasks."""
    monkeypatch.setattr(computation, "ROWS_OF_ONE_TASK", 0)
