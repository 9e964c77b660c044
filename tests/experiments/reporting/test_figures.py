"""Figures: which there are, what they show, and that the same numbers give the same files."""

from __future__ import annotations

import hashlib
import itertools
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.text import Text

from roambus.bridge.runs.layout import AXIS_TITLES
from roambus.bridge.system.errors import UserError
from roambus.experiments.figures import drawing
from roambus.experiments.figures.drawing import draw, draw_panels
from roambus.experiments.figures.figure import Figure, Series, places
from roambus.experiments.figures.line_names import spread
from roambus.experiments.figures.scales import crowds, folded, set_scale, unfolded
from roambus.experiments.figures.style import USUAL, FigureStyle, read_style
from roambus.experiments.measurements import Measurements, read_measurements
from roambus.experiments.reporting.figure_files import EVERY, draw_figures, metric_figures
from roambus.experiments.studies.study import SweepResults
from roambus.spark.aggregation.aggregate import mean_points
from roambus.spark.metrics import catalogue as c
from roambus.spark.metrics.metric import Scale
from tests.experiments.measured import measurements, of_thesis, write_measurements

THESIS = ["4.4a", "4.4b", "4.4a-all", "4.4b-all", "4.5a", "4.5b", "4.6", "4.7a", "4.7b", "4.8"]


def planned(measured: Measurements) -> dict[str, Figure]:
    return {figure.name: figure for figure in metric_figures(of_thesis(measured))}


def other_sweep(axes: dict[str, list[str]]) -> Measurements:
    """A sweep of two agents over these axes, in which only messages are measured."""
    places = [{"agent": agent} for agent in ("x", "y")]
    for name, values in axes.items():
        places = [{**place, name: value} for place in places for value in values]
    runs = pd.DataFrame({**place, "seed": seed, c.MESSAGES: seed + 1} for place in places for seed in (0, 1))
    return Measurements(runs, mean_points(runs))


def test_all_figures_of_the_thesis() -> None:
    """Each figure of the thesis is there, and messages by role and energy besides."""
    names = [f"figure-{number}" for number in THESIS]
    extra = ["messages-by-role-mft", "messages-by-role-aodv", "energy-per-node"]
    assert list(planned(measurements())) == [*names, *extra]


def test_figures_show_the_points() -> None:
    """Figure 4.8 has MFT-PubSub's messages per node at 8 m/s: the points' means and intervals, with their seeds."""
    measured = measurements()
    mft, aodv = planned(measured)["figure-4.8"].series
    assert (mft.label, aodv.label) == ("MFT-PubSub", "AODV")
    point = measured.point(c.MESSAGES_PER_NODE, agent="mft", config="C16", speed="8").iloc[0]
    at = mft.x.index("C16")
    assert (mft.mean[at], mft.low[at], mft.high[at], mft.seeds[at]) == (*point[["mean", "low", "high"]], 5)


def test_axes_are_the_thesis_own() -> None:
    """4.4 has a line a speed over sizes, 4.5b runs over speeds; 4.6 and 4.8 are logarithmic."""
    figures = planned(measurements())
    assert [series.label for series in figures["figure-4.4a"].series] == [f"{v} m/s" for v in (2, 4, 6, 8, 10)]
    assert figures["figure-4.4a"].x_values == ("C2", "C4", "C8", "C16", "C32")
    assert figures["figure-4.5b"].x_values == ("2", "4", "6", "8", "10")
    logarithmic = {name for name, figure in figures.items() if figure.scale is Scale.LOGARITHMIC}
    assert {"figure-4.6", "figure-4.8"} <= logarithmic
    assert logarithmic.isdisjoint({"figure-4.5a", "figure-4.7a"})


def test_titles_say_where_they_depart_from_the_thesis() -> None:
    """Without C16 and 8 m/s the largest values stand in, and the titles say so."""
    figures = planned(measurements(configs=("C2", "C8"), speeds=("2", "4")))
    assert figures["figure-4.5b"].title.endswith("at C8 (in the thesis: C16)")
    assert figures["figure-4.8"].title.endswith("at 4 m/s (in the thesis: 8 m/s)")
    assert "in the thesis" not in planned(measurements())["figure-4.5b"].title


