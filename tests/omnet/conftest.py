"""Programs of `omnet/`, built once for the tests."""

from pathlib import Path

import pytest

from tests.support.omnet import build


@pytest.fixture(scope="session")
def unit_tests() -> Path:
    """The program of the unit tests in C++."""
    return build("test-program", "unit-tests")


@pytest.fixture(scope="session")
def fuzz_client() -> Path:
    """The program that gives damaged messages to the client."""
    return build("fuzz", "fuzz-client")
