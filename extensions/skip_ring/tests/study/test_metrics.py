"""What is measured of the skip ring, on traces of real runs and on the same with one row changed."""

from __future__ import annotations

from typing import Any

import pytest

from roambus.bridge.scenario.definition import Command
from roambus.bridge.trace import schema
from roambus.extensions.skip_ring.messages import OVERLAY, SERVE
from roambus.extensions.skip_ring.study import metrics as m
from roambus.extensions.skip_ring.tests.network import ANY_TOPIC, published, run
from roambus.python_protocol.events import Subscribe, Unsubscribe
from roambus.python_protocol.simtime import SECOND
from tests.spark.synthetic import measured
from tests.support.runs import Row

ROUNDS = 50
Found = dict[str, Any]


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    """Of five subscribers: 1 publishes at 20 s, 3 leaves at 22 s and comes back at 26 s."""
    commands = [
        published(20 * SECOND, 1),
        Command(22 * SECOND, 3, Unsubscribe(ANY_TOPIC)),
        Command(26 * SECOND, 3, Subscribe(ANY_TOPIC)),
    ]
    return run(5, rounds=ROUNDS, commands=commands, seed=3).rows


@pytest.fixture(scope="module")
def found(rows: list[Row]) -> Found:
    return measured(m.STEADY.metrics, rows)


def converging(rows: list[Row]) -> list[float | None]:
    return list(measured(m.CONVERGENCE.metrics, rows).values())


def test_a_run_converges_if_its_last_state_is_the_definition_for_ten_rounds(rows: list[Row]) -> None:
    """Then the last change counts; one false edge, or a change at the end, is no convergence."""
    last = max(place for place, row in enumerate(rows) if row["event"] == OVERLAY)
    assert converging(rows) == [1, rows[last]["time_s"]]
    number, label, left, *others = rows[last]["detail"].split(" ")
    right = str(1 + int(others[0] == "1"))
    false = {**rows[last], "detail": " ".join((str(int(number) + 1), label, left, right, *others[1:]))}
    assert converging([*rows, false]) == [0, None]
    assert converging([*rows, {**rows[last], "time_s": ROUNDS - 1.0}]) == [0, None]


def test_the_state_before_the_first_publication_has_the_degrees_of_the_definition(found: Found) -> None:
    """Of five: 0 has ring edges to 001 and 11, shortcuts to 01 and 1; 01 and 1 have three, 11 and 001 two."""
    assert (found[m.legitimate.column], found[m.DEGREE_MEAN], found[m.DEGREE_MAX]) == (1, (4 + 3 + 3 + 2 + 2) / 5, 4)


def test_maintenance_is_what_subscribers_send_between_the_last_change_and_the_first_publication(
    found: Found, rows: list[Row]
) -> None:
    """A round a second."""
    changed = max(row["time_s"] for row in rows if row["event"] == OVERLAY and row["time_s"] < 20)
    window = [row for row in rows if row["event"] == schema.SEND and changed < row["time_s"] < 20]
    requests = sum(row["message_type"] == "GetConfiguration" for row in window)
    sent = sum(row["message_type"] != "SetData" for row in window)
    assert found[m.REQUESTS_PER_ROUND] == pytest.approx(requests / (20 - changed))
    assert found[m.SENT_PER_NODE_ROUND] == pytest.approx(sent / (20 - changed) / 5)
    assert found[m.ANSWERS_PER_ROUND] == pytest.approx((len(window) - sent) / (20 - changed))


def test_answers_of_the_supervisor_are_distinguished_by_what_they_serve(found: Found, rows: list[Row]) -> None:
    """One to a subscription, two or more to an unsubscription; those to requests beyond the usual ones are further."""
    served = {(row["time_s"], row["message_type"]) for row in since(rows) if row["event"] == SERVE}
    sent = [row["time_s"] for row in since(rows) if row["event"] == schema.SEND and row["node"] == 0]
    leaving = sum((time, "Unsubscribe") in served for time in sent)
    usual = found[m.REQUESTS_PER_ROUND] * (since(rows)[-1]["time_s"] - 20)
    assert (found[m.PER_SUBSCRIBE], found[m.PER_UNSUBSCRIBE]) == (1, leaving)
    assert leaving >= 2
    asked = sum((time, "GetConfiguration") in served for time in sent)
    assert found[m.FURTHER] == pytest.approx((asked - usual) / 2)


def since(rows: list[Row]) -> list[Row]:
    """Those from the first publication on."""
    return [row for row in rows if row["time_s"] >= 20]


def test_catching_up_lasts_from_the_subscription_until_the_last_old_publication(found: Found, rows: list[Row]) -> None:
    """Of the one that came back."""
    got = [row["time_s"] for row in rows if row["event"] == schema.DELIVER and row["node"] == 3]
    assert (found[m.CATCH_UP_ROUNDS], found[m.CAUGHT_UP]) == (pytest.approx(max(got) - 26), 1)
