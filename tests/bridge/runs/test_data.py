"""The trace lists the files that an agent reads, and a change of one makes another run."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

from roambus.bridge.runs.data import changed_data
from roambus.bridge.runs.run import RunPlan, TraceState, execute_in_child, run_key, trace_state
from roambus.bridge.trace.parquet import read_footer
from roambus.bridge.trace.schema import DATA_READ
from roambus.experiments.inventory import TEMPLATES
from tests.bridge.runs.test_run import INI
from tests.support.agents import write_agent
from tests.support.backends import everybody_hears_everybody

READ = "from pathlib import Path; Path(__file__).with_name('table.txt').read_text(); open('{outside}').close()"


def made(tmp_path: Path) -> RunPlan:
    outside = tmp_path / "elsewhere" / "more.txt"
    for file in (outside, tmp_path / "code" / "table.txt"):
        file.parent.mkdir(exist_ok=True)
        file.write_text("1")
    agent = write_agent(tmp_path / "code", "reader", READ.format(outside=outside))
    plan = RunPlan(tmp_path / "results", Path("traces/agent=mine/seed=0"), INI, TEMPLATES / "CC2420.txt", str(agent), 0)
    execute_in_child(plan, everybody_hears_everybody)
    return plan


def test_files_that_a_handler_reads_are_in_the_trace(tmp_path: Path) -> None:
    """By their names in the agent's folder, others by their places; a run that reads none has no list."""
    plan = made(tmp_path)
    read = json.loads(read_footer(plan.folder / "trace.parquet").metadata[DATA_READ])
    assert read.keys() == {"table.txt", str(tmp_path / "elsewhere" / "more.txt")}
    other = dataclasses.replace(plan, results=tmp_path / "o", agent=str(write_agent(tmp_path, "none", "pass")))
    execute_in_child(other, everybody_hears_everybody)
    assert DATA_READ not in read_footer(other.folder / "trace.parquet").metadata


def test_a_run_whose_data_have_changed_is_another_one(tmp_path: Path) -> None:
    """Or are gone; with the same contents again it is complete."""
    plan = made(tmp_path)
    key = run_key(plan, everybody_hears_everybody)
    for file in (tmp_path / "code" / "table.txt", tmp_path / "elsewhere" / "more.txt"):
        assert trace_state(plan.folder, key, plan.agent) is TraceState.COMPLETE
        file.write_text("2")
        assert trace_state(plan.folder, key, plan.agent) is TraceState.ANOTHER
        file.unlink()
        assert trace_state(plan.folder, key, plan.agent) is TraceState.ANOTHER
        file.write_text("1")
    assert trace_state(plan.folder, key, plan.agent) is TraceState.COMPLETE


def test_a_damaged_list_is_another_one(tmp_path: Path) -> None:
    """A trace can be a stranger's."""
    agent = str(write_agent(tmp_path, "none", "pass"))
    for text in ("{", "[1]", '{"a": 1}', "[" * 10000, '{"\\u0000": "x"}', '{"/dev/zero": "x"}'):
        assert changed_data(agent, {DATA_READ: text}) is not None
    assert changed_data(agent, {}) is None
