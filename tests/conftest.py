"""Settings of all tests."""

import pytest
from hypothesis import settings

from bridge.backends.castalia.installation import Program
from tests.support import omnet

# How long an example takes says something of the machine, not of the behaviour that a test states.
settings.register_profile("roambus", deadline=None)
settings.load_profile("roambus")


@pytest.fixture(scope="session")
def castalia() -> Program:
    """Castalia with our modules; skips where they are not."""
    return omnet.castalia()
