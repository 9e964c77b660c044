"""What pages of docs/ say of the code is what the code says."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import pandas as pd
import pytest

from roambus.bridge.agents import load_agent
from roambus.bridge.backend import BackendFactory
from roambus.bridge.backends.ideal.backend import IdealFactory
from roambus.bridge.backends.radio.backend import RadioFactory
from roambus.bridge.formats.ini import parse_scenario
from roambus.bridge.host.event_loop import Host
from roambus.bridge.trace import schema
from roambus.bridge.trace.parquet import TraceLevel, TraceWriter
from roambus.bridge.transcript.commands import SYNTAX
from roambus.bridge.transcript.head import BLOCKS, KEYWORDS
from roambus.bridge.transcript.transcript import Overrides, transcribe
from roambus.experiments.inventory import TEMPLATES
from roambus.experiments.sweeps.sweep import expand
from roambus.experiments.sweeps.sweep_file import read_sweep
from roambus.experiments.templates.template import find_template
from roambus.python_protocol import actions, events, trace_rows
from tests.support.documents import Row, listings, page, quoted, rows, section

Variables = Mapping[str, str | int]

TRACE, TRANSCRIPTS, AGENTS, METRICS_PAGE = map(page, ("trace", "transcripts", "agents", "metrics"))


def by_name(document: Path, title: str, column: str) -> dict[str, Row]:
    """The rows of a section's table by the name in the first column."""
    return {quoted(row[column])[0]: row for row in rows(section(document, title), column)}


# Traces


def test_columns_of_traces() -> None:
    """Each with its type, in their order; and which of them are never empty."""
    documented = [(name, row["Type"]) for name, row in by_name(TRACE, "Columns", "Column").items()]
    assert documented == [(field.name, str(field.type)) for field in schema.TRACE_SCHEMA]
    always = [field.name for field in schema.TRACE_SCHEMA if not field.nullable]
    assert quoted(section(TRACE, "Columns").partition("|")[0]) == always


@pytest.mark.parametrize(("title", "by_host"), [("What the host writes", True), ("What agents write", False)])
def test_events_of_traces(title: str, by_host: bool) -> None:  # the value of a case
    """Each means what is said where it is defined, and agents may note all but those of the host."""
    documented = {name: row["Meaning"] for name, row in by_name(TRACE, title, "Event").items()}
    said = {name: meaning for name, meaning in constants(trace_rows) if (name in trace_rows.HOST_EVENTS) == by_host}
    assert documented == said


def constants(module: ModuleType) -> Iterator[tuple[str, str]]:
    """The words that a module defines, with what it says of each."""
    body = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8")).body
    for definition, text in pairwise(body):
        match definition, text:
            case ast.Assign(value=ast.Constant(str(word))), ast.Expr(ast.Constant(str(meaning))) if word.strip():
                yield word, " ".join(meaning.split())


def test_columns_of_events() -> None:
    """Each event that happens in a run on the radio, or on a tree with faults, fills just the columns that are said.

    But for drops: what is dropped decides which.
    """
    documented = by_name(TRACE, "What the host writes", "Event") | by_name(TRACE, "What agents write", "Event")
    traces = [trace_of("thesis", RadioFactory(), THESIS), trace_of("tree", IdealFactory(), TREE)]
    happened = pd.concat(traces)
    assert happened.event.nunique() > 15
    for event, found in happened[happened.event != schema.DROP].groupby("event"):
        filled = {column for column in found.columns[3:] if found[column].notna().any()}
        assert filled == set(quoted(documented[str(event)]["Columns"])), event


THESIS: Variables = {
    "brokers": 4,
    "subscribers": 4,
    "side": 45,
    "time_limit": 30,
    "publish_until": 20,
    "agent_parameters": "",
}
TREE: Variables = {"agent_parameters": "tree=given link_layer=false"}


def trace_of(template: str, backend: BackendFactory, variables: Variables) -> pd.DataFrame:
    ini = find_template(template).render({"seed": 0, "agent": "mft", **variables})
    scenario, agent = parse_scenario(ini, Path("run.ini"), TEMPLATES), load_agent("mft")
    trace = TraceWriter(TraceLevel.FULL)
    Host(scenario, agent, backend.make(scenario, agent, TEMPLATES), trace).run()
    table: pd.DataFrame = trace.table().to_pandas()
    return table


# Transcripts


@pytest.mark.parametrize("command", SYNTAX.splitlines())
def test_commands_of_transcripts(command: str) -> None:
    """Each as an example."""
    assert f"`{command}`" in TRANSCRIPTS.read_text(encoding="utf-8")


def test_keywords_of_transcripts() -> None:
    """Each in the table of settings or in that of networks, and no other."""
    documented = by_name(TRANSCRIPTS, "Settings", "Setting") | by_name(TRANSCRIPTS, "The network", "Form")
    assert {name.split()[0] for name in documented} == {*KEYWORDS, *BLOCKS}


# Agents


@pytest.mark.parametrize(("title", "union"), [("Events", events.Event), ("Actions", actions.Action)])
def test_events_and_actions_of_agents(title: str, union: Any) -> None:
    """Each with its fields."""
    documented = by_name(AGENTS, title, title[:-1])
    defined = {cls.__name__: [field.name for field in dataclasses.fields(cls)] for cls in get_args(union)}
    assert {name: quoted(row["Fields"]) for name, row in documented.items()} == defined


@pytest.mark.parametrize(
    ("name", "scenario"),
    [
        ("own-protocol", "line.txt"),
        ("first-protocol", "line.txt"),
        ("first-lesson", "discovery.txt"),
        ("transcripts", "moves.txt"),
        ("positions", "near.txt"),
    ],
)
def test_transcripts_shown(name: str, scenario: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a page shows of a transcript is in what `roambus trace` prints."""
    text = page(name).read_text(encoding="utf-8")
    for listing, content in listings(text).items():
        (tmp_path / listing).write_text(content)
    monkeypatch.chdir(tmp_path)
    printed = transcribe(Path(scenario), Overrides(times=f"trace {scenario} --times" in text))
    shown = re.findall(r"```console\n(>.*?)```", text, re.DOTALL)
    assert shown
    assert all(part in printed for part in shown)


def test_the_sweep_of_areas_expects_what_is_published_in_them(tmp_path: Path) -> None:
    """Everybody is expected to get what is published in the area, and nobody anything else."""
    (tmp_path / "areas.toml").write_text(listings(page("positions").read_text(encoding="utf-8"))["areas.toml"])
    asked = read_sweep(str(tmp_path / "areas.toml"))
    middle = next(plan for plan in expand(asked) if ("area", "middle") in plan.axes)
    small: Variables = {"agent": "flooding", "agent_parameters": "", "seed": 0, "time_limit": 6, "nodes": 8}
    ini = asked.template.render({**middle.variables, **small})
    place = asked.template.rendered
    scenario, agent, trace = parse_scenario(ini, place, TEMPLATES), load_agent("flooding"), TraceWriter()
    Host(scenario, agent, IdealFactory().make(scenario, agent, tmp_path), trace).run()
    rows = trace.table().to_pandas()
    assert set(rows[rows.event == "publish"].detail) == {"", "0 1 2 3 4 5 6 7"}