def test_number_of_seeds() -> None:
    """Every figure says how many seeds its means are of, and that one seed has no interval."""
    intervals = planned(measurements(seeds=5))["figure-4.8"].intervals
    assert intervals == "means of 5 seeds with 95 % t-intervals (computed on the logarithmic scale)"
    assert planned(measurements(seeds=1))["figure-4.8"].intervals == "1 seed, so without intervals"


def test_figures_of_another_sweep() -> None:
    """Each metric over the first axis in natural order, a line for each agent and value of the second axis."""
    (figure,) = metric_figures(
        SweepResults(other_sweep({"nodes": ["9", "10"], "power": ["0", "-5"], "rate": ["1", "2"]}))
    )
    assert (figure.name, figure.title, figure.x_values) == ("messages", "messages, rate 1", ("9", "10"))
    assert {series.label for series in figure.series} == {
        f"{agent}, power {power}" for agent in "xy" for power in ("0", "-5")
    }


def test_figures_of_a_sweep_without_axes() -> None:
    """Then the agents stand side by side."""
    (figure,) = metric_figures(SweepResults(other_sweep({})))
    assert [(series.label, series.x) for series in figure.series] == [("", ("x", "y"))]


def test_values_keep_the_sweep_order() -> None:
    """Names of an axis without a natural order come as the sweep lists them."""
    found = other_sweep({"size": ["large", "medium", "small"]})
    asked = {"axes": {"size": ["small", "medium", "large"]}}
    assert Measurements(found.runs, found.points, asked).values("size") == ["small", "medium", "large"]


@pytest.mark.slow
def test_files(tmp_path: Path) -> None:
    """Each figure is drawn as PNG and SVG with its caption, the same bytes every time, without a date."""
    write_measurements(measurements(configs=("C2", "C4"), speeds=("2",), seeds=2, agents=("mft",)), tmp_path)
    files = draw_figures(tmp_path)
    assert {file.name for file in files} == {file.name for file in (tmp_path / "figures").iterdir()}
    assert {file.suffix for file in files} == {".png", ".svg", ".txt"}
    before = [hashlib.sha256(file.read_bytes()).hexdigest() for file in files]
    assert [hashlib.sha256(file.read_bytes()).hexdigest() for file in draw_figures(tmp_path)] == before
    assert not any(re.search(rb"20\d\d-\d\d-\d\d", file.read_bytes()) for file in files if file.suffix == ".svg")


@pytest.mark.parametrize(
    ("means", "scale", "drawn", "note"),
    [
        ((300.0, 900.0), Scale.LOGARITHMIC, Scale.FROM_ZERO, ""),
        ((90.0, 900.0), Scale.LOGARITHMIC, Scale.LOGARITHMIC, ", logarithmic"),
        ((700.0, 710.0), Scale.CUT, Scale.CUT, ", axis not from 0"),
        ((700.0, 710.0), Scale.FROM_ZERO, Scale.FROM_ZERO, ""),
    ],
)
def test_an_axis_says_what_it_is(means: tuple[float, float], scale: Scale, drawn: Scale, note: str) -> None:
    """It is logarithmic where that shows, over a factor of ten, and says so if it does not begin at 0."""
    line = Series("a", ("1", "2"), means, means, means, (2, 2))
    figure = Figure("a", "a", "x", "y", ("1", "2"), (line,), scale)
    assert figure.drawn_scale is drawn
    axes = Picture().add_subplot()
    limits(figure, axes)
    assert axes.get_ylabel() == f"y{note}"
    assert (axes.get_ylim()[0] == 0) == (drawn is Scale.FROM_ZERO)


