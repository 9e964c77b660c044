"""page.md is complete and true: its tables have what the code has, no more and no less."""

from __future__ import annotations

from pathlib import Path

from roambus.extensions.phoenix import Phoenix
from roambus.extensions.phoenix.broker import Stamp
from tests.support.protocol_pages import ProtocolPageTests, transcripts_of

HERE = Path(__file__).parent


class TestPage(ProtocolPageTests):
    """Phoenix."""

    page, folders, tests = HERE.parent / "page.md", (HERE.parent,), HERE
    agents = {"phoenix": Phoenix}
    examples = {"Stamp": Stamp(0, 1)}


def test_every_transcript_is_named() -> None:
    """And every one named is there."""
    assert transcripts_of([TestPage.page]) == {file.name for file in (HERE / "scenarios").glob("*.txt")}
