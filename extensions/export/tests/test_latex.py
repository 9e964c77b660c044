"""Figures and tables for LaTeX: what they hold, and that nothing in them is taken for a command."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from roambus.bridge.runs.layout import TITLES
from roambus.extensions.export.latex import escaped, latex_files
from tests.experiments.measured import measurements, write_measurements


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
    assert "ymode=log" in figure
    assert "\\label{fig:figure-4.8}" in figure
    assert "\\begin{tabular}{lrr}\n\\toprule" in table
    assert "A\\&B & " in table
    assert "\\caption{Messages per node at 8 m/s; means of 3 seeds" in table


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


def test_text_is_no_command() -> None:
    """Agents and axes are named by users."""
    assert escaped("a_b\\input{x} 95 %") == r"a\_b\textbackslash{}input\{x\} 95 \%"