def test_panels_do_not_repeat_the_title_of_their_axis() -> None:
    """Each says where it is."""
    line = Series("a", ("1", "2"), (1.0, 5.0), (1.0, 4.0), (1.0, 6.0), (2, 2))
    figures = [Figure(at, f"messages per node, {at}", "x", "messages per node", ("1", "2"), (line,)) for at in "pq"]
    picture = drawing._picture(figures, USUAL, 2)
    assert [axes.get_title(loc="left") for axes in picture.axes] == ["P", "Q"]


@pytest.mark.parametrize(
    ("size", "style"), [("slide", "slide"), ("column", "colour"), ("screen", "grey"), ("7x2", "slide")]
)
@pytest.mark.parametrize(
    ("count", "at", "x"),
    [(count, f"subscribers and brokers of each network {count}", "number of nodes that move") for count in (2, 3)]
    + [(2, "crash share 0.3", "brokers")],
)
def test_texts_of_panels_do_not_touch(size: str, style: str, count: int, at: str, x: str) -> None:
    """Nor leave the picture, however large their letters are in it."""
    places = ("5", "10", "20", "40", "80", "100", "110", "120")
    rates = tuple(0.96 for _ in places)
    seeds, values = tuple(2 for _ in places), tuple((0.1, 1.0) for _ in places)
    lines = tuple(Series(name, places, rates, rates, rates, seeds, {}, values) for name in ("mft", "aodv", "gossip"))
    title = f"delivery rate (all), {at}"
    figures = [Figure("a", title, x, "delivery rate (all)", places, lines, Scale.SHARE) for _ in range(count)]
    chosen = read_style("png", size, style)
    with drawing._styled(chosen.settings):
        picture = drawing._picture(figures, *drawing.in_panels(chosen, count))
        picture.draw_without_rendering()
    boxes = [text.get_window_extent() for text in picture.findobj(Text) if text.get_text() and text.get_visible()]
    inside = picture.bbox.padded(2)
    assert all(inside.contains(*box.min) and inside.contains(*box.max) for box in boxes)
    assert not [
        pair for pair in itertools.combinations([box.padded(-2) for box in boxes], 2) if pair[0].overlaps(pair[1])
    ]


def test_a_value_of_zero_on_a_logarithmic_axis(tmp_path: Path) -> None:
    """A zero cannot stand on a logarithmic axis: the axis is a plain one then, and nothing is lost."""
    zero = Series("a", ("1", "2"), (0.0, 5.0), (0.0, 4.0), (0.0, 6.0), (2, 2))
    figure = Figure("zero", "zero", "x", "y", ("1", "2"), (zero,), Scale.LOGARITHMIC)
    assert all(file.stat().st_size > 1000 for file in draw(figure, tmp_path)[:2])


def test_a_share_of_few_seeds_shows_each_seed() -> None:
    """Its interval would fill the axis: the seeds' own values stand there, and the caption says so."""
    figure = planned(measurements())["figure-4.4a"]
    assert figure.intervals == "means of 5 seeds, and each seed as a point"
    axes = Picture().add_subplot()
    limits(figure, axes)
    dots = [line for line in axes.lines if line.get_marker() == "."]
    shown = sorted(value for line in dots for value in list(np.asarray(line.get_ydata())))
    assert shown == sorted(value for series in figure.series for values in series.values for value in values)
    assert not axes.collections


def test_a_share_of_six_seeds_has_intervals() -> None:
    """From then on they say more than the seeds do."""
    figure = planned(measurements(seeds=6))["figure-4.4a"]
    assert figure.intervals == "means of 6 seeds with 95 % intervals of shares (Korn and Graubard)"
    assert not figure.shows_seeds


