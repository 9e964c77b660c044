"""Every back-end that comes with roambus keeps what the interface promises, and so does the documentation's example."""

from __future__ import annotations

import pytest

from roambus.testing.backend_case import Factory
from roambus.testing.backend_promises import *  # noqa: F403  # the tests and their fixtures are what is wanted
from tests.bridge.backends.conformance import SUBJECTS


@pytest.fixture(params=SUBJECTS)
def factory(request: pytest.FixtureRequest) -> Factory:
    """How the back-end of a case is made."""
    made: Factory = request.param
    return made
