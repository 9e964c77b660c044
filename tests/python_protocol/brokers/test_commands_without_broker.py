"""What the application commands while its client has no broker is not lost."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from roambus.python_protocol.mft import MftPubSub
from tests.support.moving_client import Step, any_step, assert_commands_hold


@given(steps=st.lists(any_step([0, 1, 2, 3]), max_size=12))
@settings(max_examples=40)
def test_a_client_that_moves_says_what_it_was_commanded_on_the_way(steps: list[Step]) -> None:
    """Subscriptions and their ends reach the next broker, whichever it is."""
    assert_commands_hold(MftPubSub, steps)
