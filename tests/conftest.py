"""Settings of all tests."""

import pytest
from hypothesis import settings

from bridge.backends.castalia.installation import Program
from tests.support import omnet

# How long an example takes says something of the machine, not of the behaviour that a test states.
settings.register_profile("roambus", deadline=None)
settings.load_profile("roambus")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--rewrite`: see tests/test_scenarios.py."""
    parser.addoption(
        "--rewrite", action="store_true", help="write what follows into the transcripts of tests/scenarios"
    )


@pytest.fixture(scope="session")
def castalia() -> Program:
    """Castalia with our modules; skips where they are not."""
    return omnet.castalia()
