"""One Spark session for all tests: starting it takes longer than all of them together."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from spark.session import spark_session


@pytest.fixture(scope="session")
def session() -> Iterator[SparkSession]:
    with spark_session("local[2]") as started:
        yield started
