"""A run's key changes with what can change its trace, and with nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from roambus.bridge.agents import agent_sources, load_agent
from roambus.bridge.backends.radio import backend as radio_backend
from roambus.bridge.runs.run import EVERY_RUN
from roambus.bridge.system import code
from roambus.bridge.system.code import PARTS, code_hash, project_files

HOUSE = Path(__file__).parents[3]

SOURCE = '''\
"""An agent."""

from roambus.python_protocol.settings import parameter

LIMIT = 3
"""How many it keeps."""


class Mine:
    """Its class."""

    rate: float = parameter(1.0, unit="1/s", source="the thesis", doc="how often it speaks")

    def handle(self, event, now):
        """Handles it."""
        return [event] * LIMIT  # all of them
'''

FOR_PEOPLE = {
    "the docstring of the file": ('"""An agent."""', '"""Another text."""'),
    "the text below a constant": ('"""How many it keeps."""\n', ""),
    "the docstring of a method": ('"""Handles it."""', '"""Does so,\n\n        at once."""'),
    "a comment": ("  # all of them", ""),
    "the way it is written": ("[event] * LIMIT", "([event]\n            * LIMIT)"),
    "what a parameter means": ("how often it speaks", "how many times it speaks"),
    "where its default is from": ("the thesis", "the paper"),
}
FOR_THE_RUN = {
    "a constant": ("LIMIT = 3", "LIMIT = 4"),
    "the default of a parameter": ("parameter(1.0", "parameter(2.0"),
    "the unit of a parameter": ('"1/s"', '"s"'),
    "a handler": ("return [event]", "return [now]"),
    "the name of a parameter": ("rate: float", "pace: float"),
    "what it imports": ("settings import parameter", "beacon import parameter"),
}


def hash_of(folder: Path, source: str) -> bytes:
    """The hash of the code of an agent that is written in one file."""
    path = folder / "mine.py"
    path.write_text(source)
    return code_hash([path])


def edited(change: tuple[str, str]) -> str:
    assert change[0] in SOURCE
    return SOURCE.replace(*change)


@pytest.mark.parametrize("what", FOR_PEOPLE)
def test_what_only_people_read_does_not_change_the_key(tmp_path: Path, what: str) -> None:
    """A finished sweep is not made again for it."""
    assert hash_of(tmp_path, edited(FOR_PEOPLE[what])) == hash_of(tmp_path, SOURCE)


@pytest.mark.parametrize("what", FOR_THE_RUN)
def test_what_an_agent_does_changes_the_key(tmp_path: Path, what: str) -> None:
    """Also if the file was edited since it was last looked at."""
    assert hash_of(tmp_path, edited(FOR_THE_RUN[what])) != hash_of(tmp_path, SOURCE)


def test_the_key_does_not_depend_on_where_the_agent_lies(tmp_path: Path) -> None:
    """Workers of a cluster have it elsewhere."""
    other = tmp_path / "other"
    other.mkdir()
    assert hash_of(tmp_path, SOURCE) == hash_of(other, SOURCE)


def test_a_name_of_the_house_leads_to_its_module_alone(tmp_path: Path) -> None:
    """`from roambus import results` makes no part of a run, and no other part comes with it."""
    path = tmp_path / "mine.py"
    path.write_text("from roambus import results\n")
    assert project_files([path]) == {path.resolve()}
    path.write_text("from roambus.bridge.system.errors import UserError\nimport roambus.python_protocol.trace_rows\n")
    names = {file.name for file in project_files([path])}
    assert names >= {"errors.py", "trace_rows.py"}
    assert "agent.py" not in names


def parts_of(agent: str) -> set[str]:
    """The files of ours that a run with that agent over the radio consists of, as paths in the house."""
    roots = {path.resolve() for path in (*EVERY_RUN, *agent_sources(load_agent(agent)), Path(radio_backend.__file__))}
    return {str(path.relative_to(HOUSE)) for path in project_files(roots)}


@pytest.mark.parametrize("agent", ["aodv", "mft", "beacon"])
def test_a_run_consists_of_agent_host_and_back_end(agent: str) -> None:
    """Neither the command line, nor studies, metrics, records and transcripts, nor another back-end are in its key."""
    parts = parts_of(agent)
    assert {"bridge/host/event_loop.py", "bridge/backends/radio/mac/interface.py", "bridge/trace/parquet.py"} <= parts
    assert {"bridge/scenario/radio.py", "bridge/formats/ini/reader.py", "bridge/keys.py"} <= parts
    others = (
        "extensions/recording/",
        "bridge/transcript/",
        "bridge/runs/",
        "bridge/wire/",
        "bridge/backends/castalia/",
        "bridge/backends/ideal/",
    )
    assert not [part for part in parts if part.startswith((*others, "spark", "experiments", "roambus"))]


def test_an_agent_brings_what_it_imports_and_no_other_agent() -> None:
    """A change of MFT-PubSub leaves the runs of AODV as they are."""
    aodv, mft = parts_of("aodv"), parts_of("mft")
    assert any(part.startswith("python_protocol/mft") for part in mft)
    assert not any(part.startswith("python_protocol/mft") for part in aodv)
    assert any(part.startswith("python_protocol/aodv") for part in aodv)


@pytest.mark.parametrize(
    ("file", "old", "new", "changes"),
    [
        ("bridge/host/event_queue.py", '"""The ', '"""Another ', False),
        ("bridge/scenario/mac.py", '"base of the bound of a back-off"', '"the base of back-offs"', False),
        ("bridge/scenario/mac.py", 'MILLISECONDS, "16"', 'MILLISECONDS, "17"', True),
        ("bridge/backends/radio/mac/tunable_mac.py", "EARLY = 0.95", "EARLY = 0.9", True),
        ("bridge/host/action_executor.py", "if action.after != 0:", "if action.after != 1:", True),
        ("bridge/transcript/journal.py", "def ", "def another", False),
    ],
)
def test_our_own_code_counts_by_the_same_rule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, old: str, new: str, *, changes: bool
) -> None:
    """Docstrings and meanings do not count; defaults, constants and handlers do."""
    for room in PARTS:
        name = room.removeprefix("roambus.")
        shutil.copytree(HOUSE / name, tmp_path / name)
        monkeypatch.setitem(PARTS, room, tmp_path / name)
    before = run_hash_in(tmp_path)
    text = (tmp_path / file).read_text()
    assert old in text
    (tmp_path / file).write_text(text.replace(old, new))
    assert (run_hash_in(tmp_path) != before) is changes
    forget()


def run_hash_in(house: Path) -> bytes:
    """The hash of the code of a run of the beacon, in a copy of the house."""
    forget()
    files = (*EVERY_RUN, *agent_sources(load_agent("beacon")), Path(radio_backend.__file__))
    return code_hash(house / file.resolve().relative_to(HOUSE) for file in files)


def forget() -> None:
    """Has the files of the house be read anew."""
    for function in (code._code, code._our_code, code._imported_of_ours, code._file_of_ours):
        function.cache_clear()


def test_a_helper_beside_an_agent_belongs_to_its_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the agent imports of its own project, by way of other helpers, too; installed packages do not count."""
    monkeypatch.chdir(tmp_path)
    agent, helper, further = (tmp_path / f"{name}.py" for name in ("mine", "helper_of_mine", "further_of_mine"))
    agent.write_text("import numpy\nfrom helper_of_mine import times\n")
    helper.write_text("import further_of_mine\ntimes = 3\n")
    further.write_text("more = 1\n")
    assert project_files([agent]) == {agent, helper, further}
    before = code_hash([agent])
    further.write_text("more = 2\n")
    assert code_hash([agent]) != before


def test_relative_imports_belong_to_the_code(tmp_path: Path) -> None:
    """As in the modules of a package."""
    for name, text in {
        "__init__": "",
        "one": "from . import two",
        "two": "from .three import x",
        "three": "x = 1",
    }.items():
        (tmp_path / f"{name}.py").write_text(text)
    assert {file.stem for file in project_files([tmp_path / "one.py"])} == {"__init__", "one", "two", "three"}
