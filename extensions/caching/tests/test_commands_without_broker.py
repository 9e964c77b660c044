"""What the application commands while its client has no broker is not lost."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from roambus.extensions.caching import Caching
from tests.support.moving_client import HOME, Step, any_step, assert_commands_hold


@given(steps=st.lists(any_step([HOME]), max_size=12))
@settings(max_examples=40)
def test_a_client_that_is_bound_to_a_broker_says_it_when_it_is_back(steps: list[Step]) -> None:
    """Caching asks a client to announce that it leaves."""
    assert_commands_hold(Caching, steps)
