"""The page on traces has the events of this paper."""

from __future__ import annotations

from roambus.bridge.agents import load_agent
from roambus.extensions.caching import cache
from tests.support.documents import quoted
from tests.test_pages import TRACE, by_name, constants


def test_events_that_only_this_agent_writes() -> None:
    """Each means what is said where it is defined, and belongs to the agent that declares it."""
    said, events = dict(constants(cache)), by_name(TRACE, "What agents of other papers write", "Event")
    own = {name: row["Meaning"] for name, row in events.items() if quoted(row["Agent"])[0] == "caching"}
    assert own
    assert own == {name: said[name] for name in own}
    assert set(own) <= set(load_agent("caching").own_notes)
