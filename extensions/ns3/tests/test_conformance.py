"""ns-3 keeps what the interface of back-ends promises."""

from __future__ import annotations

from functools import partial

import pytest

from roambus.extensions.ns3.tests.adapter import make_ns3
from roambus.testing.backend_case import Factory
from roambus.testing.backend_promises import *  # noqa: F403  # the tests and their fixtures are what is wanted

SUBJECTS = [
    pytest.param(make_ns3, id="ns3"),
    pytest.param(partial(make_ns3, batching=False), id="ns3-unbatched"),
    pytest.param(partial(make_ns3, stack="wifi"), id="ns3-wifi"),
]
pytestmark = pytest.mark.ns3


@pytest.fixture(params=SUBJECTS)
def factory(request: pytest.FixtureRequest) -> Factory:
    """How the back-end of a case is made."""
    made: Factory = request.param
    return made