def test_several_figures_in_one_picture(tmp_path: Path) -> None:
    """Two side by side, in the width of one; a picture of three is twice as high."""
    line = Series("a", ("1", "2"), (1.0, 5.0), (1.0, 4.0), (1.0, 6.0), (2, 2))
    figures = [Figure(name, name, "x", "y", ("1", "2"), (line,)) for name in "abc"]
    sizes = []
    for count in (2, 3):
        draw_panels(figures[:count], tmp_path / "panels.png")
        header = (tmp_path / "panels.png").read_bytes()[16:24]
        sizes.append((int.from_bytes(header[:4]), int.from_bytes(header[4:])))
    assert sizes[0][0] == 300 * USUAL.size[0]
    assert sizes[1] == (sizes[0][0], 2 * sizes[0][1])


def test_names_at_the_ends_of_lines_do_not_overlap() -> None:
    """Three that want one place stand around it, within the axis; others stay beside their lines."""
    places = spread(np.array([0.1, 0.9, 0.95, 1.0]), np.full(4, 0.2))
    assert places == pytest.approx([0.1, 0.5, 0.7, 0.9])


def test_figures_of_the_agents_share_their_range(tmp_path: Path) -> None:
    """Readers compare 4.4a with 4.4b, which stand side by side."""
    figures = planned(measurements())
    ranges = {limits(figures[f"figure-4.4{letter}"], Picture().add_subplot()) for letter in "ab"}
    assert len(ranges) == 1


def test_an_axis_has_the_title_that_its_sweep_gives_it() -> None:
    """Then C16 is 16 on it, and numbers have commas; a caption for a paper has no number of the thesis."""
    found = measurements()
    asked = {**found.sweep, AXIS_TITLES: {"config": "subscribers and brokers", "speed": "speed (m/s)"}}
    titled = replace(found, sweep=asked)
    figure = planned(titled)["figure-4.5a"]
    assert (figure.x_title, figure.labels["C16"]) == ("subscribers and brokers", "16")
    assert (titled.at("speed", "8"), titled.label("nodes", "2000")) == ("speed 8 m/s", "2,000")
    assert figure.own_caption.startswith("Messages delivered at 8 m/s; means of 5 seeds")


def colours(figure: Figure, style: FigureStyle, part: str = "color") -> list[str]:
    return [paint[part] for paint in drawing.paints(figure.series, style)]


def test_an_agent_has_the_same_colour_and_marker_in_all_figures() -> None:
    """Whichever agents a figure shows, and in whatever order; further lines of an agent are lighter."""
    style = replace(USUAL, agents=("mft", "aodv", "flooding"))
    lines = [Series(agent, ("1",), (1.0,), (1.0,), (1.0,), (2,), {"agent": agent}) for agent in style.agents]
    whole = colours(Figure("a", "a", "x", "y", ("1",), tuple(lines)), style)
    assert len(set(whole)) == 3
    assert colours(Figure("b", "b", "x", "y", ("1",), (lines[2], lines[0])), style) == [whole[2], whole[0]]
    twice = colours(Figure("c", "c", "x", "y", ("1",), (lines[1], lines[1])), style)
    assert twice[0] == whole[1] != twice[1]
    markers = colours(Figure("a", "a", "x", "y", ("1",), tuple(lines)), style, "marker")
    further = colours(Figure("c", "c", "x", "y", ("1",), (lines[1], lines[1])), style, "marker")
    assert further[0] == markers[1]
    assert further[1] not in markers
    grey = colours(Figure("d", "d", "x", "y", ("1",), (lines[1], lines[1])), replace(style, style="grey"))
    assert grey[0] == grey[1]


def test_nothing_of_a_line_is_cut() -> None:
    """Every marker and both ends of every interval lie within the axes, whatever the scale."""
    for scale in Scale:
        mean, below, above = (0.96, 0.99, 1.0, 0.5), (0.91, 0.8, 1.0, 0.0), (0.98, 1.0, 1.0, 0.9)
        line = Series("a", ("1", "2", "3", "4"), mean, below, above, (3, 3, 3, 3))
        figure = Figure("one", "one", "x", "y", line.x, (line,), scale)
        axes = Picture().add_subplot()
        bottom, top = limits(figure, axes)
        assert bottom <= min(*below, *mean)
        assert max(*above, *mean) <= top
        assert not any(part.get_clip_on() for bar in axes.containers for part in bar.get_children())


