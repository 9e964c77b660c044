"""page.md is complete and true: its tables have what the code has, no more and no less."""

from __future__ import annotations

from pathlib import Path

from roambus.extensions.skip_ring import SkipRing
from roambus.extensions.skip_ring.labels import Reference
from roambus.extensions.skip_ring.messages import Check, Summary
from tests.support.protocol_pages import ProtocolPageTests, length, transcripts_of

HERE = Path(__file__).parent
REFERENCE, SUMMARY = Reference(1, "011"), Summary("011", bytes(8))


class TestPage(
    ProtocolPageTests,
    page=HERE.parent / "page.md",
    tests=HERE,
    folders=(HERE.parent,),
    agents={"skip-ring": SkipRing},
    examples={
        "Topic": 1,
        "Label": "011",
        "MaybeLabel": "011",
        "U16": 3,
        "Bits": "011",
        "Reference": REFERENCE,
        "Reference | None": REFERENCE,
        "Check | None": Check(REFERENCE, "011"),
        "tuple[Summary, ...]": (SUMMARY, SUMMARY),
    },
    letters={"t": 9, "l": 2, "r": length(REFERENCE), "s": length(SUMMARY)},
):
    """The skip ring."""


def test_every_transcript_is_named() -> None:
    """And every one named is there."""
    assert transcripts_of([TestPage.page]) == {file.name for file in (HERE / "scenarios").glob("*.txt")}
