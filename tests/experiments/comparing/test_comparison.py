"""What a comparison writes and says, and what it answers to names that there are not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from bridge.errors import UserError
from experiments.comparing.comparison import Asked, Compared, compare_agents
from experiments.comparing.pictures import panels
from experiments.measurements import Measurements
from spark import catalogue as c
from spark.points import mean_points
from tests.experiments.measured import measurements, plausible

SMALL = measurements(configs=("C2", "C4", "C16"), speeds=("2", "8"), seeds=4, agents=("mft", "aodv", "third"))


def compared(folder: Path, measured: Measurements = SMALL, **asked: object) -> list[Compared]:
    return list(compare_agents(measured, Asked(**asked), folder))  # type: ignore[arg-type]  # tests know the fields


def table_of(folder: Path, measured: Measurements = SMALL, **asked: object) -> pd.DataFrame:
    (done,) = compared(folder, measured, **asked)
    (file,) = (file for file in done.files if file.suffix == ".csv")
    return pd.read_csv(file, dtype={"speed": str})


def test_each_metric_has_picture_and_table(tmp_path: Path) -> None:
    """PNG, SVG and CSV beside each other under one name, and nothing else."""
    done = compared(tmp_path, metrics=(c.DELIVERED, c.HOPS_MEAN), where={"speed": ("8",)})
    stems = ["delivered-against-config-speed-8", "hops-mean-against-config-speed-8"]
    assert [{file.name for file in one.files} for one in done] == [
        {f"{stem}.{kind}" for kind in ("png", "svg", "csv")} for stem in stems
    ]
    assert {file for one in done for file in one.files} == set(tmp_path.iterdir())
    assert [one.text.splitlines()[0] for one in done] == ["messages delivered, speed 8", "hops, mean, speed 8"]


def test_the_main_metrics_that_were_measured(tmp_path: Path) -> None:
    """Those are compared that any run has, unless others are asked for."""
    runs = SMALL.runs.drop(columns=[c.ENERGY_PER_NODE_MJ])
    found = compared(
        tmp_path, Measurements(runs, mean_points(runs), SMALL.sweep), agents=("mft",), where={"speed": ("2",)}
    )
    assert [one.files[0].stem.partition("-against")[0] for one in found] == [
        "delivery-rate-all",
        "end-to-end-delay-mean-s",
        "hops-mean",
        "messages-per-node",
    ]


def test_the_table_has_every_point_and_every_test(tmp_path: Path) -> None:
    """Three agents at six places; three pairs at six places; the numbers are those of the runs."""
    table = table_of(tmp_path, metrics=(c.DELIVERED,))
    points, tests = table[table["minus"].isna()], table[table["minus"].notna()]
    assert (len(points), len(tests)) == (3 * 6, 3 * 6)
    place = {"config": "C4", "speed": "8"}
    at = [
        SMALL.runs[(SMALL.runs[list(place)] == list(place.values())).all(axis=1) & (SMALL.runs["agent"] == name)]
        for name in ("mft", "aodv")
    ]
    first, second = (runs.sort_values("seed")[c.DELIVERED].to_numpy() for runs in at)
    chosen = table.set_index(["agent", "minus", "config", "speed"])
    point = points.set_index(["agent", "config", "speed"]).loc[("mft", "C4", "8")]
    assert (point["mean"], point["n"]) == (pytest.approx(first.mean()), 4)
    test = chosen.loc[("mft", "aodv", "C4", "8")]
    assert test["mean"] == pytest.approx(np.mean(first - second))
    assert test["p"] == pytest.approx(stats.ttest_rel(first, second).pvalue)
    assert test["p_holm"] >= test["p"]


def test_agents_stand_in_the_order_asked_for(tmp_path: Path) -> None:
    """Their differences are the first minus the second."""
    (done,) = compared(
        tmp_path, agents=("aodv", "mft"), metrics=(c.MESSAGES,), where={"config": ("C2", "C16"), "speed": ("2.0",)}
    )
    title, head, *lines, significant = done.text.splitlines()
    assert title == "messages, speed 2"
    assert head.split() == ["config", "aodv", "mft", "aodv", "-", "mft"]
    assert [line.split()[0] for line in lines] == ["C2", "C16"]
    assert all("p = " in line or "p < " in line for line in lines)
    assert significant.startswith("differences: ")


def test_few_seeds_are_told_on_the_terminal(tmp_path: Path) -> None:
    """Instead of a p-value, and no difference is counted as tested."""
    measured = measurements(configs=("C2",), speeds=("2",), seeds=2)
    (done,) = compared(tmp_path, measured, metrics=(c.MESSAGES,))
    assert done.text.splitlines()[-1].endswith("fewer than 3 common seeds")


def test_panels_are_the_other_axes() -> None:
    """One for each combination of their values, each with a line an agent."""
    figures = panels(SMALL, c.DELIVERED, "speed")
    assert [figure.title for figure in figures] == [
        f"messages delivered, config {config}" for config in ("C2", "C4", "C16")
    ]
    assert [[series.label for series in figure.series] for figure in figures] == [["MFT-PubSub", "AODV", "third"]] * 3
    assert all(figure.x_values == ("2", "8") for figure in figures)


def test_panels_agree_on_their_scale() -> None:
    """All are logarithmic, if the metric's means span a decade somewhere, or none is."""
    wide = panels(SMALL, c.MESSAGES_PER_NODE, "speed")
    assert {figure.logarithmic for figure in wide} == {True}
    narrow = measurements(configs=("C2", "C4"), speeds=("2", "8"), seeds=2, agents=("mft",))
    assert {figure.logarithmic for figure in panels(narrow, c.MESSAGES_PER_NODE, "speed")} == {False}


