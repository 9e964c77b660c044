"""The report is one file that needs nothing else, and shows everything that was measured."""

from __future__ import annotations

import base64
import json
import math
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from bridge.errors import UserError
from experiments.figures import plan_figures
from experiments.report import write_report
from experiments.summary import commands, facts, format_mean, metrics_table
from spark.layout import SWEEP_FILE
from tests.experiments.measured import measurements, plausible, write_measurements

QUICK = measurements(configs=("C2", "C4", "C8"), speeds=("2", "8"), seeds=3)
HOSTILE = "<script>alert('x')</script>"


class Page(HTMLParser):
    """The page's elements with their attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("quick")
    write_measurements(QUICK, folder)
    write_report(folder)
    return folder


@pytest.fixture
def page(results: Path) -> Page:
    return Page((results / "report.html").read_text(encoding="utf-8"))


def test_every_figure_is_inside(page: Page, results: Path) -> None:
    """Each figure stands in the page as it lies in its file, with a caption that says the same as its picture."""
    images = [attributes for tag, attributes in page.elements if tag == "img"]
    figures = plan_figures(QUICK)
    assert len(images) == len(figures)
    for image, figure in zip(images, figures, strict=True):
        data = str(image["src"]).removeprefix("data:image/svg+xml;base64,")
        assert base64.b64decode(data) == (results / "figures" / f"{figure.name}.svg").read_bytes()
        assert str(image["alt"]).startswith(figure.title)


def test_needs_no_network(page: Page) -> None:
    """Nothing in the page is fetched: no link, no script, no address outside."""
    assert not [tag for tag, _ in page.elements if tag in ("link", "script", "iframe", "object")]
    sources = [value for _, attributes in page.elements for name in ("src", "href") if (value := attributes.get(name))]
    assert all(source.startswith("data:") for source in sources)


def test_every_claim_with_its_verdict(page: Page) -> None:
    """All ten claims are there with a verdict in words; in a quick sweep three are not measured."""
    for words in ("Delivery falls as the network grows", "brokers send more than clients", "not measured"):
        assert words in page.text
    assert re.search(r"3 not measured", page.text)


def test_every_point_is_in_the_table() -> None:
    """A row for each agent, size and speed, in the sweep's order, and a cell for each metric."""
    table = metrics_table(QUICK)
    assert len(table.rows) == 2 * 3 * 2
    assert [row[: table.places] for row in table.rows[:3]] == [
        ["MFT-PubSub", "C2", "2"],
        ["MFT-PubSub", "C2", "8"],
        ["MFT-PubSub", "C4", "2"],
    ]
    assert all(len(row) == len(table.headings) for row in table.rows)


def test_what_was_run() -> None:
    """Agents, axes, seeds, number of runs and durations, with their units."""
    told = dict(facts(QUICK))
    assert (told["agents"], told["config"], told["speed (m/s)"]) == ("MFT-PubSub; AODV", "C2, C4, C8", "2, 8")
    assert (told["seeds a point"], told["runs"], told["time limit"]) == ("3", "36, complete", "200 s")


def test_missing_runs_are_told() -> None:
    """A report of an unfinished sweep says how much is missing."""
    whole = measurements(configs=("C2",), speeds=("2",), seeds=3)
    whole.sweep["seeds"] = [0, 1, 2, 3, 4]
    assert dict(facts(whole))["runs"] == "6 of 10: 4 missing"


def test_how_to_run_it_again() -> None:
    """The command names everything that the sweep set."""
    assert commands(QUICK)[0] == (
        "roambus sweep thesis --set agent=mft,aodv --set config=C2,C4,C8 --set speed=2,8 "
        "--set time_limit=200 --set publish_until=150 --seeds 3 --out DIR"
    )


def test_hostile_names_are_only_text(tmp_path: Path) -> None:
    """An agent, an axis value, a message type or a parameter that looks like markup is shown, never obeyed."""
    measured = measurements(configs=("C2", HOSTILE), speeds=("2",), seeds=2, agents=("mft", HOSTILE), make=harmless)
    write_measurements(measured, tmp_path)
    sweep = json.loads((tmp_path / SWEEP_FILE).read_text())
    sweep["agents"][HOSTILE] = ["x.py", {HOSTILE: HOSTILE}]
    sweep["set"][HOSTILE] = HOSTILE
    (tmp_path / SWEEP_FILE).write_text(json.dumps(sweep))
    html = write_report(tmp_path).read_text(encoding="utf-8")
    assert not [tag for tag, _ in Page(html).elements if tag == "script"]
    assert HOSTILE not in html
    assert HOSTILE in Page(html).text


def harmless(agent: str, config: str, speed: str, seed: int) -> dict[str, float]:
    return {**plausible(agent, "C2", speed, seed), f"sent_{HOSTILE}": 1.0}


def test_same_results_same_report(results: Path) -> None:
    """Writing the report again gives the same bytes."""
    before = (results / "report.html").read_bytes()
    assert write_report(results).read_bytes() == before


def test_no_metrics(tmp_path: Path) -> None:
    """Without metrics there is no report, and the message says what to do."""
    with pytest.raises(UserError, match="run `roambus aggregate"):
        write_report(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("mean", "half_width", "text"),
    [
        (0.91234, 0.0456, "0.912 ± 0.046"),
        (12345.6, 78.9, "12,346 ± 79"),
        (12.3456, math.nan, "12.3"),
        (0.0, 0.0, "0 ± 0"),
        (0.00012, 0.1, "0.0001 ± 0.1000"),
    ],
)
def test_numbers(mean: float, half_width: float, text: str) -> None:
    """Three digits that matter, at most four decimals, thousands apart."""
    assert format_mean(mean, half_width) == text
