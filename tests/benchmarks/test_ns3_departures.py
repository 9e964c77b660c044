"""What ns-3 does otherwise, as changes of the embedded radio."""

from __future__ import annotations

import pytest

from benchmarks.mutants import ROOT
from benchmarks.ns3_departures import RADIO, VARIANTS, changed


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_variant_changes_the_radio_of_today(variant: str) -> None:
    """Each text that it changes is there once, and what comes out is Python."""
    for file, text in changed(variant).items():
        assert text != (ROOT / RADIO / file).read_text(encoding="utf-8")
        compile(text, file, "exec")
