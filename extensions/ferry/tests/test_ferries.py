"""Ferries: custody, cargo, tours, need and crashes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from roambus.extensions.ferry.ferries import FixedFerry, NeedFerry
from roambus.extensions.ferry.messages import NOWHERE, Carried, Here, Taken, Wants
from roambus.extensions.ferry.tests.bench import (
    FERRY,
    ISLANDER,
    SPORT,
    Bench,
    delivered,
    news,
    noted,
    places,
    sent,
)
from roambus.python_protocol.actions import Action, SetTimer
from roambus.python_protocol.events import Arrived, Crashed, Recovered, TimerFired
from roambus.python_protocol.roles import BROADCAST
from roambus.python_protocol.simtime import SECOND

CORNERS = [(40, 40), (160, 40), (160, 160), (40, 160)]
WANTS_NOTHING = Wants((), 0, 0)


def toured(
    kind: type[FixedFerry | NeedFerry] = FixedFerry, waiting: Sequence[int] = (0, 0, 0, 0), **parameters: object
) -> Bench:
    """A ferry at the last of four islands after a tour: node i on island i has so much waiting, and 2 wants sport."""
    bench = Bench(FERRY, kind, **parameters)
    bench.start()
    for island in range(4):
        if island:
            bench.visit()
        bench.handle(Arrived(0, 0))
        bench.hear(Wants((SPORT,) if island == 2 else (), waiting[island], 0), island)
    return bench


def left(bench: Bench) -> list[Action]:
    """Let the stay end."""
    bench.now += 5 * SECOND
    return bench.handle(TimerFired("stay"))


# Custody and cargo


def test_a_ferry_takes_custody_and_says_so_each_time() -> None:
    """The first TAKEN may be lost."""
    bench = Bench(FERRY)
    first, again = (bench.hear(Carried(1, news(1)), 3) for _ in range(2))
    assert sent(first, Taken) == sent(again, Taken) == [(3, Taken(news(1).id))]
    assert noted(first, "keep") == ["3.1"]
    assert noted(again, "keep") == []


def test_a_full_ferry_takes_no_more() -> None:
    """A notification without acknowledgement stays with its publisher."""
    bench = Bench(FERRY, buffer=1)
    bench.hear(Carried(1, news(1)), 3)
    assert bench.hear(Carried(1, news(2)), 3) == []


def test_a_subscriber_gets_cargo_until_it_has_taken_it() -> None:
    """With one hop more than the ferry's; the publisher does not get its own."""
    bench = Bench(FERRY)
    bench.hear(Carried(1, news(1)), 3)
    wants = Wants((SPORT,), 0, 0)
    assert sent(bench.hear(wants, 5), Carried) == sent(bench.hear(wants, 5), Carried) == [(5, Carried(2, news(1)))]
    bench.hear(Taken(news(1).id), 5)
    assert sent(bench.hear(wants, 5), Carried) == []
    assert sent(bench.hear(wants, 3), Carried) == []
    assert sent(bench.hear(WANTS_NOTHING, 6), Carried) == []


def test_a_batch_bounds_what_one_subscriber_gets_at_once() -> None:
    """The oldest first."""
    bench = Bench(FERRY, batch=2)
    for number in range(3):
        bench.hear(Carried(1, news(number)), 3)
    brought = [message.notification for _, message in sent(bench.hear(Wants((SPORT,), 0, 0), 5), Carried)]
    assert brought == [news(0), news(1)]


def test_cargo_leaves_when_all_subscribers_of_all_islands_have_it() -> None:
    """Node 2 alone wants it."""
    bench = toured()
    left(bench)
    bench.hear(Carried(1, news(1)), 3)
    assert noted(bench.hear(Taken(news(1).id), 2), "release") == ["3.1"]


def test_cargo_stays_while_an_island_is_unknown() -> None:
    """A subscriber may be there; after the tour the cargo leaves."""
    bench = Bench(FERRY)
    bench.start()
    bench.hear(Carried(1, news(1)), 3)
    assert [noted(bench.visit(), "release") for _ in range(4)] == [[], [], [], ["3.1"]]


