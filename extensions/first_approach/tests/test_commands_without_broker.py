"""What the application commands while its client has no broker is not lost."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roambus.extensions.first_approach.agent import FirstApproach
from roambus.extensions.first_approach.resubscribing import Resubscribing
from roambus.extensions.first_approach.simple import Simple
from roambus.python_protocol.brokers.agent import BrokerAgent
from tests.support.moving_client import HOME, Step, any_step, assert_commands_hold


@pytest.mark.parametrize("agent", [FirstApproach, Resubscribing])
@given(steps=st.lists(any_step([0, 1, 2, 3]), max_size=12))
@settings(max_examples=40)
def test_a_client_that_moves_says_what_it_was_commanded_on_the_way(agent: type[BrokerAgent], steps: list[Step]) -> None:
    """Subscriptions and their ends reach the next broker, whichever it is."""
    assert_commands_hold(agent, steps)


@given(steps=st.lists(any_step([HOME]), max_size=12))
@settings(max_examples=40)
def test_a_client_that_is_bound_to_a_broker_says_it_when_it_is_back(steps: list[Step]) -> None:
    """Simple Routing knows no other broker."""
    assert_commands_hold(Simple, steps)
