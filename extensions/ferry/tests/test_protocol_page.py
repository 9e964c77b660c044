"""page.md is complete and true: its tables have what the code has, no more and no less."""

from __future__ import annotations

from pathlib import Path

from roambus.extensions.ferry import FixedFerry, NeedFerry
from roambus.extensions.ferry.dweller import FerryParameters
from roambus.extensions.ferry.messages import Carried, Here, News, Taken, Wants
from tests.support.protocol_pages import ProtocolPageTests, transcripts_of

HERE = Path(__file__).parent


class TestPage(
    ProtocolPageTests,
    page=HERE.parent / "page.md",
    tests=HERE,
    parts={"Messages": (Here, Wants, News, Carried, Taken)},
    parameters={"Switches": FerryParameters},
):
    """Both agents, which share messages and parameters."""


def test_both_agents_have_these_messages() -> None:
    """And no others."""
    kinds = {Here, Wants, News, Carried, Taken}
    assert set(FixedFerry.messages) == set(NeedFerry.messages) == kinds


def test_every_transcript_is_named() -> None:
    """And every one named is there."""
    assert transcripts_of([TestPage.page]) == {file.name for file in (HERE / "scenarios").glob("*.txt")}
