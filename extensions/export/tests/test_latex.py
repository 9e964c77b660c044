"""Figures and tables for LaTeX: what they hold, and that nothing in them is taken for a command."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from roambus.bridge.runs.layout import TITLES
from roambus.bridge.system.errors import UserError
from roambus.experiments.figures.scales import folded
from roambus.extensions.export.latex import Chosen, escaped, latex_files
from tests.experiments.measured import Run, measurements, plausible, write_measurements


def test_a_figure_and_a_table_for_each_figure(tmp_path: Path) -> None:
    """With the numbers, the intervals and the agents' names; both can be cited."""
    found = measurements(configs=("C2", "C4"), speeds=("8",), seeds=3)
    titled = replace(found, sweep={**found.sweep, TITLES: {"mft": "A&B", "aodv": "AODV"}})
    write_measurements(titled, tmp_path)
    files = {name: "".join(lines) for name, lines in latex_files(tmp_path)}
    figure, table = files["figure-4.8.tex"], files["figure-4.8-table.tex"]
    point = found.point("messages_per_node", agent="mft", config="C2").iloc[0]
    assert f"(0,{point['mean']:.6g}) += (0,{point['high'] - point['mean']:.6g})" in figure
    assert "\\addlegendentry{A\\&B}" in figure
    assert "ylabel={messages per node}" in figure
    assert "xticklabels={{C2}, {C4}}, ymin=0]" in figure
    assert "ymin=0, ymax=1]" in files["figure-4.4a-all.tex"]
    assert "ylabel={energy per node (mJ), axis not from 0}" in files["energy-per-node.tex"]
    assert "\\label{fig:figure-4.8}" in figure
    assert "\\begin{tabular}{lrr}\n\\toprule" in table
    assert "A\\&B & " in table
    assert "\\caption{Messages per node at 8 m/s; means of 3 seeds" in table


def test_an_axis_of_more_than_a_decade_is_logarithmic(tmp_path: Path) -> None:
    """With ticks at 1, 2 and 5 of each power of ten."""
    write_measurements(measurements(configs=("C2", "C32"), speeds=("8",), seeds=3), tmp_path)
    figure = "".join(dict(latex_files(tmp_path))["figure-4.8.tex"])
    assert re.search(r"ymode=log, log ticks with fixed point, ytick=\{(\d+, )+\d+\}", figure)


def test_few_seeds_of_a_share_are_points(tmp_path: Path) -> None:
    """As in the drawn figure, whose caption says so; six seeds have intervals."""
    for seeds in (3, 6):
        found = measurements(configs=("C2", "C4"), speeds=("8",), seeds=seeds)
        write_measurements(found, tmp_path)
        figure = {name: "".join(lines) for name, lines in latex_files(tmp_path)}["figure-4.4a-all.tex"]
        runs = found.runs[(found.runs["agent"] == "mft") & (found.runs["config"] == "C2")]
        points = [f"(0,{value:.6g})\n" in figure for value in runs["delivery_rate_all"]]
        assert (all(points), "+= (0," in figure) == (seeds < 6, seeds >= 6)
        assert ("each seed as a point" in figure) == (seeds < 6)


def test_metrics_values_and_a_size_are_chosen(tmp_path: Path) -> None:
    """A figure of each metric that is named, of the values that are kept; nothing left is an error."""
    write_measurements(measurements(configs=("C2", "C4", "C8"), speeds=("2", "8"), seeds=3), tmp_path)
    chosen = Chosen(("messages_per_node",), {"config": ("C2", "C8")}, (3.3, 2.5))
    files = {name: "".join(lines) for name, lines in latex_files(tmp_path, chosen)}
    assert {name for name in files if "table" not in name} == {"figure-4.8.tex"}
    assert "[width=3.3in, height=2.5in, grid=major" in files["figure-4.8.tex"]
    assert "xticklabels={{C2}, {C8}}" in files["figure-4.8.tex"]
    with pytest.raises(UserError, match="messagess"):
        list(latex_files(tmp_path, Chosen(("messagess",))))
    with pytest.raises(UserError, match="unknown value of speed '3'"):
        list(latex_files(tmp_path, Chosen(where={"speed": ("3",)})))
    slow = dict(latex_files(tmp_path, Chosen(("messages_per_node",), {"speed": ("2",)})))
    assert "Messages per node at 2 m/s" in "".join(slow["figure-4.8.tex"])


