"""The comparison of traces with and without what saves exchanges, on the shortest case."""

from pathlib import Path

import pytest

from benchmarks.bridge_equality import CASES, WAYS, compare
from tests.support.omnet import stand_in


@pytest.fixture(scope="module")
def built() -> Path:
    return stand_in()


@pytest.mark.usefixtures("built")
def test_an_agent_leaves_one_trace_whatever_saves_exchanges(capsys: pytest.CaptureFixture[str]) -> None:
    """And the last way needs the fewest."""
    (gossip,) = (case for case in CASES if case.agent == "gossip")
    assert compare("stand-in", gossip, "0s", WAYS[-1:])
    cells = [cell.strip() for cell in capsys.readouterr().out.split("|")]
    assert int(cells[6]) < int(cells[5])
    assert cells[7] == "equal"
