"""Where algorithms 3.1 to 3.3 fail: two brokers that point at each other.

b2 loses b3, below which s3 is, and migrates to b1, whose way to s3 is b2. The BTAB makes b1 the way of b2.
"""

from __future__ import annotations

import pytest

from roambus.extensions.first_approach.agent import FirstApproachParameters
from roambus.extensions.first_approach.tests.network import Network


def line(*, pass_back: bool = False, break_circles: bool = False) -> Network:
    """b1 - b2 - b3 - s3, and the last link between brokers breaks."""
    parameters = FirstApproachParameters(link_layer=False, pass_back=pass_back, break_circles=break_circles)
    network = Network((1, 2), (2, 3), parameters=parameters)
    network.subscribe(3, 3)
    network.cut(2, 3)
    return network


@pytest.mark.parametrize("pass_back", [False, True])
def test_a_rep_between_them_goes_to_and_fro_for_ever(pass_back: bool) -> None:
    """Algorithm 3.2, line 27, as published; else b1 stores it, and replays it when s3 is somewhere else."""
    network = line(pass_back=pass_back)
    network.publish(3, 2)
    network.migrate(2, 1)
    assert network.next_hops(3) == {1: ["b2"], 2: ["b1"], 3: ["s3"]}
    assert network.is_quiet is not pass_back
    if not pass_back:
        assert network.brokers[1].storage.subscribers() == [103]


def test_what_is_replayed_later_arrives_once() -> None:
    """b3 comes back, and migrates to b1: b1 has s3 below b3 then, and sends what it has stored."""
    network = line()
    network.publish(3, 2, sequence=7)
    network.migrate(2, 1)
    network.connect(1, 3)
    network.migrate(3, 1)
    assert network.reached(3) == [7]


def test_a_notification_between_them_is_lost() -> None:
    """Algorithm 3.1, line 13: b2 neither passes it back nor stores it."""
    network = line()
    network.migrate(2, 1)
    network.publish(3, 1)
    assert [broker.storage.subscribers() for broker in network.brokers.values()] == [[], [], []]
    assert network.reached(3) == []


def test_a_row_that_leads_through_its_receiver_gives_no_way() -> None:
    """b2 stores what is for s3, and sends it when b3 is back."""
    network = line(break_circles=True)
    network.migrate(2, 1)
    network.publish(3, 1, sequence=7)
    assert network.brokers[2].storage.subscribers() == [103]
    network.connect(1, 3)
    network.migrate(3, 1)
    assert network.reached(3) == [7]
