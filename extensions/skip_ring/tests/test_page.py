"""The page on traces has the events of this paper."""

from __future__ import annotations

from roambus.bridge.agents import load_agent
from roambus.extensions.skip_ring import messages
from tests.support.documents import quoted
from tests.test_pages import TRACE, by_name, constants


def test_events_that_only_this_agent_writes() -> None:
    """Each means what is said where it is defined, and belongs to the agent that declares it."""
    said, events = dict(constants(messages)), by_name(TRACE, "What agents of other papers write", "Event")
    own = {name: row["Meaning"] for name, row in events.items() if quoted(row["Agent"])[0] == "skip-ring"}
    assert own
    assert own == {name: said[name] for name in own}
    assert set(own) <= set(load_agent("skip-ring").own_notes)
