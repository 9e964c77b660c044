"""What a comparison writes and says, and what it answers to names that there are not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from roambus.bridge.runs.layout import AXIS_TITLES
from roambus.bridge.system.errors import UserError
from roambus.experiments.comparing.comparison import (
    Compared,
    CompareOptions,
    compare_agents,
    draw_compared,
    file_stems,
    panels,
)
from roambus.experiments.measurements import Measurements
from roambus.spark.aggregation.aggregate import mean_points
from roambus.spark.metrics import catalogue as c
from tests.experiments.measured import measurements

SMALL = measurements(configs=("C2", "C4", "C16"), speeds=("2", "8"), seeds=4, agents=("mft", "aodv", "third"))
TITLED = replace(SMALL, sweep={**SMALL.sweep, AXIS_TITLES: {"config": "brokers (number)"}})
AT_8 = {"speed": ("8",)}


def with_runs(runs: pd.DataFrame) -> Measurements:
    """The same sweep with other runs."""
    return replace(SMALL, runs=runs, points=mean_points(runs))


def compared(folder: Path, asked: CompareOptions, measured: Measurements = SMALL) -> list[Compared]:
    return list(compare_agents(measured, asked, folder))


def test_each_metric_has_picture_and_table(tmp_path: Path) -> None:
    """PNG, SVG, caption and CSV beside each other under one name, and nothing else."""
    asked = CompareOptions(("mft",), (c.DELIVERED,), where=AT_8)
    (done,) = compared(tmp_path, asked)
    files = {*done.files, *draw_compared(SMALL, asked, tmp_path)}
    stem = "delivered-against-config-speed-8"
    assert {file.name for file in files} == {f"{stem}.{kind}" for kind in ("png", "svg", "txt", "csv")}
    assert files == set(tmp_path.iterdir())
    assert done.text.splitlines()[0] == "messages delivered, speed 8"


def test_the_main_metrics_that_were_measured(tmp_path: Path) -> None:
    """Those are compared that any run has, unless others are asked for."""
    measured = with_runs(SMALL.runs[["agent", "config", "speed", "seed", c.MESSAGES, c.HOPS_MEAN]])
    (done,) = compared(tmp_path, CompareOptions(("mft",), where=AT_8), measured)
    assert done.files[0].name == "hops-mean-against-config-speed-8.csv"
    with pytest.raises(UserError, match=r"none of delivery_rate_all, .*: choose a metric"):
        compared(tmp_path, CompareOptions(), with_runs(SMALL.runs[["agent", "config", "speed", "seed", c.MESSAGES]]))


def test_the_table_has_every_point_and_every_test(tmp_path: Path) -> None:
    """Three agents at six places, three pairs at six places; the numbers are those of the runs."""
    (done,) = compared(tmp_path, CompareOptions(metrics=(c.DELIVERED,)))
    table = pd.read_csv(tmp_path / "delivered-against-config.csv", dtype={"speed": str})
    points, tests = table[table["minus"].isna()], table[table["minus"].notna()]
    assert (len(points), len(tests)) == (3 * 6, 3 * 6)
    chosen = SMALL.runs[(SMALL.runs["config"] == "C4") & (SMALL.runs["speed"] == "8")]
    first, second = (chosen[chosen["agent"] == agent][c.DELIVERED].to_numpy() for agent in ("mft", "aodv"))
    (point,) = points.query("agent == 'mft' and config == 'C4' and speed == '8'").to_dict("records")
    assert (point["mean"], point["n"]) == (pytest.approx(first.mean()), 4)
    (test,) = tests.query("agent == 'mft' and minus == 'aodv' and config == 'C4' and speed == '8'").to_dict("records")
    assert test["mean"] == pytest.approx(np.mean(first - second))
    assert test["p"] == pytest.approx(stats.ttest_rel(first, second).pvalue)
    assert test["p_holm"] >= test["p"]
    *_, mft_aodv, mft_third, aodv_third, together, family = done.text.splitlines()
    assert family == "p is adjusted by Holm for the 18 tests of this metric (3 pairs of agents)"
    assert [line.partition(":")[0] for line in (mft_aodv, mft_third, aodv_third)] == [
        "mft - aodv",
        "mft - third",
        "aodv - third",
    ]
    assert together == f"differences: {(tests['p_holm'] < 0.05).sum()} of 18 significant at 5 %"


def test_each_pair_of_several_agents_has_its_difference(tmp_path: Path) -> None:
    """With interval and p, and which is greater if that is significant; more rows than one reads are only counted."""
    (done,) = compared(
        tmp_path, CompareOptions(metrics=(c.MESSAGES_PER_NODE,), where={"config": ("C4", "C16"), **AT_8})
    )
    lines = done.text.splitlines()
    start = next(place for place, line in enumerate(lines) if line.split()[-3:] == ["pair", "difference", "greater"])
    rows = lines[start + 1 : start + 7]
    assert [row.split()[0] for row in rows] == ["C4", "C16"] * 3
    tests = done.tests.to_dict("records")
    for row, test in zip(rows, tests, strict=True):
        greater = test["agent"] if test["difference"] > 0 else test["minus"]
        assert f"{test['agent']} - {test['minus']}" in row
        assert " ± " in row
        assert (f" {greater} > " in row) == (test["p_holm"] < 0.05)
    assert any(" > " in row for row in rows)
    many = measurements(configs=("C2",), speeds=tuple(map(str, range(21))), seeds=3, agents=("mft", "aodv", "third"))
    (done,) = compared(tmp_path, CompareOptions(metrics=(c.MESSAGES,)), many)
    assert "63 differences are in the file; --agents and --where make them few enough" in done.text


def test_an_agent_without_the_parameter_of_an_axis_is_compared_at_each_value(tmp_path: Path) -> None:
    """With its only runs: in the table, in each pair's differences, and in the panels of a figure."""
    runs = SMALL.runs[(SMALL.runs["agent"] != "third") | (SMALL.runs["speed"] == "2")]
    runs = runs.assign(speed=runs["speed"].mask(runs["agent"] == "third", "-"))
    measured = with_runs(runs)
    (done,) = compared(tmp_path, CompareOptions(metrics=(c.DELIVERED,), where={"config": ("C4",)}), measured)
    third = [line for line in done.text.splitlines() if "third" in line and " = " in line]
    assert [line.split()[:4] for line in third] == [
        [speed, agent, "-", "third"] for agent in ("mft", "aodv") for speed in ("2", "8")
    ]
    head, *rows = done.text.splitlines()[1:4]
    assert head.split() == ["speed", "mft", "aodv", "third"]
    assert [row.split()[0] for row in rows] == ["2", "8"]
    assert rows[0].split()[-3:] == rows[1].split()[-3:]  # its mean and interval
    (at_8,) = compared(tmp_path, CompareOptions(("mft", "third"), (c.DELIVERED,), where=AT_8), measured)
    assert at_8.tests["n"].tolist() == [4, 4, 4]
    assert [[line.label for line in panel.series] for panel in panels(measured, c.DELIVERED, "config")] == [
        ["MFT-PubSub", "AODV", "third"]
    ] * 2


