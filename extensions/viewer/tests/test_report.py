"""The report is one file that needs nothing else, and shows everything that was measured."""

from __future__ import annotations

import base64
import hashlib
import math
import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from roambus.bridge.runs.layout import AGENT, SEED
from roambus.bridge.runs.log import maker_line
from roambus.bridge.system.errors import UserError
from roambus.experiments.claims import Bound, Claim, Part, Side, Verdict
from roambus.experiments.figures.style import FigureStyle
from roambus.experiments.measurements import format_mean
from roambus.experiments.reporting.figure_files import draw_figures, metric_figures
from roambus.experiments.studies.study import read_results
from roambus.extensions.viewer.report import (
    dial,
    facts,
    making,
    reason,
    report_page,
    write_report,
)
from tests.experiments.measured import HOSTILE, QUICK, measurements, of_thesis, write_measurements
from tests.experiments.studies.test_conditions import whole


class Page(HTMLParser):
    """The page's elements with their attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    @property
    def policy(self) -> str:
        """What the page may load and run."""
        return next(str(attributes["content"]) for _, attributes in self.elements if "http-equiv" in attributes)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture
def page(quick_results: Path) -> Page:
    return Page((quick_results / "report.html").read_text(encoding="utf-8"))


def test_every_figure_is_inside(page: Page, quick_results: Path, tmp_path: Path) -> None:
    """Each figure stands in the page with the strokes that its file has, and a caption that says the same."""
    pictures = [attributes for tag, attributes in page.elements if tag == "svg" and "class" not in attributes]
    figures = metric_figures(of_thesis(QUICK))
    assert len(pictures) == len(figures)
    for picture, figure in zip(pictures, figures, strict=True):
        assert str(picture["aria-label"]).startswith(figure.title)
        assert f"{figure.title}; {figure.intervals}" in page.text
    draw_figures(quick_results, style=FigureStyle(formats=("svg",)), out=tmp_path)
    files = [(tmp_path / f"{figure.name}.svg").read_text(encoding="utf-8") for figure in figures]
    strokes = [attributes["d"] for _, attributes in page.elements if "d" in attributes and "class" not in attributes]
    assert strokes == [" ".join(stroke.split()) for file in files for stroke in re.findall(r' d="([^"]*)"', file)]


def test_a_strangers_picture_is_not_shown(tmp_path: Path) -> None:
    """Figures are drawn from the metrics; a file in the results can be older, or anybody's. Nothing is written."""
    write_measurements(QUICK, tmp_path)
    (tmp_path / "figures").mkdir()
    for figure in metric_figures(of_thesis(QUICK)):
        forged = '<svg xmlns="http://www.w3.org/2000/svg"><text>FORGED</text></svg>'
        (tmp_path / "figures" / f"{figure.name}.svg").write_text(forged)
    before = sorted(tmp_path.rglob("*"))
    shown = report_page(tmp_path)
    assert "FORGED" not in shown
    assert metric_figures(of_thesis(QUICK))[0].title in shown
    assert sorted(tmp_path.rglob("*")) == before


def test_needs_no_network(page: Page) -> None:
    """Nothing in the page is fetched: no link, no picture, no address outside; its policy forbids it, too."""
    assert not [tag for tag, _ in page.elements if tag in ("link", "img", "image", "iframe", "object")]
    sources = [value for _, attributes in page.elements for name in ("src", "href") if (value := attributes.get(name))]
    assert all(source.startswith("#") for source in sources)
    places = {attributes.get("id") for _, attributes in page.elements}
    assert {source[1:] for source in sources} - places == set()
    assert page.policy.startswith("default-src 'none'; script-src 'sha256-")


def test_the_policy_allows_the_one_script(page: Page, quick_results: Path) -> None:
    """By its hash, and no other script by any."""
    html = (quick_results / "report.html").read_text(encoding="utf-8")
    (script,) = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert re.findall(r"script-src ([^;]*);", page.policy) == [f"'sha256-{digest}'"]


