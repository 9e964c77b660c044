"""page.md is complete and true: its tables have what the code has, no more and no less."""

from __future__ import annotations

from pathlib import Path

from roambus.extensions.caching import Caching
from tests.support.protocol_pages import ProtocolPageTests, transcripts_of

HERE = Path(__file__).parent


class TestPage(ProtocolPageTests):
    """Caching for mobility."""

    page, folders, tests = HERE.parent / "page.md", (HERE.parent,), HERE
    agents = {"caching": Caching}


def test_every_transcript_is_named() -> None:
    """And every one named is there."""
    assert transcripts_of([TestPage.page]) == {file.name for file in (HERE / "scenarios").glob("*.txt")}
