"""A single run can be asked for by the names that the sweeps of its template have given to settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from roambus.bridge.system.errors import UserError
from roambus.experiments.sweeps.selection import axis_of, is_template, override, sweep_of
from roambus.experiments.sweeps.sweep import AgentChoice
from roambus.experiments.sweeps.sweep_file import named_settings, read_sweep
from roambus.experiments.templates.template import Template, find_template

SWEEP = """
template = "mine.ini.j2"
[axes]
config.small = { nodes = 2 }
config.large = { nodes = 9 }
[agents]
beacon = {}
"""


def test_the_template_of_the_thesis_knows_its_sizes() -> None:
    """C2 to C32, as the thesis' sweep ties nodes to the side of the field."""
    sizes = {axis.name: list(axis.values) for axis in named_settings(find_template("thesis"))}
    assert sizes["config"] == ["C2", "C4", "C8", "C16", "C32"]
    assert axis_of(find_template("thesis"), "config", "C8").values == {
        "C8": {"publishers": 2, "subscribers": 8, "brokers": 8, "side": 60}
    }


def test_a_name_that_no_sweep_has_given_is_refused() -> None:
    """The message says which there are, and how another one is written."""
    own = 'set publishers, subscribers, brokers, side, or in a sweep --set config.C9="publishers=2 subscribers=32 brok'
    with pytest.raises(UserError, match=f"--set config: unknown value 'C9': there is C16, C2, C32, C4, C8; {own}"):
        axis_of(find_template("thesis"), "config", "C9")


def test_what_is_neither_variable_nor_named_setting_is_refused() -> None:
    """As an unknown variable."""
    with pytest.raises(UserError, match=r"--set: unknown variable of template thesis\.ini\.j2 'confg'"):
        axis_of(find_template("thesis"), "confg", "C8")


def test_sweeps_beside_a_template_of_ones_own_name_its_settings(tmp_path: Path) -> None:
    """A sweep that is broken, or of another template, has none."""
    template = tmp_path / "mine.ini.j2"
    template.write_text("SN.numNodes = {{ nodes | default(1) }}")
    (tmp_path / "sizes.toml").write_text(SWEEP)
    (tmp_path / "broken.toml").write_text("template = ")
    (tmp_path / "other.toml").write_text(SWEEP.replace("mine.ini.j2", "thesis").replace("nodes", "brokers"))
    assert axis_of(Template(template), "config", "large").values == {"large": {"nodes": 9}}


def test_a_template_is_swept_by_what_is_set() -> None:
    """Each variable or named setting becomes an axis; a template that shares its name with a sweep is not meant."""
    settings = {"config": ["C2", "C8"], "speed": ["2", "4.5"]}
    sweep = sweep_of("roambus sweep", find_template("thesis"), AgentChoice("mft", "mft"), settings)
    assert {axis.name: list(axis.values) for axis in sweep.axes} == {"config": ["C2", "C8"], "speed": ["2", "4.5"]}
    assert [is_template(name) for name in ("tree", "thesis", "beacon", "own.ini.j2")] == [True, False, False, True]


C64 = "publishers=2 subscribers=64 brokers=64 side=155"


@pytest.mark.parametrize(
    ("settings", "sizes"),
    [
        ({}, ["C2", "C4", "C8", "C16", "C32", "C64"]),
        ({"config": "C2"}, ["C2", "C64"]),
        ({"config": "C2,C64"}, ["C2", "C64"]),
        ({"config": "C64"}, ["C64"]),
    ],
)
def test_a_size_of_ones_own_is_added_to_those_of_a_sweep(settings: dict[str, str], sizes: list[str]) -> None:
    """It runs beside those that are chosen, and sets the variables of the others."""
    sweep = override(read_sweep("thesis"), {**settings, "config.C64": C64})
    config = next(axis for axis in sweep.axes if axis.name == "config")
    assert list(config.values) == sizes
    assert config.values["C64"] == {"publishers": 2, "subscribers": 64, "brokers": 64, "side": 155}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("config.C64", "brokers=64", 'it sets publishers, subscribers, brokers, side: write --set config.C64="publ'),
        ("config.C64", f"{C64} x", "it sets publishers"),
        ("config.C64", f"{C64} speed=2", "it sets publishers"),
        ("config.C8", C64, "the sweep has C8 already"),
        ("config.C64", C64.replace("brokers=64", "brokers=0"), "brokers: 0 is out of range"),
        ("config.C/64", C64, "'C/64' names a folder"),
        ("speed.12", "speed=12", "unknown variable"),
    ],
)
def test_a_size_of_ones_own_sets_what_the_others_set(name: str, text: str, message: str) -> None:
    """Else it would be no point of this axis; a plain axis takes values as they are."""
    with pytest.raises(UserError, match=message):
        override(read_sweep("thesis"), {name: text})