def test_against_the_agents(tmp_path: Path) -> None:
    """They stand side by side, also where there is no axis at all."""
    assert [series.x for figure in panels(SMALL, c.DELIVERED, "agent") for series in figure.series] == [
        ("mft", "aodv", "third")
    ] * 6
    runs = pd.DataFrame({"agent": list("aaabbb"), "seed": [0, 1, 2] * 2, c.MESSAGES: [1, 2, 4, 8, 9, 13]})
    (done,) = compared(tmp_path, Measurements(runs, mean_points(runs)), metrics=(c.MESSAGES,))
    assert {file.stem for file in done.files} == {"messages-against-agent"}
    assert len(done.text.splitlines()) == 4


def test_any_message_type_can_be_compared(tmp_path: Path) -> None:
    """Whatever it is called, its files lie in the folder, and no two have one name."""
    names = ["sent_../../x", "sent_..%..%x", "sent_" + "long" * 100]
    runs = SMALL.runs.assign(**dict.fromkeys(names, 1.0))
    done = compared(
        tmp_path, Measurements(runs, mean_points(runs), SMALL.sweep), metrics=tuple(names), where={"speed": ("2",)}
    )
    files = [file for one in done for file in one.files]
    assert {file.parent for file in files} == {tmp_path}
    assert len(set(files)) == 9
    assert done[0].text.startswith("packets of type ../../x")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"metrics": ("hop_mean",)}, "unknown metric 'hop_mean': did you mean 'hops_mean'?"),
        ({"metrics": (c.MIGRATIONS,)}, r"none of these runs has migrations \(migrations\)"),
        ({"agents": ("mft", "aodw")}, "unknown agent 'aodw': did you mean 'aodv'?"),
        ({"against": "sped"}, "unknown axis 'sped': did you mean 'speed'?"),
        ({"where": {"sped": ("2",)}}, "unknown axis 'sped': did you mean 'speed'?"),
        ({"where": {"config": ("C3",)}}, "unknown value of config 'C3': did you mean 'C"),
        ({"where": {"speed": ("3",)}}, "unknown value of speed '3': there is 2, 8"),
    ],
)
def test_names_that_there_are_not(asked: dict[str, object], message: str, tmp_path: Path) -> None:
    """One message that says what is meant, perhaps, and what there is; nothing is written."""
    with pytest.raises(UserError, match=message):
        compared(tmp_path / "new", **asked)
    assert not (tmp_path / "new").exists()


def test_a_combination_without_runs(tmp_path: Path) -> None:
    """Is named, although each of its parts is there."""
    runs = SMALL.runs[~((SMALL.runs["config"] == "C2") & (SMALL.runs["speed"] == "8"))]
    with pytest.raises(UserError, match="there is no run of config C2, speed 8, agent mft or aodv or third"):
        compared(
            tmp_path, Measurements(runs, mean_points(runs), SMALL.sweep), where={"config": ("C2",), "speed": ("8",)}
        )


def test_too_many_panels(tmp_path: Path) -> None:
    """Are refused, with the axes that can be narrowed."""
    measured = measurements(plausible, configs=("C2",), speeds=tuple(map(str, range(13))), seeds=2)
    with pytest.raises(UserError, match=r"13 panels are too many for a picture: narrow speed \(--where\)"):
        compared(tmp_path, measured, against="config", metrics=(c.MESSAGES,))


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """A file where the folder should be is named."""
    (tmp_path / "compare").write_text("in the way")
    with pytest.raises(UserError, match="compare: File exists: make room or give a folder"):
        compared(tmp_path / "compare")
