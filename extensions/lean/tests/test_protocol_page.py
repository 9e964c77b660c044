"""page.md is complete and true: its tables have what the code has, no more and no less."""

from __future__ import annotations

from pathlib import Path

from roambus.extensions.lean import LeanMft
from tests.support.protocol_pages import ProtocolPageTests, transcripts_of

HERE = Path(__file__).parent


class TestPage(
    ProtocolPageTests,
    page=HERE.parent / "page.md",
    tests=HERE,
    folders=(HERE.parent,),
    agents={"mft-lean": LeanMft},
):
    """MFT-PubSub without its tree."""


def test_every_transcript_is_named() -> None:
    """And every one named is there."""
    assert transcripts_of([TestPage.page]) == {file.name for file in (HERE / "scenarios").glob("*.txt")}