def limits(figure: Figure, axes: Axes) -> tuple[float, float]:
    drawing._plot(figure, axes, USUAL)
    return axes.get_ylim()


def test_rates_near_one_are_distinguished() -> None:
    """Their scale puts 0.96 and 0.99 three times as far apart as a linear one; 1 has a place."""
    assert crowds([0.96, 0.99, 1.0])
    assert not crowds([0.2, 0.5, 0.99])
    whole = folded(1.0) - folded(0.5)
    assert (folded(0.99) - folded(0.96)) / whole > 3 * (0.99 - 0.96) / 0.5
    assert unfolded(folded(0.97)) == pytest.approx(0.97)
    assert np.isfinite(folded([0.0, 1.0])).all()


@pytest.mark.parametrize(("low", "high"), [(1e-9, 1e7), (0.9e-3, 9e5), (2.0, 60.0), (3.1, 3.2), (1e-30, 1e30)])
@pytest.mark.parametrize("size", ["screen", "column", "10x1.5"])
def test_a_logarithmic_axis_has_numbers(low: float, high: float, size: str) -> None:
    """At least two, whatever it spans and how low it is, and none on another."""
    axes = scaled(size, Scale.LOGARITHMIC, [low, high])
    assert len(apart(axes)) >= 2


def scaled(size: str, scale: Scale, values: list[float]) -> Axes:
    """Axes of a picture of this size, drawn with these values."""
    picture = Picture(figsize=read_style("png", size, "colour").size)
    axes = picture.add_subplot()
    set_scale(axes, scale, values, values[1:])
    picture.draw_without_rendering()
    return axes


def apart(axes: Axes) -> list[str]:
    """The texts beside the vertical axis, none of which touches another."""
    bottom, top = axes.get_ylim()
    labels = [text for text in axes.get_yticklabels() if bottom <= text.get_position()[1] <= top]
    ends = [(box.y0, box.y1) for box in (text.get_window_extent() for text in labels)]
    assert all(above[0] >= below[1] - 1 for below, above in itertools.pairwise(sorted(ends)))
    return [text.get_text() for text in labels]


@pytest.mark.parametrize("size", ["screen", "column", "10x1.5"])
def test_numbers_of_a_folded_axis_stand_apart(size: str) -> None:
    """Those of its ends are among them."""
    axes = scaled(size, Scale.SHARE, [0.0, 0.99, 1.0])
    assert {"0", "1"} <= set(apart(axes))


@pytest.mark.parametrize(
    ("values", "at"),
    [
        (("60s", "10s", "1s"), [60, 10, 1]),
        (("500ms", "2s", "0"), [0.5, 2, 0]),
        (("10 m", "250 m"), [10, 250]),
        (("-5dBm", "0dBm"), [-5, 0]),
        (("C2", "C32"), [0, 1]),
        (("1s", "never"), [0, 1]),
        (("1", "inf"), [0, 1]),
        (("10m", "1km"), [0, 1]),
    ],
)
def test_an_axis_of_quantities_is_drawn_to_scale(values: tuple[str, ...], at: list[float]) -> None:
    """Of times in any unit, and of numbers in one; other values stand side by side."""
    assert list(places(values).values()) == at


def test_numbers_ascend_along_an_axis() -> None:
    """However the sweep lists them; names keep its order."""
    for values, shown in ((("60s", "10s", "1s"), ("1s", "10s", "60s")), (("large", "small"), ("large", "small"))):
        found = other_sweep({"size": list(values)})
        (figure,) = metric_figures(SweepResults(replace(found, sweep={"axes": {"size": values}})))
        assert (figure.x_values, figure.series[0].x) == (shown, shown)


