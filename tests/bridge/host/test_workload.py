"""The workload belongs to the scenario: same commands at the same times for every protocol."""

from itertools import pairwise

from roambus.bridge.backend import NodeInfo
from roambus.bridge.host.command_plan import commands
from roambus.bridge.scenario.definition import Command, Publication, Publications, Subscription, Workload
from roambus.python_protocol.events import Publish, Subscribe, Unsubscribe
from roambus.python_protocol.filters import parse_filter
from roambus.python_protocol.roles import Role
from roambus.python_protocol.simtime import SECOND
from tests.support.scenarios import scenario

NEWS = (("topic", "news"),)
WORKLOAD = Workload(
    (Subscription(1, 0, parse_filter("topic = 'news'")), Subscription(2, 3 * SECOND, parse_filter("topic = 'sport'"))),
    (Publications(0, 0, 5 * SECOND, SECOND, NEWS, 20),),
)
NODES = [NodeInfo(0), NodeInfo(SECOND // 100), NodeInfo(0)]


def published(seed: int = 0) -> list[tuple[int, Publish]]:
    return [
        (time, event)
        for time, _, event in commands(scenario([Role.NONE] * 3, WORKLOAD, seed=seed), NODES)
        if isinstance(event, Publish)
    ]


def test_publishes_at_its_interval() -> None:
    """One notification an interval from a random phase on, none at or after the end."""
    times = [time for time, _ in published()]
    assert len(times) == 5
    assert 0 <= times[0] < SECOND
    assert {later - time for time, later in pairwise(times)} == {SECOND}
    assert times[-1] < 5 * SECOND


def test_nobody_publishes_after_the_time_limit() -> None:
    """A publisher without an end stops with the run."""
    endless = Workload((), (Publications(0, 0, 10**9 * SECOND, SECOND, NEWS, 20),))
    assert len(commands(scenario([Role.NONE] * 3, endless, time_limit=5 * SECOND), NODES)) == 5


def test_phase_follows_the_seed_only() -> None:
    """The same seed gives the same times; another seed gives others."""
    assert published(1) == published(1)
    assert published(1)[0][0] != published(2)[0][0]


def test_names_the_subscribers_whose_filter_matches() -> None:
    """A publication carries the subscribers that want it, for protocols that can only unicast."""
    assert [event.subscribers for _, event in published()] == [(1,)] * 5


def test_subscribes_when_the_node_has_booted() -> None:
    """A subscription asked for at 0 waits for the boot."""
    first = commands(scenario([Role.NONE] * 3, WORKLOAD), NODES)[0]
    assert first == (SECOND // 100, 1, Subscribe(parse_filter("topic = 'news'")))


def test_single_commands_come_at_their_times_and_are_numbered_by_publisher() -> None:
    """A publication is for those who want it then: not before they subscribe, not after they unsubscribe."""
    news, sport = parse_filter("topic = 'news'"), parse_filter("topic = 'sport'")
    single = (
        Command(4 * SECOND, 0, Publication(NEWS)),
        Command(SECOND, 1, Subscribe(news)),
        Command(2 * SECOND, 2, Subscribe(sport)),
        Command(3 * SECOND, 0, Publication(NEWS)),
        Command(4 * SECOND, 1, Unsubscribe(news)),
        Command(5 * SECOND, 0, Publication(NEWS)),
    )
    made = commands(scenario([Role.NONE] * 3, Workload(commands=single)), NODES)
    assert [time for time, _, _ in made] == sorted(time for time, _, _ in made)
    publications = [event for _, _, event in made if isinstance(event, Publish)]
    assert [(str(event.notification.id), event.subscribers) for event in publications] == [
        ("0.0", (1,)),
        ("0.1", (1,)),
        ("0.2", ()),
    ]


def topics_of(popularity: float = 0.0, burst: int = 1) -> list[tuple[int, str]]:
    """When what topic is published, of four."""
    own = Workload((), (Publications(0, 0, 500 * SECOND, SECOND, NEWS, 20, 4, popularity, burst),))
    planned = commands(scenario([Role.NONE] * 3, own, time_limit=1000 * SECOND), NODES)
    publishes = [(time, event.notification) for time, _, event in planned if isinstance(event, Publish)]
    return [(time, str(dict(notification.attributes)["topic"])) for time, notification in publishes]


def test_topics_are_drawn_alike_or_by_zipfs_law() -> None:
    """With the exponent 1 the first of four topics has 1 / (1 + 1/2 + 1/3 + 1/4) = 0.48 of the notifications."""
    for popularity, share in ((0.0, 0.25), (1.0, 0.48)):
        drawn = [topic for _, topic in topics_of(popularity)]
        assert set(drawn) == {"t0", "t1", "t2", "t3"}
        assert abs(drawn.count("t0") / len(drawn) - share) < 0.06


def test_a_burst_is_published_at_once() -> None:
    """Each interval brings so many notifications, each of a topic of its own."""
    times = [time for time, _ in topics_of(burst=3)]
    assert len(times) == 1500
    assert times[0] == times[2] < times[3]
    assert len({topic for _, topic in topics_of(burst=3)[:12]}) > 1
