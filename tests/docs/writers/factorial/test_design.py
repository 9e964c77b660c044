"""The design separates main effects, and each of its readings is a sweep."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from docs.writers.factorial.design import (
    CHOICES,
    CONFIRMING,
    DESIGN,
    NAMES,
    chains,
    changes,
    design_columns,
    every_reading,
    reading_of,
    readings,
    write_sweeps,
)
from roambus.experiments.sweeps.sweep_file import read_sweep


def test_no_main_effect_shares_its_column_with_another_or_with_a_pair() -> None:
    """The design has resolution IV."""
    columns = design_columns()
    assert len(columns) == len(CHOICES) + len(chains())
    for column, two in itertools.combinations(columns.values(), 2):
        assert column @ two == 0


def test_readings_are_sweeps_of_both_protocols(tmp_path: Path) -> None:
    """The first row changes nothing, so MFT-PubSub has its defaults; the last changes every choice."""
    write_sweeps(tmp_path, readings(), DESIGN)
    for name in ("01", "14", "32"):
        sweep = read_sweep(str(tmp_path / f"{name}.toml"))
        assert [agent.label for agent in sweep.agents] == ["mft", "aodv"]
    assert "mft.parameters = {  }" in (tmp_path / "01.toml").read_text()
    assert all(readings()["32"].values())


def test_a_confirming_sweep_has_ten_fresh_seeds_and_the_times_of_the_design(tmp_path: Path) -> None:
    """Seeds 0 to 2 selected it."""
    write_sweeps(tmp_path, {"top-01": readings()["14"]}, CONFIRMING)
    sweep = read_sweep(str(tmp_path / "top-01.toml"))
    assert list(sweep.seeds) == list(range(3, 13))
    assert sweep.fixed["time_limit"] == DESIGN.time_limit
    assert sweep.fixed["publish_until"] == DESIGN.publish_until
    assert tuple(next(axis.values for axis in sweep.axes if axis.name == "speed")) == ("2", "8")


def test_a_reading_and_its_changes_are_each_others_inverse() -> None:
    """For each row; a word that is no choice is refused."""
    for reading in readings().values():
        assert reading_of(changes(reading)) == reading
    with pytest.raises(KeyError, match="no choice is called hops"):
        reading_of("profile hops")


def test_every_reading_is_there_once() -> None:
    """There are 8,192, and the design's are among them."""
    table = every_reading()
    assert len(table.drop_duplicates()) == len(table) == 8192
    assert len(table.merge(table.iloc[:0].from_records([*readings().values()]), on=NAMES)) == 32
