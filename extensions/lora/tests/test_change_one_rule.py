"""results/change-one-rule.md: its agent is managed flooding but for the number of copies that silence a client."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from roambus.bridge.agents import load_agent
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.formats.ini import parse_scenario
from roambus.bridge.host.event_loop import Host
from roambus.bridge.trace.parquet import TraceWriter
from roambus.experiments.templates.template import Values, find_template
from roambus.extensions.lora import study
from tests.support.documents import listings

PAGE = Path(__file__).parents[1] / "results" / "change-one-rule.md"
LONGEST = 60


@pytest.fixture
def patient(tmp_path: Path) -> str:
    """The file of the page."""
    (tmp_path / "patient.py").write_text(listings(PAGE.read_text(encoding="utf-8"))["patient.py"])
    return str(tmp_path / "patient.py")


def rows_of(agent: str, parameters: str = "") -> list[dict[str, Any]]:
    """All rows of a minute of twelve nodes, all of them in reach of each other."""
    template = find_template("lora")
    given: Values = {"seed": 0, "agent": agent, "agent_parameters": parameters, "nodes": 12, "side": 2000, "sigma": 0}
    ini = template.render({**given, "publish_interval": 20, "time_limit": 60, "preset": "ShortFast"})
    described = parse_scenario(ini, template.file, Path(str(study.__file__)).parent)
    trace = TraceWriter()
    Host(described, load_agent(agent), RadioBackend(described), trace).run()
    return list(trace.table().to_pylist())


def frames_of(rows: list[dict[str, Any]]) -> int:
    """Frames on the air: packets handed over, without those that came back."""
    events = Counter(row["event"] for row in rows)
    return events["send"] - events["drop"]


def test_with_one_copy_it_is_managed_flooding(patient: str) -> None:
    """Row by row."""
    rows = rows_of(patient, "copies=1")
    assert sum(row["event"] == "deliver" for row in rows) > 100
    assert rows == rows_of("managed-flooding")


def test_each_further_copy_that_it_waits_for_costs_frames(patient: str) -> None:
    """Two by default."""
    one, default, two, four = (frames_of(rows_of(patient, given)) for given in ("copies=1", "", "copies=2", "copies=4"))
    assert one < two < four
    assert default == two


def test_the_page_is_short() -> None:
    """To be read in a few minutes."""
    assert len(PAGE.read_text(encoding="utf-8").splitlines()) <= LONGEST
