"""Clients that leave and come back get everything once, as far as there is room to keep it.

The paper on caching promises it in its section 4.
"""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from roambus.extensions.caching.tests.scenes import Scene, delivered, evicted, scenes
from tests.support.runs import of

POLICIES = st.sampled_from(["fifo-regeneration", "fifo", "lifo"])


@given(scenes(crossing=True))
@settings(max_examples=60)
def test_with_room_everything_comes_exactly_once(scene: Scene) -> None:
    """It does not matter what is under way when a client leaves and comes back."""
    rows = scene.run({"cache_size": "100"})
    assert delivered(rows) == dict.fromkeys(scene.expected(), 1)
    assert evicted(rows) == set()


@given(scenes(crossing=False))
@settings(max_examples=25)
def test_with_quiet_between_no_mend_is_needed(scene: Scene) -> None:
    """A client need not remember what it has received."""
    rows = scene.run({"cache_size": "100", "deliver_once": "false"})
    assert delivered(rows) == dict.fromkeys(scene.expected(), 1)


@given(scenes(crossing=True), st.integers(0, 3), POLICIES)
@settings(max_examples=60)
def test_with_too_little_room_exactly_what_is_evicted_is_lost(scene: Scene, size: int, policy: str) -> None:
    """A message that was on its way to where a client came back is not lost by being evicted."""
    rows = scene.run({"cache_size": str(size), "policy": policy})
    got = delivered(rows)
    assert set(got.values()) <= {1}
    assert scene.expected() - got.keys() == evicted(rows) - got.keys()


@given(scenes(crossing=False), POLICIES)
@settings(max_examples=25)
def test_with_quiet_between_everything_comes_in_the_order_of_publication(scene: Scene, policy: str) -> None:
    """Whatever leaves a full cache first, and whatever others have asked for meanwhile."""
    rows = scene.run({"cache_size": "100", "policy": policy, "request_old": "true"})
    published = {row["notification_id"]: row["time_s"] for row in of(rows, "publish")}
    for client in scene.wanted:
        times = [published[row["notification_id"]] for row in of(rows, "deliver") if row["node"] == client]
        assert times == sorted(times)


@given(scenes(crossing=False), st.integers(0, 3), POLICIES)
@settings(max_examples=25)
def test_with_quiet_between_every_eviction_is_a_loss(scene: Scene, size: int, policy: str) -> None:
    """The count is exact."""
    rows = scene.run({"cache_size": str(size), "policy": policy})
    assert scene.expected() - delivered(rows).keys() == evicted(rows)


@given(scenes(crossing=True), st.integers(0, 3))
@settings(max_examples=20)
def test_no_cache_ever_holds_more_than_its_size(scene: Scene, size: int) -> None:
    """That holds for ordinary and emergency cache together; what comes in and goes out is all in the trace."""
    held: dict[int, set[str]] = {}
    for row in scene.run({"cache_size": str(size)}):
        own = held.setdefault(row["node"], set())
        if row["event"] == "cache":
            assert row["notification_id"] not in own
            own.add(row["notification_id"])
            assert len(own) <= size
        elif row["event"] == "forget":
            own.remove(row["notification_id"])


@given(scenes(crossing=False))
@settings(max_examples=15)
def test_without_support_what_is_published_meanwhile_is_lost(scene: Scene) -> None:
    """The client gets what is published while it is there (figure 5, left)."""
    rows = scene.run({"mobility_support": "false"})
    away: set[int] = set()
    missed = set()
    for row in rows:
        if row["event"] in ("detach", "attach"):
            (away.add if row["event"] == "detach" else away.discard)(row["node"])
        elif row["event"] == "publish":
            missed |= {(row["notification_id"], node) for node in map(int, row["detail"].split()) if node in away}
    assert scene.expected() - delivered(rows).keys() == missed
    assert of(rows, "store") == []
