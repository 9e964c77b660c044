"""With reduction nothing else is found than without, in fewer states."""

from hypothesis import given, settings
from hypothesis import strategies as st

from roambus.experiments.exploring.exploration import Exploration
from tests.experiments.exploring.exploring import explored

AGENTS = [
    "mft",
    "mft correct_old=false",
    "phoenix number_migrations=false",
    "first-approach follow_table=false",
    "simple",
]
MUST = "must no phantoms\nmust probes arrive\nmust nothing stuck\nmust nothing twice\nmust nothing lost"
AT_ONCE = ["nothing twice"]
"""What is noticed before all is quiet, which may be some steps later if arrivals are left out that come to the same."""
MAY = ["s1 subscribes f1", "s1 unsubscribes f1", "p1 publishes e1", "1 client moves", "b3 moves to b2", "b3 is cut off"]


def quiet_states(exploration: Exploration) -> set[tuple[object, ...]]:
    """Every state in which nothing is under way, by what it is and not by its numbers."""
    network, search = exploration.beginning.network, exploration.search
    states = (search.state(number) for number in range(len(search)))
    return {
        (*(network.nodes.what(one) for one in network.node_states(state)), network.world(state))
        for state in states
        if network.is_idle(state)
    }


@given(st.sampled_from(AGENTS), st.lists(st.sampled_from(MAY), min_size=1, max_size=3))
@settings(max_examples=15, deadline=None)
def test_reduction_reaches_the_same_quiet_states(agent: str, may: list[str]) -> None:
    """All of them, and the properties of quiet states hold or do not hold alike."""
    lines = "\n".join(f"may {one}" for one in may)
    text = f"agent {agent}\ntree\n  b1/p1\n    b2\n    b3\nclients s1@b2\n{lines}\n{MUST}"
    whole, reduced = (explored(text, reduce=reduce, keep_on=True) for reduce in (False, True))
    assert whole.found.ended_by is None
    if not whole.wrong:
        assert quiet_states(reduced) == quiet_states(whole)
    assert {one.name: one.steps for one in reduced.wrong if one.name not in AT_ONCE} == {
        one.name: one.steps for one in whole.wrong if one.name not in AT_ONCE
    }
    assert {one.name for one in reduced.wrong} == {one.name for one in whole.wrong}
    assert reduced.found.states <= whole.found.states


def test_reduction_saves_states() -> None:
    """Where several things are under way at once and nothing else can happen."""
    text = "agent mft\ntree\n  b1/p1\n    b2\n    b3\nclients s1@b2\nmay s1 subscribes f1\nmay 2 client moves\n" + MUST
    whole, reduced = (explored(text, reduce=reduce).found for reduce in (False, True))
    assert reduced.quiet == whole.quiet
    assert reduced.states < 0.8 * whole.states
