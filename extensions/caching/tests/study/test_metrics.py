"""What the evaluation of caching measures, on rows whose numbers one can count by hand."""

from __future__ import annotations

import pytest

from roambus.extensions.caching.cache import ANSWER, CACHE, FORGET
from roambus.extensions.caching.study import metrics as c
from roambus.python_protocol.trace_rows import ATTACH, DELIVER, DETACH, MOVE, PUBLISH
from tests.spark.synthetic import Row, measured


def row(time_s: float, node: int, event: str, notification: str | None = None, detail: str | None = None) -> Row:
    return {"time_s": time_s, "node": node, "event": event, "notification_id": notification, "detail": detail}


END = row(100.0, 0, MOVE)
"""Something that ends the run."""

CACHED = [
    # Before and after what is observed: 20 to 70 s.
    *(row(10.0, 0, PUBLISH, "0.0", "5"), row(10.0, 1, CACHE, "0.0"), row(80.0, 1, FORGET, "0.0")),
    *(row(75.0, 0, PUBLISH, "0.1", "5"), row(75.0, 1, CACHE, "0.1")),
    # In two caches, gone from the last one after 12 s; in none; in one again, until the end.
    *(row(30.0, 0, PUBLISH, "0.2", "5"), row(31.0, 1, CACHE, "0.2"), row(32.0, 2, CACHE, "0.2")),
    *(row(35.0, 1, FORGET, "0.2"), row(42.0, 2, FORGET, "0.2")),
    row(40.0, 0, PUBLISH, "0.3", ""),
    *(row(60.0, 0, PUBLISH, "0.4", "5"), row(60.0, 1, CACHE, "0.4"), row(61.0, 1, FORGET, "0.4")),
    *(row(62.0, 1, CACHE, "0.4"), END),
]
ASKED = [
    # Request 1 of node 5: one message three times, another once. Request 1 of node 6, request 2 of node 5: one each.
    *(row(1.0, 5, ANSWER, delay, "1") for delay in ("0.0", "0.0", "0.0", "0.1")),
    *(row(1.0, 6, ANSWER, "0.0", "1"), row(2.0, 5, ANSWER, "0.0", "2")),
]
AWAY = [
    # Node 5 is away from 10 to 20 s: of three messages it wants one comes later, two never; one it does not want.
    *(row(9.0, 0, PUBLISH, "0.0", "5 6"), row(10.0, 5, DETACH), row(11.0, 0, PUBLISH, "0.1", "5 6")),
    *(row(12.0, 0, PUBLISH, "0.2", "5"), row(13.0, 0, PUBLISH, "0.3", "6"), row(14.0, 0, PUBLISH, "0.4", "5")),
    *(row(20.0, 5, ATTACH), row(20.5, 5, DELIVER, "0.1"), row(12.1, 6, DELIVER, "0.2")),
    # Away again: the one message comes. Away once more, until too near the end; node 6, from too late on.
    *(row(30.0, 5, DETACH), row(31.0, 0, PUBLISH, "0.5", "5"), row(40.0, 5, ATTACH), row(40.25, 5, DELIVER, "0.5")),
    *(row(45.0, 5, DETACH), row(46.0, 0, PUBLISH, "0.6", "5"), row(99.5, 5, ATTACH)),
    *(row(50.0, 6, DETACH), row(51.0, 0, PUBLISH, "0.7", "6"), row(60.0, 6, ATTACH), END),
]


def test_absorption_is_from_publication_until_no_cache_has_a_message() -> None:
    """What is in no cache has 0, what still is in one counts until the end: (12 + 0 + 40) / 3."""
    found = measured(c.POPULATION.metrics, CACHED)
    assert found[c.ABSORPTION_S] == pytest.approx(52 / 3)
    assert (found[c.still_cached.column], found[c.messages_observed.column]) == (pytest.approx(1 / 3), 3)


def test_the_distribution_of_absorption_is_of_what_was_cached() -> None:
    """Of 12 and 40 s, whose mean is 26 s, half take 26 s at most, and a tenth more than 37.2 s."""
    found = measured(c.POPULATION.metrics, CACHED)
    assert found[c.ABSORPTION_MEDIAN] == pytest.approx(1)
    assert found[c.ABSORPTION_TAIL] == pytest.approx(37.2 / 26)


def test_the_gain_is_of_responses_over_different_messages() -> None:
    """Six responses bring four messages to three requests."""
    found = measured(c.POPULATION.metrics, ASKED)
    assert found[c.GAIN_PERCENT] == pytest.approx(50)
    assert (found[c.responses_per_request.column], found[c.requests_answered.column]) == (2, 3)


def test_the_lost_ratio_is_a_mean_over_absences() -> None:
    """Two of three, then none of one; absences that begin or end too late do not count."""
    found = measured(c.POPULATION.metrics, AWAY)
    assert (found[c.LOST_RATIO], found[c.absences_observed.column]) == (pytest.approx(1 / 3), 2)


def test_what_is_missed_and_how_late_the_rest_is() -> None:
    """Over all absences: two missed, the others after half a second at most."""
    found = measured(c.MOVE.metrics, AWAY)
    assert (found[c.MISSED], found[c.CATCH_UP_S]) == (2, pytest.approx(0.5))
