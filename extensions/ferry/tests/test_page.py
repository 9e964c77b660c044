"""The page on traces has the event of ferries."""

from __future__ import annotations

from roambus.bridge.agents import load_agent
from roambus.extensions.ferry import messages
from tests.support.documents import quoted
from tests.test_pages import TRACE, by_name, constants


def test_events_that_only_ferries_write() -> None:
    """Each means what is said where it is defined, and belongs to the agents that declare it."""
    said, events = dict(constants(messages)), by_name(TRACE, "What agents of other papers write", "Event")
    own = {name: row["Meaning"] for name, row in events.items() if "ferry-fixed" in quoted(row["Agent"])}
    assert own == said
    for agent in ("ferry-fixed", "ferry-need"):
        assert set(own) <= set(load_agent(agent).own_notes)
