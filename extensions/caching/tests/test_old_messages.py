"""What a client that asks for old messages gets (the paper on caching, sections 3.2 and 5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roambus.bridge.scenario.definition import Command, Publication, Workload
from roambus.extensions.caching import Caching
from roambus.extensions.caching.tests.scenes import FILTERS, TOPICS, B, P, S
from roambus.python_protocol.events import Subscribe
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import MILLISECOND, SECOND
from tests.support.runs import Row, of
from tests.support.trees import run_on_tree

ASKS = 2 * SECOND
MECHANISMS = [(True, True), (True, False), (False, True), (False, False)]


class Scene(NamedTuple):
    """Brokers, clients that want something from the start, publishers, and one client that comes at last."""

    parents: dict[NodeId, NodeId]
    brokers: int
    wanted: list[Filter]
    topics: list[int]

    def run(self, **parameters: str) -> list[Row]:
        """The trace's rows."""
        clients = range(self.brokers, self.brokers + len(self.wanted))
        subscriptions = [
            Command(ASKS if client == clients[-1] else SECOND // 2, client, Subscribe(wanted))
            for client, wanted in zip(clients, self.wanted, strict=True)
        ]
        publications = [
            Command(SECOND + number * 20 * MILLISECOND, clients[-1] + 1, Publication((("topic", topic),)))
            for number, topic in enumerate(self.topics)
        ]
        roles = [*[B] * self.brokers, *[S] * len(clients), P]
        workload = Workload(commands=(*subscriptions, *publications))
        return run_on_tree(
            Caching,
            self.parents,
            roles,
            workload,
            parameters={"request_old": "true", **parameters},
            time_limit=2 * ASKS,
        )

    def cached(self, rows: Sequence[Row]) -> set[str]:
        """The messages that the last client wants, and that are in any cache when it asks."""
        found = set[tuple[int, str]]()
        for row in rows:
            if row["time_s"] * SECOND < ASKS and row["event"] in ("cache", "forget"):
                change = found.add if row["event"] == "cache" else found.discard
                change((row["node"], row["notification_id"]))
        return {notification for _, notification in found if self._wants(int(notification.split(".")[1]))}

    def _wants(self, number: int) -> bool:
        topic = self.topics[number]
        return self.wanted[-1] in {FILTERS[0], FILTERS[topic], *([FILTERS[3]] if topic == 1 else [])}


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    """A random tree of up to eight brokers."""
    brokers = draw(st.integers(1, 8))
    wanted = draw(st.lists(st.sampled_from(FILTERS), min_size=2, max_size=7))
    parents = {child: draw(st.integers(0, child - 1)) for child in range(1, brokers)}
    last = brokers + len(wanted)
    parents |= {client: draw(st.integers(0, brokers - 1)) for client in range(brokers, last + 1)}
    return Scene(parents, brokers, wanted, draw(st.lists(st.sampled_from(TOPICS), max_size=5)))


def answers(rows: Sequence[Row]) -> Counter[str]:
    """How often each message came in a response to the last client."""
    return Counter(row["notification_id"] for row in of(rows, "answer"))


@pytest.mark.parametrize(("reactive", "proactive"), MECHANISMS)
@given(scenes(), st.integers(1, 4))
@settings(max_examples=15)
def test_it_gets_every_message_that_is_cached_anywhere(
    reactive: bool, proactive: bool, scene: Scene, size: int
) -> None:
    """Section 3.2 promises "every old message matching its filter and is still cached in at least one cache"."""
    switches = {"reactive": str(reactive), "proactive": str(proactive)}
    rows = scene.run(cache_size=str(size), drop_by_request="false", **switches)
    asked = [row for row in rows if row["time_s"] * SECOND >= ASKS]
    assert sorted(row["notification_id"] for row in of(asked, "deliver")) == sorted(scene.cached(rows))
    assert answers(rows).keys() == scene.cached(rows)


@pytest.mark.parametrize("proactive", [True, False])
@given(scenes(), st.integers(1, 4))
@settings(max_examples=15)
def test_the_reactive_mechanism_leaves_one_response(proactive: bool, scene: Scene, size: int) -> None:
    """Section 6 says that "we have only one response per successful request"."""
    assert set(answers(scene.run(cache_size=str(size), proactive=str(proactive))).values()) <= {1}
