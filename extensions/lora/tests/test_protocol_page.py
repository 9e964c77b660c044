"""results/managed-flooding.md is complete and true: its tables have what the code has, no more and no less."""

from __future__ import annotations

from pathlib import Path

import pytest

from roambus.extensions.lora.flooding import ManagedFlooding
from roambus.extensions.lora.profile import REFERENCE_BYTES, ratio
from roambus.extensions.lora.radio.airtime import airtime_ns
from roambus.extensions.lora.radio.modems import PRESETS
from roambus.python_protocol.simtime import MILLISECOND
from tests.support.documents import rows
from tests.support.protocol_pages import ProtocolPageTests, transcripts_of

HERE = Path(__file__).parent


class TestPage(
    ProtocolPageTests,
    page=HERE.parent / "results" / "managed-flooding.md",
    tests=HERE,
    folders=(HERE.parent,),
    agents={"managed-flooding": ManagedFlooding},
):
    """Managed flooding."""


def test_every_transcript_is_named() -> None:
    """And every one named is there."""
    assert transcripts_of([TestPage.page]) == {file.name for file in (HERE / "scenarios").glob("*.txt")}


@pytest.mark.parametrize("preset", ["ShortFast", "MediumFast", "LongFast"])
def test_the_ratios_are_those_of_the_code(preset: str) -> None:
    """And so are the air times."""
    table = {row["Preset"]: row for row in rows(TestPage.page.read_text(encoding="utf-8"), "Preset")}
    assert table[preset]["Ratio"] == f"{float(ratio(preset)):.1f}"
    milliseconds = airtime_ns(PRESETS[preset], REFERENCE_BYTES) / MILLISECOND
    assert table[preset]["103 bytes (ms)"] == f"{milliseconds:,.1f}"