def test_cargo_that_is_too_old_is_dropped() -> None:
    """The row says so."""
    bench = Bench(FERRY)
    bench.hear(Carried(1, news(1)), 3)
    bench.now = 600 * SECOND
    assert noted(bench.handle(TimerFired("hello")), "drop") == []
    bench.now += 1
    assert noted(bench.handle(TimerFired("hello")), "drop") == ["3.1"]


def test_a_ferry_that_publishes_carries_its_own() -> None:
    """Its subscribers get it after one hop; without room it is dropped."""
    bench = Bench(FERRY, buffer=1)
    bench.publish(news(1, publisher=16))
    assert sent(bench.hear(Wants((SPORT,), 0, 0), 5), Carried) == [(5, Carried(1, news(1, publisher=16)))]
    assert noted(bench.publish(news(2, publisher=16)), "drop") == ["16.2"]


def test_a_ferry_that_subscribes_delivers_its_cargo_and_answers_other_ferries() -> None:
    """One without filters is silent to them."""
    bench = Bench(FERRY)
    assert bench.hear(Here(1), 17) == []
    bench.subscribe()
    assert len(sent(bench.hear(Here(1), 17), Wants)) == 1
    assert delivered(bench.hear(Carried(1, news(1)), 3)) == [news(1)]
    assert delivered(bench.hear(Carried(2, news(2)), 17)) == [news(2)]


def test_a_ferry_takes_no_custody_of_another_ferrys_cargo() -> None:
    """It acknowledges the notification as a subscriber, and carries it no further."""
    bench = Bench(FERRY)
    bench.subscribe()
    actions = bench.hear(Carried(2, news(1)), 17)
    assert sent(actions, Taken) == [(17, Taken(news(1).id))]
    assert noted(actions, "keep") == []
    assert sent(bench.hear(Wants((SPORT,), 0, 0), 5), Carried) == []


def test_a_ferry_that_rests_keeps_its_cargo() -> None:
    """It never knows that it has met all subscribers."""
    bench = Bench(FERRY, islands="")
    bench.hear(Carried(1, news(1)), 3)
    bench.hear(Wants((SPORT,), 0, 0), 5)
    assert noted(bench.hear(Taken(news(1).id), 5), "release") == []
    assert len(sent(bench.hear(Wants((SPORT,), 0, 0), 6), Carried)) == 1


# The way


@pytest.mark.parametrize(("ferries", "starts"), [(1, [0]), (2, [0, 2]), (3, [0, 1, 2]), (4, [0, 1, 2, 3])])
def test_ferries_begin_apart(ferries: int, starts: list[int]) -> None:
    """Each by its own number."""
    benches = [Bench(FERRY, FixedFerry, 16 + rank, ferries=ferries) for rank in range(ferries)]
    assert [places(bench.start()) for bench in benches] == [[CORNERS[start]] for start in starts]


def test_a_tour_goes_round_the_islands_in_their_order() -> None:
    """After the last one the first comes again."""
    bench = Bench(FERRY)
    bench.start()
    assert [places(bench.visit())[0] for _ in range(5)] == [*CORNERS[1:], *CORNERS[:2]]


def test_a_ferry_says_where_it_is_bound() -> None:
    """Once a hello; without islands it is bound for none."""
    bench = Bench(FERRY)
    bench.start()
    actions = bench.handle(TimerFired("hello"))
    assert sent(actions, Here) == [(BROADCAST, Here(0))]
    assert SetTimer("hello", SECOND) in actions
    resting = Bench(FERRY, islands="")
    assert places(resting.start()) == []
    assert sent(resting.handle(TimerFired("hello")), Here) == [(BROADCAST, Here(NOWHERE))]


def test_a_ferry_without_a_tour_rests_where_it_was_sent() -> None:
    """It sets no timer to leave."""
    assert Bench(FERRY, islands="").handle(Arrived(0, 0)) == []