def test_text_stays_text_and_no_title_is_drawn(tmp_path: Path) -> None:
    """In SVG and PDF; what the figure shows stands beside it; PNG has 300 dots an inch."""
    line = Series("a line", ("1", "2"), (1.0, 5.0), (0.5, 4.0), (1.5, 6.0), (3, 3))
    figure = Figure("one", "what it shows", "an axis", "y", ("1", "2"), (line,))
    draw(figure, tmp_path, read_style("png,svg,pdf", "3.5x2.5", "grey"))
    drawn = (tmp_path / "one.svg").read_text()
    assert all(f">{text}</text>" in drawn for text in ("a line", "an axis"))
    assert "what it shows" not in drawn
    assert (tmp_path / "one.txt").read_text() == "What it shows; means of 3 seeds with 95 % t-intervals.\n"
    assert b"/FontFile2" in (tmp_path / "one.pdf").read_bytes() or b"/Type0" in (tmp_path / "one.pdf").read_bytes()
    width, height = (int.from_bytes((tmp_path / "one.png").read_bytes()[at : at + 4]) for at in (16, 20))
    assert (width, height) == (1050, 750)


@pytest.mark.parametrize("size", ["screen", "column"])
def test_the_names_of_many_lines_make_a_picture_taller(size: str, tmp_path: Path) -> None:
    """Beside the axes or below them: it is drawn without a warning that nothing was left for the axes."""
    values, means = ("1", "2"), (1.0, 5.0)
    lines = tuple(
        Series(f"an agent, brokers {number}, speed 8", values, means, means, means, (3, 3)) for number in range(14)
    )
    style = read_style("png", size, "colour")
    draw(Figure("many", "many", "x", "y", values, lines), tmp_path, style)
    draw(Figure("two", "two", "x", "y", values, lines[:2]), tmp_path, style)
    many, two = (int.from_bytes((tmp_path / f"{name}.png").read_bytes()[20:24]) for name in ("many", "two"))
    assert two == round(300 * style.size[1])
    assert many > 1.2 * two


