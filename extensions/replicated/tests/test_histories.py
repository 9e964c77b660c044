"""What holds on links from 1 ms to 2 s, whatever time-out is set; and that a failure is still noticed there."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from roambus.bridge.scenario.definition import Command
from roambus.bridge.scenario.plans import Fault, FaultKind, LinkDelay
from roambus.extensions.replicated.tests.network import (
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
from roambus.python_protocol.events import Subscribe, Unsubscribe
from roambus.python_protocol.simtime import MILLISECOND, SECOND
from tests.support.runs import of

PUBLISHER, SUBSCRIBER, LEADER = 3, 4, 0
TIME_OUT, LATE = 100 * MILLISECOND, 10 * SECOND
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


@dataclass(frozen=True)
class Crashes:
    """A site of brokers 0 to 2, publisher 3 and subscriber 4: delays (ms) that are not 1, crashes, publications.

    A hunt found each; all brokers run again long before the last two publications.
    """

    delays: dict[tuple[int, int], int]
    falls: tuple[tuple[float, int, float], ...]
    """When (ms) which broker crashes, and when it is back."""
    published: tuple[float, ...]

    def serves(self, **parameters: str) -> bool:
        """Whether the site has one leader in the end, which delivers at once."""
        sites = sites_of([None], [2])
        delays = [LinkDelay(*link, self.delays.get(link, 1) * MILLISECOND) for link in links_of(sites)]
        faults = [
            Fault(round(at * MILLISECOND), broker, kind)
            for down, broker, up in self.falls
            for at, kind in ((down, FaultKind.CRASH), (up, FaultKind.RECOVER))
        ]
        moments = [*(round(at * MILLISECOND) for at in self.published), LATE, LATE + SECOND]
        commands = [Command(0, SUBSCRIBER, Subscribe(about(0)))]
        commands += [Command(at, PUBLISHER, published(0)) for at in moments]
        given = {"time_out": "100ms", **parameters}
        result = run(sites, commands, sorted(faults, key=lambda fault: fault.at), given, delays)
        try:
            check_copies(result)
            check_silence(result)
        except AssertionError:
            return False
        times = [row["time_s"] for row in of(result.rows, "deliver") if row["time_s"] >= LATE / SECOND]
        return len(times) == 2 and times[-1] <= LATE / SECOND + 1 + 2 * TIME_OUT / SECOND


TWO_EMPTY = Crashes({(0, 3): 3, (0, 4): 3}, ((1007.5, 0, 1097.5), (1022, 1, 1099.5)), (1023.962489, 1034.473366))
ANNOUNCED_AGAIN = Crashes(
    {(0, 3): 20, (0, 4): 3, (1, 4): 3, (2, 4): 3},
    ((1007, 1, 1009), (1015, 0, 1015.5), (1015.5, 2, 1018.5)),
    (998.710604, 999.662351),
)
LOST_BY_ALL = Crashes(
    {(1, 2): 3, (0, 3): 20, (0, 4): 20},
    ((1003.5, 1, 1007.5), (1004, 2, 1007), (1009.5, 0, 1014.5)),
    (1001.078966, 1001.322558, 1001.344827, 1001.93953),
)


@pytest.mark.parametrize(("crashes", "correction"), [(TWO_EMPTY, "tell_empty"), (LOST_BY_ALL, "close_gaps")])
def test_a_site_whose_brokers_crash_serves_again(crashes: Crashes, correction: str) -> None:
    """As published it is dead: a broker waits for a copy that nobody gives, or for a message that all have lost."""
    assert crashes.serves(order="fifo")
    assert not crashes.serves(order="fifo", **{correction: "false"})


def test_a_site_that_has_lost_its_state_is_informed_again() -> None:
    """A publisher forgets what two brokers keep, and one of them crashes before it has come to the leader.

    The other tells the one that is back; then both old leader and other can crash, and nothing is lost.
    """
    assert ANNOUNCED_AGAIN.serves(routing="flooding", order="total")


@pytest.mark.parametrize("renumber", ["true", "false"])
@pytest.mark.parametrize("order", ["none", "fifo", "total"])
def test_other_sites_do_not_wait_for_what_a_site_has_lost(order: str, renumber: str) -> None:
    """Whoever counts the numbers of publishers is told of the gap; only what was lost is not delivered."""
    commands = [Command(0, client, Subscribe(about(0))) for client in ROOT_AND_LEAF]
    commands += [Command(at, HOME, published(0)) for at in (SECOND, 2 * SECOND, 3 * SECOND)]
    result = run(LOSING, commands, LOSS, {"order": order, "renumber": renumber}, SLOW)
    assert result.deliveries() == {node: [f"{HOME}.1", f"{HOME}.2"] for node in ROOT_AND_LEAF}
    check_copies(result)
    check_silence(result)


def test_a_subscription_that_a_site_has_lost_is_announced_again() -> None:
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