def test_a_ferry_that_recovers_begins_anew_without_cargo() -> None:
    """Its islands are unknown again, and it does not resume its way by itself."""
    bench = toured()
    bench.hear(Carried(1, news(1)), 3)
    bench.handle(Crashed())
    assert sent(bench.hear(Wants((SPORT,), 0, 0), 2), Carried) == []
    assert places(bench.handle(Recovered())) == [CORNERS[0]]


# Need


def test_need_leads_to_the_island_where_most_waits() -> None:
    """Node 1 has more in its queue than node 0."""
    assert places(left(toured(NeedFerry, (2, 5, 0, 0)))) == [CORNERS[1]]
    assert places(left(toured(NeedFerry, (5, 2, 0, 0)))) == [CORNERS[0]]


def test_cargo_for_an_island_counts_as_its_need() -> None:
    """Three are aboard for node 2, and two wait at node 1."""
    bench = toured(NeedFerry, (0, 2, 0, 0))
    for number in range(3):
        bench.hear(Carried(1, news(number)), 3)
    assert places(left(bench)) == [CORNERS[2]]


def test_a_ferry_stays_while_nothing_waits() -> None:
    """It saves its way, and looks again after the next stay. The queue at its own island is no reason to leave."""
    actions = left(toured(NeedFerry, (0, 0, 0, 4)))
    assert places(actions) == []
    assert SetTimer("stay", 5 * SECOND) in actions


def test_an_unknown_island_comes_first_and_so_does_one_not_seen_for_long() -> None:
    """However much waits at others."""
    bench = toured(NeedFerry, (9, 5, 0, 0), trust=30 * SECOND)
    assert places(left(bench)) == [CORNERS[0]]
    bench.handle(Arrived(0, 0))
    bench.now = 36 * SECOND
    assert places(bench.handle(TimerFired("stay"))) == [CORNERS[1]]


@pytest.mark.parametrize(("apart", "silence_s", "island"), [(True, 3, 0), (True, 4, 1), (False, 0, 1)])
def test_an_island_of_another_ferry_within_earshot_is_avoided(apart: bool, silence_s: int, island: int) -> None:
    """For three hellos, and only if the ferries keep apart."""
    bench = toured(NeedFerry, (2, 5, 0, 0), apart=apart)
    bench.now += (5 - silence_s) * SECOND
    bench.hear(Here(1), 17)
    bench.now += silence_s * SECOND
    assert places(bench.handle(TimerFired("stay"))) == [CORNERS[island]]


def test_a_ferry_whose_fellows_are_bound_for_all_other_islands_stays() -> None:
    """Nothing is left for it."""
    bench = toured(NeedFerry, (2, 5, 0, 0), ferries=4)
    bench.now += 4 * SECOND
    for fellow, island in enumerate((0, 1, 2), start=17):
        bench.hear(Here(island), fellow)
    bench.now += SECOND
    assert places(bench.handle(TimerFired("stay"))) == []


def test_nodes_that_are_heard_on_the_way_keep_their_islands() -> None:
    """The ferry has left island 3 for island 0, and still hears node 3, and a node that it does not know."""
    bench = toured(NeedFerry, (2, 0, 0, 0))
    assert places(left(bench)) == [CORNERS[0]]
    bench.hear(Wants((), 4, 0), 3)
    bench.hear(Wants((), 9, 0), 8)
    assert isinstance(bench.agent, NeedFerry)
    assert [bench.agent.need_of(island, bench.now) for island in range(4)] == [2, 0, 0, 4]


def test_what_a_ferry_has_taken_no_longer_waits() -> None:
    """One of two is aboard, for no subscriber."""
    bench = toured(NeedFerry, (0, 0, 0, 2))
    bench.hear(Carried(1, news(1)), 3)
    left(bench)
    assert isinstance(bench.agent, NeedFerry)
    assert bench.agent.need_of(3, bench.now) == 1


def test_a_node_of_an_island_under_need_is_the_same() -> None:
    """Both kinds differ by their ferries alone."""
    bench = Bench(ISLANDER, NeedFerry)
    bench.publish(news(1))
    assert sent(bench.hear(Here(0), 20), Carried) == [(20, Carried(1, news(1)))]