def test_every_claim_with_its_verdict(page: Page) -> None:
    """All ten claims are there with a verdict in words; in a quick sweep three are not measured."""
    for words in ("Delivery falls as the network grows", "brokers send more than clients", "not measured"):
        assert words in page.text
    assert re.search(r"3 not measured", page.text)


def claim(verdict: Verdict, *parts: Part) -> Claim:
    return Claim(1, "text", "reading", verdict, tuple(map(str, parts)), parts)


def test_why_a_claim_does_not_hold_is_one_sentence() -> None:
    """About the quantity that decides: the clearest against it, or without any the least clear."""
    against = Part("delay", Bound(Side.BELOW, 1000), 13596.0, 120.4, 10, 0.0001)
    lesser = Part("hops", Bound(Side.ABOVE), -0.1, 0.2, 10, 0.3)
    with_it = Part("rate", Bound(Side.ABOVE), 1.0, 0.1, 10, 0)
    assert reason(claim(Verdict.DOES_NOT_HOLD, with_it, lesser, against)) == (
        "delay: 13,596 ± 120; the claim needs less than 1,000."
    )
    open_one = reason(claim(Verdict.NOT_SIGNIFICANT, with_it, lesser))
    assert open_one == "hops: -0.1000 ± 0.2000 cannot be told from 0; the claim needs more than 0."
    alone_significant = Part("slope", Bound(Side.BELOW), 15.4, 14.7, 5, 0.043)
    assert reason(claim(Verdict.NOT_SIGNIFICANT, with_it, alone_significant)) == (
        "slope: 15.4 ± 14.7; the claim needs less than 0. Holm's correction for 2 parts leaves it open."
    )
    assert reason(claim(Verdict.HOLDS, with_it)) == ""


@pytest.mark.parametrize(("side", "mean"), [(Side.ABOVE, 3.0), (Side.BELOW, -3.0)])
def test_the_picture_of_a_quantity_has_the_claimed_side_on_the_right(side: Side, mean: float) -> None:
    """Its bound is in the middle, and the whole interval within."""
    at = dial(Part("x", Bound(side), mean, 1.0, 5, 0.01))
    assert 50 < at["mean"] < 100
    assert sorted([at["low"], at["high"]]) == pytest.approx([50 + 46 * 2 / 4, 96])


def test_what_was_run() -> None:
    """Agents, axes, seeds, number of runs and durations."""
    known = dict(facts(QUICK))
    assert (known["agents"], known["config"], known["speed"]) == ("MFT-PubSub; AODV", "C2, C4, C8", "2, 8")
    assert (known["seeds a point"], known["runs"], known["time limit"]) == ("3", "36, complete", "200 s")


def test_seeds_are_counted_at_each_point() -> None:
    """Two agents can have different ones, as many."""
    other = QUICK.runs[AGENT] == "aodv"
    runs = QUICK.runs.assign(**{SEED: QUICK.runs[SEED].where(~other, QUICK.runs[SEED] + 3)})
    assert runs[SEED].nunique() == 6
    assert dict(facts(replace(QUICK, runs=runs)))["seeds a point"] == "3"


def test_the_first_screen_says_how_it_was_made(tmp_path: Path) -> None:
    """With which code, when and on which machine, as the logs of the runs say; without logs it says nothing."""
    write_measurements(QUICK, tmp_path)
    assert making(read_results(tmp_path)) == []
    for seed in (0, 1):
        log = tmp_path / "traces" / "agent=mft" / f"seed={seed}" / "run.log"
        log.parent.mkdir(parents=True)
        log.write_text(f"agent mft, seed {seed}: complete in 61.00 s, 60.00 s of CPU, 9 MiB\n{maker_line()}\n")
    made = dict(making(read_results(tmp_path)))
    assert re.fullmatch(r"roambus \S+(, commit [0-9a-f]{12})?", made["made with"])
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", made["made on"])
    assert re.fullmatch(r"\w+ \w+, \d+ cores, Python 3[.\d]+", made["machine"])
    assert made["run time"] == "120 s of CPU in all"