def shown_labels(monkeypatch: pytest.MonkeyPatch, folder: Path, values: tuple[str, ...]) -> tuple[list[str], Axes]:
    """The texts below the axis of a figure of two lines over these x values, and its axes."""
    drawn: list[Axes] = []
    plot = Picture.add_subplot

    def kept(picture: Picture, *place: int) -> Axes:
        drawn.append(plot(picture, *place))
        return drawn[-1]

    monkeypatch.setattr(Picture, "add_subplot", kept)
    numbers = tuple(1.0 for _ in values)
    lines = tuple(Series(name, values, numbers, numbers, numbers, tuple(3 for _ in values)) for name in ("a", "b"))
    draw(Figure("one", "what it shows", "x", "y", values, lines), folder, read_style("svg", "screen", "colour"))
    return [label.get_text() for label in drawn[0].get_xticklabels()], drawn[0]


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        (("4", "8", "16", "32", "64"), ["4", "8", "16", "32", "64"]),
        (("4", "8", "16", "32", "64", "128"), ["4", "", "16", "32", "64", "128"]),
        (("C2", "C4"), ["C2", "C4"]),
    ],
)
def test_labels_do_not_run_into_each_other(
    values: tuple[str, ...], labels: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """4 and 8 do not read as 48; the mark on the axis stays."""
    shown, axes = shown_labels(monkeypatch, tmp_path, values)
    assert shown == labels
    assert len(axes.get_xticks()) == len(values)


def test_the_lines_of_a_single_value_stand_near_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """At the ends of the axis they would look like two values."""
    _, axes = shown_labels(monkeypatch, tmp_path, ("C2",))
    places = [float(np.asarray(line.get_xdata())[0]) for line in axes.get_lines()]
    low, high = axes.get_xlim()
    assert max(places) - min(places) < 0.1 * (high - low)


@pytest.mark.parametrize(
    ("given_style", "message"),
    [
        (("jpg", "screen", "colour"), "--format: unknown format 'jpg'"),
        (("png", "3.5", "colour"), "--size: '3.5': write WIDTHxHEIGHT"),
        (("png", "900x2", "colour"), "1 to 40 inches"),
        (("png", "88x60mm", "color"), "did you mean 'colour'?"),
    ],
)
def test_a_style_that_there_is_not(given_style: tuple[str, str, str], message: str) -> None:
    """The message names the option and what it takes."""
    with pytest.raises(UserError) as error:
        read_style(*given_style)
    assert message in str(error.value)


def test_one_metric_alone(tmp_path: Path) -> None:
    """As the study plans it, or over the first axis; an unmeasured one is refused."""
    write_measurements(measurements(configs=("C2", "C4"), speeds=("2",), seeds=2, agents=("mft",)), tmp_path)
    files = draw_figures(tmp_path, None, read_style("svg", "column", "colour"), [c.HOPS_MEAN])
    assert {file.suffix for file in files} == {".svg", ".txt"}
    assert all("hops" in file.read_text() for file in files if file.suffix == ".svg")
    with pytest.raises(UserError, match="unknown metric 'hop_mean'"):
        draw_figures(tmp_path, None, USUAL, ["hop_mean"])


def test_the_main_metrics_unless_asked_for_more(tmp_path: Path) -> None:
    """A sweep of no study has one for each of them; `all` stands for every metric that was measured."""
    runs = other_sweep({"size": ["1"]}).runs.assign(**{c.HOPS_MEAN: 2.0, c.DELIVERED: 9})
    write_measurements(Measurements(runs, mean_points(runs)), tmp_path)
    style = read_style("svg", "screen", "colour")
    assert {file.stem for file in draw_figures(tmp_path, None, style)} == {"hops-mean"}
    more = {file.stem for file in draw_figures(tmp_path, None, style, [EVERY])}
    assert more == {"hops-mean", "delivered", "messages"}


def test_no_metrics(tmp_path: Path) -> None:
    """Without metrics the message says which command makes them."""
    with pytest.raises(UserError, match="run `roambus aggregate"):
        draw_figures(tmp_path)


def test_a_point_that_is_there_twice(tmp_path: Path) -> None:
    """A table with two means of one metric at one point is damaged, for nobody could say which one counts."""
    write_measurements(measurements(configs=("C2",), speeds=("2",), seeds=1), tmp_path)
    file = tmp_path / "metrics" / "points.parquet"
    table = pd.read_parquet(file)
    pd.concat([table, table.iloc[:1]]).to_parquet(file)
    with pytest.raises(UserError, match=r"points.parquet: damaged \(it has two rows for one metric at one point\)"):
        draw_figures(tmp_path)


@pytest.mark.parametrize(("column", "value"), [("mean", math.inf), ("half_width", -1.0), ("half_width", math.inf)])
def test_a_point_that_cannot_be(column: str, value: float, tmp_path: Path) -> None:
    """A mean without end, or an interval that is less than nothing, is damage, and nothing to be drawn."""
    write_measurements(measurements(configs=("C2",), speeds=("2",), seeds=2), tmp_path)
    file = tmp_path / "metrics" / "points.parquet"
    table = pd.read_parquet(file)
    table.loc[0, column] = value
    table.to_parquet(file)
    with pytest.raises(UserError, match=r"points.parquet: damaged \(a mean, or the width of its interval, is no"):
        draw_figures(tmp_path)


def test_damaged_metrics(tmp_path: Path) -> None:
    """A table that cannot be read is named."""
    write_measurements(measurements(configs=("C2",), speeds=("2",), seeds=1), tmp_path)
    (tmp_path / "metrics" / "points.parquet").write_bytes(b"nonsense")
    with pytest.raises(UserError, match="damaged"):
        read_measurements(tmp_path)


def test_figures_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """A file where the figures should go is named in the message."""
    write_measurements(measurements(configs=("C2",), speeds=("2",), seeds=1), tmp_path)
    (tmp_path / "figures").write_text("in the way")
    with pytest.raises(UserError, match="figures"):
        draw_figures(tmp_path)
