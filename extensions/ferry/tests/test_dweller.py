"""A node of an island: its queue, custody, and deliveries."""

from __future__ import annotations

from roambus.extensions.ferry.messages import Carried, Here, News, Taken, Wants
from roambus.extensions.ferry.tests.bench import ISLANDER, SPORT, Bench, delivered, news, noted, sent
from roambus.python_protocol.actions import Note
from roambus.python_protocol.events import Crashed, SendFailed, Started
from roambus.python_protocol.roles import BROADCAST
from roambus.python_protocol.simtime import SECOND


def test_a_publisher_gives_its_neighbours_a_notification_and_keeps_it() -> None:
    """A ferry that comes later gets it."""
    bench = Bench(ISLANDER)
    actions = bench.publish(news(1))
    assert sent(actions, News) == [(BROADCAST, News(news(1)))]
    assert noted(actions, "keep") == ["3.1"]
    assert sent(bench.hear(Here(0), 20), Carried) == [(20, Carried(1, news(1)))]


def test_a_node_answers_a_ferry_with_its_filters_its_queue_and_its_publications() -> None:
    """The queue shrinks when a ferry has taken custody; the publications do not."""
    bench = Bench(ISLANDER)
    bench.subscribe()
    bench.publish(news(1))
    bench.publish(news(2))
    assert noted(bench.hear(Taken(news(1).id), 20), "release") == ["3.1"]
    assert sent(bench.hear(Here(0), 20), Wants) == [(20, Wants((SPORT,), 1, 2))]


def test_a_notification_is_handed_over_until_its_custody_is_acknowledged() -> None:
    """A lost TAKEN costs a repetition, and no notification."""
    bench = Bench(ISLANDER)
    bench.publish(news(1))
    for _ in range(3):
        assert len(sent(bench.hear(Here(0), 20), Carried)) == 1
    bench.hear(Taken(news(1).id), 20)
    assert sent(bench.hear(Here(0), 20), Carried) == []


def test_one_ferry_at_a_time_gets_notifications() -> None:
    """A second one is answered, and its turn comes when the first has been silent for three hellos."""
    bench = Bench(ISLANDER)
    bench.publish(news(1))
    bench.hear(Here(0), 20)
    bench.now = 2 * SECOND
    second = bench.hear(Here(0), 21)
    assert len(sent(second, Wants)) == 1
    assert sent(second, Carried) == []
    bench.now = 3 * SECOND
    assert [receiver for receiver, _ in sent(bench.hear(Here(0), 21), Carried)] == [21]


def test_a_batch_bounds_an_answer() -> None:
    """The oldest go first."""
    bench = Bench(ISLANDER, batch=2)
    for number in range(4):
        bench.publish(news(number))
    handed = [message.notification for _, message in sent(bench.hear(Here(0), 20), Carried)]
    assert handed == [news(0), news(1)]


def test_a_full_queue_drops_its_oldest_before_it_keeps_another() -> None:
    """So its rows never have more than its bound, and they say so."""
    bench = Bench(ISLANDER, queue=2)
    bench.publish(news(0))
    bench.publish(news(1))
    actions = bench.publish(news(2))
    rows = [(action.name, action.notification_id) for action in actions if isinstance(action, Note)]
    assert rows[-2:] == [("drop", "3.0"), ("keep", "3.2")]
    assert len(sent(bench.hear(Here(0), 20), Carried)) == 2


def test_a_subscriber_delivers_once_and_acknowledges_each_time() -> None:
    """From a neighbour, or from a ferry whose first answer was lost."""
    bench = Bench(ISLANDER)
    bench.subscribe()
    assert delivered(bench.hear(News(news(1)), 4)) == [news(1)]
    again = bench.hear(Carried(2, news(1)), 20)
    assert delivered(again) == []
    assert sent(again, Taken) == [(20, Taken(news(1).id))]


def test_a_notification_that_does_not_match_is_not_delivered() -> None:
    """A node without filters delivers nothing."""
    assert delivered(Bench(ISLANDER).hear(News(news(1)), 4)) == []


def test_a_crash_empties_the_queue() -> None:
    """Filters are in stable storage."""
    bench = Bench(ISLANDER)
    bench.subscribe()
    bench.publish(news(1))
    bench.handle(Crashed())
    answer = bench.hear(Here(0), 20)
    assert sent(answer, Wants) == [(20, Wants((SPORT,), 0, 0))]
    assert sent(answer, Carried) == []


def test_a_refused_frame_loses_nothing() -> None:
    """The notification goes out after the next HERE."""
    bench = Bench(ISLANDER)
    bench.publish(news(1))
    (lost,) = sent(bench.hear(Here(0), 20), Carried)
    assert bench.handle(SendFailed(20, lost[1], "queue full")) == []
    assert len(sent(bench.hear(Here(0), 20), Carried)) == 1


def test_a_node_of_an_island_says_nothing_by_itself() -> None:
    """Only ferries send HERE, and only they move."""
    assert Bench(ISLANDER).handle(Started()) == []