def test_the_first_screen_says_whether_it_is_the_whole(page: Page) -> None:
    """The whole study, the one in small, a part, or other conditions; and that few seeds refute nothing."""
    assert "The study under other conditions." in page.text
    assert "is not refuted" in page.text
    assert "3 seeds a point" in page.text


def test_the_first_screen_names_other_conditions(page: Page, tmp_path: Path) -> None:
    """Each setting and part, before the claims, whose heading says it, too; of the whole study nothing stands there."""
    head, _, claims = page.text.partition("Claims of the thesis, under other conditions")
    assert "Conditions differ from those of study thesis: time limit 200 s (study: 700 s); publish until 150 s" in head
    assert "Only a part of study thesis was run: agents mft, aodv; config C2, C4, C8; speed 2, 8; seeds 3" in head
    assert "not run: config C32" in claims
    write_measurements(whole(), tmp_path)
    own = Page(report_page(tmp_path))
    assert "The whole study." in own.text
    assert "Conditions differ" not in own.text
    assert "other conditions" not in own.text


def test_every_caption_in_the_page_names_other_conditions(page: Page, quick_results: Path) -> None:
    """A figure is copied without the page's head."""
    html = (quick_results / "report.html").read_text(encoding="utf-8")
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", html)
    assert len(captions) == sum(tag == "figure" for tag, _ in page.elements) > 10
    assert all("time limit 200 s (study: 700 s)" in caption for caption in captions)


def test_missing_runs_are_reported() -> None:
    """A report of an unfinished sweep says how much is missing."""
    whole = measurements(configs=("C2",), speeds=("2",), seeds=3)
    whole.sweep["seeds"] = [0, 1, 2, 3, 4]
    assert dict(facts(whole))["runs"] == "6 of 10: 4 missing"


def test_how_to_run_it_again(quick_results: Path) -> None:
    """The command names everything that the sweep set."""
    assert (
        "roambus sweep thesis --set config=C2,C4,C8 --set speed=2,8 --set time_limit=200 --set publish_until=150 "
        "--agents mft,aodv --seeds 3 --out DIR"
    ) in Page((quick_results / "report.html").read_text(encoding="utf-8")).text


def test_hostile_names_are_only_text(hostile_report: Path) -> None:
    """An agent, an axis value, a message type or a parameter that looks like markup is shown, never obeyed."""
    html = hostile_report.read_text(encoding="utf-8")
    page = Page(html)
    tags = Counter(tag for tag, _ in page.elements)
    assert (tags["script"], tags["img"]) == (2, 0)
    assert HOSTILE not in html
    assert HOSTILE in page.text


def test_same_results_same_report(quick_results: Path) -> None:
    """Writing the report again gives the same bytes."""
    before = (quick_results / "report.html").read_bytes()
    assert write_report(quick_results).read_bytes() == before


def test_no_metrics(tmp_path: Path) -> None:
    """Without metrics there is no report, and the message says what to do."""
    with pytest.raises(UserError, match="run `roambus aggregate"):
        write_report(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("mean", "low", "high", "text"),
    [
        (0.91234, 0.86674, 0.95794, "0.912 ± 0.046"),
        (0.91234, 0.852, 0.9412, "0.912 (0.852 to 0.941)"),
        (12345.6, 12266.7, 12424.5, "12,346 ± 79"),
        (12.3456, math.nan, math.nan, "12.3"),
        (0.0, 0.0, 0.0, "0 ± 0"),
        (0.00012, -0.09988, 0.10012, "0.0001 ± 0.1000"),
    ],
)
def test_numbers(mean: float, low: float, high: float, text: str) -> None:
    """Three digits that matter, at most four decimals, thousands apart; an interval that leans is given by its ends."""
    assert format_mean(mean, low, high) == text