def test_delays_at_different_shares_delivered_are_warned_of(tmp_path: Path) -> None:
    """With the place where they differ most; a metric of all runs, or agents that deliver the same, have no warning."""
    runs = SMALL.runs.copy()
    runs[c.DELIVERY_RATE_ALL] = 0.9
    runs.loc[(runs["agent"] == "aodv") & (runs["config"] == "C16") & (runs["speed"] == "8"), c.DELIVERY_RATE_ALL] = 0.5
    runs.loc[(runs["agent"] == "aodv") & (runs["config"] == "C4"), c.DELIVERY_RATE_ALL] = 0.85
    delays, messages = compared(tmp_path, CompareOptions(metrics=(c.DELAY_MEAN_S, c.MESSAGES)), with_runs(runs))
    assert delays.text.splitlines()[-1] == (
        "warning: this covers only delivered notifications; agents delivered different shares at 3 of 6 places, "
        "most at config C16, speed 8: mft 0.90 and aodv 0.50"
    )
    same = with_runs(runs.assign(**{c.DELIVERY_RATE_ALL: 0.9}))
    (alike,) = compared(tmp_path, CompareOptions(metrics=(c.DELAY_MEAN_S,)), same)
    assert "warning" not in messages.text + alike.text


def test_agents_stand_in_the_order_asked_for(tmp_path: Path) -> None:
    """Their differences are the first minus the second; a value can be written as another number that is the same."""
    asked = CompareOptions(("aodv", "mft"), (c.MESSAGES,), where={"config": ("C2", "C16"), "speed": ("2.0",)})
    (done,) = compared(tmp_path, asked)
    title, head, *lines, significant, family = done.text.splitlines()
    assert family == "p is adjusted by Holm for the 2 tests of this metric (one pair of agents)"
    assert title == "messages, speed 2"
    assert head.split() == ["config", "aodv", "mft", "aodv", "-", "mft"]
    assert [line.split()[0] for line in lines] == ["C2", "C16"]
    assert all("p = " in line or "p < " in line for line in lines)
    assert significant.startswith("differences: ")