def test_a_table_says_what_it_shows(tmp_path: Path) -> None:
    """It has intervals and no points, however few the seeds; of one seed it has neither."""
    for seeds, words in ((2, "means of 2 seeds with 95 % intervals of shares"), (1, "1 seed, so without intervals.")):
        write_measurements(measurements(configs=("C2", "C4"), speeds=("8",), seeds=seeds), tmp_path)
        table = {name: "".join(lines) for name, lines in latex_files(tmp_path)}["figure-4.4a-all-table.tex"]
        assert words.replace("%", "\\%") in table
        assert "as a point" not in table
        assert ("after ± or in parentheses".replace("±", r"$\pm$") in table) == (seeds > 1)


@pytest.mark.parametrize(
    ("size", "figure", "table", "columns"),
    [
        (None, "figure", "table*", "lrr"),
        ((3.3, 2.5), "figure", "table", "lr"),
        ((7.2, 4.2), "figure*", "table*", "lrr"),
    ],
)
def test_a_figure_and_its_table_take_the_width_that_is_asked_for(
    size: tuple[float, float] | None, figure: str, table: str, columns: str, tmp_path: Path
) -> None:
    """In one column a table has a row for each x value; a wider one spans both."""
    write_measurements(measurements(configs=("C2", "C4"), speeds=("8",), seeds=3, agents=("mft",)), tmp_path)
    files = {name: "".join(lines) for name, lines in latex_files(tmp_path, Chosen(("messages_per_node",), size=size))}
    assert files["figure-4.8.tex"].startswith(f"\\begin{{{figure}}}\n")
    assert files["figure-4.8-table.tex"].startswith(f"\\begin{{{table}}}\n")
    assert f"\\begin{{tabular}}{{{columns}}}" in files["figure-4.8-table.tex"]


def test_the_axis_against_which_it_is_drawn(tmp_path: Path) -> None:
    """As in `roambus figures --against`: a figure for each of its panels; an unknown axis is an error."""
    write_measurements(measurements(configs=("C2", "C4"), speeds=("2", "8"), seeds=3), tmp_path)
    files = {name: "".join(lines) for name, lines in latex_files(tmp_path, Chosen(("hops_mean",), against="speed"))}
    names = [f"hops-mean-against-speed-config-{config}" for config in ("C2", "C4")]
    assert list(files) == [f"{name}{end}" for name in names for end in (".tex", "-table.tex")]
    assert "xticklabels={{2}, {8}}" in files[f"{names[0]}.tex"]
    with pytest.raises(UserError, match="unknown axis 'brokers'"):
        list(latex_files(tmp_path, Chosen(against="brokers")))


def test_rates_near_one_have_the_scale_of_the_drawn_figure(tmp_path: Path) -> None:
    """Coordinates are places on it, with the rate behind them; the axis says so."""

    def near(agent: str, config: str, speed: str, seed: int) -> Run:
        return {**plausible(agent, config, speed, seed), "delivery_rate_all": 0.96 + seed / 100}

    write_measurements(measurements(near, configs=("C2", "C4"), speeds=("8",), seeds=3), tmp_path)
    figure = "".join(dict(latex_files(tmp_path, Chosen(("delivery_rate_all",))))["figure-4.4a-all.tex"])
    assert "ylabel={delivery rate (all), logit scale}" in figure
    assert "yticklabels={0.95, 0.98}" in figure
    assert f"(0,{float(folded(0.97)):.6g}) % 0.97" in figure


def test_text_is_no_command() -> None:
    """Agents and axes are named by users."""
    assert escaped("a_b\\input{x} 95 %") == r"a\_b\textbackslash{}input\{x\} 95 \%"
