"""The brokers that tests of single rules begin with."""

from __future__ import annotations

import pytest

from roambus.python_protocol.mft.broker import Broker
from roambus.python_protocol.mft.messages import MftParameters
from tests.python_protocol.mft.one_broker import make_broker


@pytest.fixture
def b1() -> Broker:
    """Knows its neighbours, and no subscriber."""
    return make_broker()


@pytest.fixture
def as_published() -> Broker:
    """The same, with the algorithms as published."""
    return make_broker(
        MftParameters(
            home_decides=False,
            correct_old=False,
            forget_ways=False,
            replay_always=False,
            greet_back=False,
            tell_turns=False,
            ask_gaps=False,
        )
    )