def test_a_comparison_says_whose_publishers_know_the_subscribers(tmp_path: Path) -> None:
    """In a line on the terminal and in the caption, not in legends; who is alone is compared to nobody."""
    measured = replace(SMALL, sweep={**SMALL.sweep, "oracle_subscribers": ["aodv"]})
    (done,) = compared(tmp_path, CompareOptions(metrics=(c.DELIVERED,), where=AT_8), measured)
    assert "publishers that have the list of subscribers from the scenario: aodv" in done.text.splitlines()
    (alone,) = compared(tmp_path, CompareOptions(("aodv",), (c.DELIVERED,)), measured)
    assert "from the scenario" not in alone.text
    figure = panels(measured, c.DELIVERED, "config")[0]
    assert [series.label for series in figure.series] == ["MFT-PubSub", "AODV", "third"]
    assert figure.caption.endswith(" The scenario gives the publishers of AODV the list of subscribers.")


def test_few_seeds_are_reported_on_the_terminal(tmp_path: Path) -> None:
    """Instead of a p-value, and no difference is counted as tested; of more than two agents in a line."""
    two = with_runs(SMALL.runs[(SMALL.runs["config"] == "C2") & (SMALL.runs["seed"] < 2)])
    (done,) = compared(tmp_path, CompareOptions(("mft", "aodv"), (c.MESSAGES,), where=AT_8), two)
    *_, difference, counted = done.text.splitlines()
    assert difference.endswith("fewer than 3 common seeds")
    assert counted == "differences: 1 of 1 not tested, fewer than 3 common seeds"
    (done,) = compared(tmp_path, CompareOptions((), (c.MESSAGES,), where=AT_8), two)
    assert done.text.splitlines()[-1] == "differences: 3 of 3 not tested, fewer than 3 common seeds"


def test_panels_are_the_other_axes() -> None:
    """One for each combination of their values, each with a line an agent."""
    figures = panels(SMALL, c.DELIVERED, "speed")
    titles = [f"messages delivered, config {config}" for config in ("C2", "C4", "C16")]
    assert [figure.title for figure in figures] == titles
    assert [[series.label for series in figure.series] for figure in figures] == [["MFT-PubSub", "AODV", "third"]] * 3
    assert all(figure.x_values == ("2", "8") for figure in figures)


def test_panels_agree_on_their_scale() -> None:
    """All are logarithmic, if the metric's means span a decade somewhere, or none is."""
    wide = panels(SMALL, c.MESSAGES_PER_NODE, "speed")
    assert {figure.logarithmic for figure in wide} == {True}
    narrow = with_runs(SMALL.runs[SMALL.runs["agent"] == "mft"])
    assert {figure.logarithmic for figure in panels(narrow, c.MESSAGES_PER_NODE, "speed")} == {False}


def test_against_the_agents(tmp_path: Path) -> None:
    """They stand side by side, also where there is no axis at all."""
    lines = [series.x for figure in panels(SMALL, c.DELIVERED, "agent") for series in figure.series]
    assert lines == [("mft", "aodv", "third")] * 6
    runs = pd.DataFrame({"agent": list("aaabbb"), "seed": [0, 1, 2] * 2, c.MESSAGES: [1, 2, 4, 8, 9, 13]})
    (done,) = compared(tmp_path, CompareOptions(metrics=(c.MESSAGES,)), Measurements(runs, mean_points(runs)))
    assert {file.stem for file in done.files} == {"messages-against-agent"}
    assert len(done.text.splitlines()) == 4


