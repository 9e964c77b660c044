"""What holds on links from 1 ms to 2 s, whatever time-out is set; and that a failure is still noticed there."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roambus.bridge.scenario.definition import Command
from roambus.bridge.scenario.plans import Fault, FaultKind, LinkDelay
from roambus.python_protocol.events import Subscribe, Unsubscribe
from roambus.python_protocol.vocabulary import MILLISECOND, SECOND
from tests.python_protocol.papers.replicated.network import (
    Result,
    about,
    check_copies,
    check_deliveries,
    check_silence,
    check_tables,
    links_of,
    published,
    run,
    sites_of,
)
from tests.support.runs import of
from tests.support.site_histories import Drawing, draw, draw_crashes, judge, wrong

PUBLISHER, SUBSCRIBER, LEADER = 3, 4, 0
TIME_OUT = 100 * MILLISECOND
LOSING = sites_of([None, 0, 1], [1, 1, 1])
"""The site in the middle loses what its client says at one second: two brokers crash that have accepted it, then the
third, to which it is still under way."""
ROOT_AND_LEAF, HOME = (9, 11), 10
SLOW = [LinkDelay(HOME, 3, 20 * MILLISECOND)]
LOSS = [
    Fault(SECOND + half_ms * MILLISECOND // 2, broker, kind)
    for half_ms, broker, kind in (
        (5, 4, FaultKind.CRASH),
        (5, 5, FaultKind.CRASH),
        (6, 4, FaultKind.RECOVER),
        (6, 5, FaultKind.RECOVER),
        (20, 3, FaultKind.CRASH),
        (200, 3, FaultKind.RECOVER),
    )
]


@pytest.mark.parametrize("faults", [False, True])
@settings(max_examples=25, deadline=None)
@given(random=st.randoms(use_true_random=False))
def test_nothing_goes_wrong_in_any_history(random: Random, *, faults: bool) -> None:
    """Brokers crash or freeze, clients leave and return, whatever routing, order and time-out are."""
    assert list(wrong(draw(random, Drawing(faults=faults, absences=faults)))) == []


@settings(max_examples=25, deadline=None)
@given(random=st.randoms(use_true_random=False))
def test_a_site_that_has_kept_a_copy_serves_when_all_its_brokers_run(random: Random) -> None:
    """Whenever they crash; and nothing is lost while one at most is down or without its copy."""
    assert judge(draw_crashes(random)).found == ()


@pytest.mark.parametrize(("tell_empty", "found"), [("true", ()), ("false", ("does not serve",))])
def test_two_brokers_may_be_without_a_copy(tell_empty: str, found: tuple[str, ...]) -> None:
    """In the paper the site is dead, because one returns, and waits for a copy that nobody gives."""
    history = draw_crashes(Random(4))
    verdict = judge(replace(history, parameters=history.parameters | {"tell_empty": tell_empty}))
    assert (verdict.empty, verdict.found) == (2, found)


def test_who_has_lost_what_it_kept_is_told_again() -> None:
    """A publisher forgets what two brokers keep, and one of them crashes before it has come to the leader.

    The other tells the one that is back; then both old leader and other can crash, and nothing is lost.
    """
    assert judge(draw_crashes(Random(30000748))).found == ()


@pytest.mark.parametrize(
    ("close_gaps", "found"), [("true", ()), ("false", ("what is published when all run is late or lost",))]
)
def test_what_all_have_lost_keeps_nothing_waiting(close_gaps: str, found: tuple[str, ...]) -> None:
    """Two brokers accept what a client says, and crash, and the third crashes before it has it."""
    history = draw_crashes(Random(30003715))
    verdict = judge(replace(history, parameters=history.parameters | {"close_gaps": close_gaps}))
    assert (verdict.empty, verdict.found) == (2, found)


@pytest.mark.parametrize("renumber", ["true", "false"])
@pytest.mark.parametrize("order", ["none", "fifo", "total"])
def test_other_sites_do_not_wait_for_what_a_site_has_lost(order: str, renumber: str) -> None:
    """Whoever counts the numbers of publishers is told of the gap; only what was lost is not delivered."""
    commands = [Command(0, client, Subscribe(about(0))) for client in ROOT_AND_LEAF]
    commands += [Command(at, HOME, published(0)) for at in (SECOND, 2 * SECOND, 3 * SECOND)]
    result = run(LOSING, commands, LOSS, {"order": order, "renumber": renumber}, SLOW)
    assert result.deliveries() == {one: [f"{HOME}.1", f"{HOME}.2"] for one in ROOT_AND_LEAF}
    check_copies(result)
    check_silence(result)


def test_a_subscription_that_a_site_has_lost_is_told_again() -> None:
    """A client keeps its subscriptions: what others hold of them would otherwise be wrong for ever."""
    commands = [Command(0, HOME, Subscribe(about(0))), Command(SECOND, HOME, Subscribe(about(1)))]
    commands += [Command(2 * SECOND, HOME, Unsubscribe(about(0)))]
    check_tables(run(LOSING, commands, LOSS, {}, SLOW), {HOME: [about(1)]})


@pytest.mark.parametrize(("delay_ms", "time_out_ms"), [(750, 100), (150, 20), (2000, 20), (2000, 100)])
def test_without_any_failure_leaders_soon_stay(delay_ms: int, time_out_ms: int) -> None:
    """The paper's "infinite loop" (section 8) ends: of 20 events the last ten change no leader."""
    result = published_over(delay_ms, {"time_out": f"{time_out_ms}ms"})
    check_deliveries(result)
    check_silence(result)
    took_over = [row["time_s"] for row in of(result.rows, "send") if row["message_type"] == "TAKE_OVER"]
    assert all(time < 10 * 20 for time in took_over)


@pytest.mark.parametrize("delay_ms", [1, 20, 750, 2000])
def test_a_failure_is_noticed_in_a_time_that_follows_the_delay(delay_ms: int) -> None:
    """The leader freezes, and what is published then arrives after a dozen delays and some time-outs."""
    at = 430 * SECOND
    result = published_over(delay_ms, {}, at)
    latest = max(row["time_s"] for row in of(result.rows, "deliver"))
    assert latest < at / SECOND + (25 * delay_ms * MILLISECOND + 4 * TIME_OUT) / SECOND


def published_over(delay_ms: int, parameters: dict[str, str], frozen_at: int | None = None) -> Result:
    """One site, and an event every 20 s; the leader, if it is to freeze, does so before the last one."""
    sites = sites_of([None], [2])
    commands = [Command(0, SUBSCRIBER, Subscribe(about(1)))]
    commands += [Command(20 * SECOND * (count + 1), PUBLISHER, published(1)) for count in range(20)]
    faults = []
    if frozen_at is not None:
        commands.append(Command(frozen_at, PUBLISHER, published(1)))
        leader = result_leader(delay_ms, parameters)
        faults = [Fault(frozen_at - SECOND // 2, leader, FaultKind.FREEZE)]
    delays = [LinkDelay(a, b, delay_ms * MILLISECOND) for a, b in links_of(sites)]
    return run(sites, commands, faults, parameters, delays, quiet=300 * SECOND)


def result_leader(delay_ms: int, parameters: dict[str, str]) -> int:
    """The broker that leads in the end if none fails."""
    return published_over(delay_ms, parameters).broker(LEADER).replica.leader