def test_names_of_files() -> None:
    """Whatever message types and values are called, names are short, without a slash, and all different."""
    metrics = ["sent_../../x", "sent_..%..%x", "sent_" + "long" * 100]
    stems = file_stems(metrics, ["against-speed"])
    assert stems[:2] == ["sent-..-..-x-against-speed", "sent-..-..-x-against-speed-1"]
    assert len(stems[2]) < 200


def test_any_message_type_can_be_compared(tmp_path: Path) -> None:
    """Its name stands above the numbers, and its file lies in the folder."""
    runs = SMALL.runs[SMALL.runs["speed"] == "2"].assign(**{"sent_../../$x$<b>": 1.0})
    (done,) = compared(tmp_path, CompareOptions(("mft",), ("sent_../../$x$<b>",)), with_runs(runs))
    assert {file.parent for file in done.files} == {tmp_path}
    assert done.text.startswith("packets of type ../../$x$<b>, speed 2")


def test_what_a_terminal_cannot_show_is_not_listed(tmp_path: Path) -> None:
    """A message type comes from a trace, and can be anything."""
    runs = SMALL.runs.assign(**{"sent_\x1b[2J": 1.0})
    with pytest.raises(UserError, match="unknown metric 'x': there is air_bytes_per_node, ") as error:
        compared(tmp_path, CompareOptions(metrics=("x",)), with_runs(runs))
    assert str(error.value).isprintable()


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (CompareOptions(metrics=("hop_mean",)), "unknown metric 'hop_mean': did you mean 'hops_mean'?"),
        (CompareOptions(metrics=(c.migrations.column,)), "none of these runs has migrations: Times that a node which"),
        (CompareOptions(metrics=(c.copies_heard.column,)), "none of these runs has copies_heard: .*with --level full"),
        (CompareOptions(metrics=("metres_per_node",)), "roambus aggregate RESULTS --measure travel adds it"),
        (CompareOptions(metrics=("mac_retransmissions",)), r"--measure .*studies/thesis/metrics\.py adds it"),
        (CompareOptions(("mft", "aodw")), "unknown agent 'aodw': did you mean 'aodv'?"),
        (CompareOptions(against="sped"), "unknown axis 'sped': did you mean 'speed'?"),
        (CompareOptions(against="brokers"), "unknown axis 'brokers': .*; figures call config so: give config"),
        (CompareOptions(where={"sped": ("2",)}), "unknown axis 'sped': did you mean 'speed'?"),
        (CompareOptions(where={"config": ("C1",)}), "unknown value of config 'C1': there is C16, C2"),
        (CompareOptions(where={"speed": ("3",)}), "unknown value of speed '3': there is 2, 8"),
    ],
)
def test_names_that_there_are_not(asked: CompareOptions, message: str, tmp_path: Path) -> None:
    """One message that says what is meant, perhaps, and what there is; nothing is written."""
    with pytest.raises(UserError, match=message):
        compared(tmp_path / "new", asked, TITLED)
    assert not (tmp_path / "new").exists()


def test_a_combination_without_runs(tmp_path: Path) -> None:
    """Is named, although each of its parts is there."""
    runs = SMALL.runs[~((SMALL.runs["config"] == "C2") & (SMALL.runs["speed"] == "8"))]
    with pytest.raises(UserError, match="there is no run of config C2, speed 8, agent mft or aodv or third"):
        compared(tmp_path, CompareOptions(where={"config": ("C2",), **AT_8}), with_runs(runs))


def test_too_many_panels(tmp_path: Path) -> None:
    """Are refused, with the axes that can be narrowed."""
    many = measurements(configs=("C2",), speeds=tuple(map(str, range(13))), seeds=1, agents=("mft",))
    with pytest.raises(UserError, match=r"13 panels are too many for a picture: narrow speed \(--where\)"):
        list(draw_compared(many, CompareOptions(metrics=(c.MESSAGES,), against="config"), tmp_path / "new"))
    assert not (tmp_path / "new").exists()


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """A file where the folder should be is named."""
    (tmp_path / "compare").write_text("in the way")
    with pytest.raises(UserError, match="compare: File exists: make room or give a folder"):
        compared(tmp_path / "compare", CompareOptions())
