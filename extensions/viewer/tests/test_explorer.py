"""The report in a real browser: opened from disk, by keys alone, no server, no network."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from roambus.spark.metrics import catalogue as c
from tests.experiments.measured import HOSTILE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

Show = Callable[..., "Page"]


@pytest.fixture
def show(browser: Browser) -> Iterator[Show]:
    """Opens a report, and checks that it raised nothing and asked for nothing but itself."""
    problems: list[str] = []
    pages: list[Page] = []

    def opened(report: Path, fragment: str = "", width: int = 1400) -> Page:
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: problems.append(message.text))
        page.on("dialog", lambda dialog: problems.append(dialog.message))
        page.on("request", lambda request: problems.append(request.url) if request.url != report.as_uri() else None)
        page.goto(report.as_uri() + fragment)
        pages.append(page)
        return page

    yield opened
    for page in pages:
        page.close()
    assert problems == []


@pytest.fixture
def report(quick_results: Path) -> Path:
    return quick_results / "report.html"


def listed(page: Page) -> list[tuple[str, ...]]:
    """The rows of the table: names, then the exact mean and interval."""
    rows = page.eval_on_selector_all(
        "#table tbody tr",
        """rows => rows.map(row => [...[...row.cells].slice(0, 3).map(cell => cell.textContent),
            row.cells[3].dataset.value, row.cells[4].dataset.low, row.cells[4].dataset.high])""",
    )
    return [tuple(row) for row in rows]


def test_the_numbers_are_those_of_the_points(show: Show, report: Path, quick_results: Path) -> None:
    """Each shown point has the mean and interval that points.csv has, to the last digit."""
    page = show(report, f"#metric={c.MESSAGES_PER_NODE}&x=config&split=speed")
    points = pd.read_csv(quick_results / "metrics" / "points.csv", dtype={"speed": str}, float_precision="round_trip")
    rows = points[points["metric"] == c.MESSAGES_PER_NODE].to_dict("records")
    wanted = {(row["agent"], row["config"], row["speed"]): [row["mean"], row["low"], row["high"]] for row in rows}
    names = {"MFT-PubSub": "mft", "AODV": "aodv"}
    found = listed(page)
    assert len(found) == len(wanted) == 12
    for agent, config, speed, *numbers in found:
        assert [float(number) for number in numbers] == wanted[names[agent], config, speed]
    assert page.locator("#panels figure").count() == 2
    assert page.locator("#panels .point").count() == 12


def test_an_axis_begins_at_0_and_ends_at_a_tick_above_all_points(show: Show, report: Path) -> None:
    """A share's axis at 1; these messages differ by less than a factor of ten, so that no axis is logarithmic."""
    for metric, last in ((c.DELIVERY_RATE_ALL, 1.0), (c.MESSAGES_PER_NODE, None)):
        page = show(report, f"#metric={metric}&x=config")
        texts = page.locator("#panels svg text[text-anchor=end]").all_text_contents()
        ticks = [float(text.replace(",", "")) for text in texts]
        greatest = max(float(value) for row in listed(page) for value in row[3:] if value)
        assert ticks[0] == 0
        assert ticks[-1] == (last or ticks[-1])
        assert ticks[-1] >= greatest or last
        assert "logarithmic" not in "".join(page.locator("#panels svg text").all_text_contents())


def test_few_seeds_of_a_share_are_points(show: Show, report: Path, quick_results: Path) -> None:
    """As in the figures: an interval of a share is wide with few seeds. Other metrics keep their intervals."""
    page = show(report, f"#metric={c.DELIVERY_RATE_ALL}&x=config&speed=8")
    runs = pd.read_csv(quick_results / "metrics" / "runs.csv", dtype={"speed": str}, float_precision="round_trip")
    wanted = runs[runs["speed"] == "8"][c.DELIVERY_RATE_ALL]
    values = page.eval_on_selector_all("#panels .seed", "seeds => seeds.map(seed => Number(seed.dataset.value))")
    assert sorted(values) == sorted(wanted)
    assert page.locator("#panels .interval").count() == 0
    assert "means over seeds, and each seed as a small point" in page.inner_text("#shown")
    other = show(report, f"#metric={c.MESSAGES_PER_NODE}&x=config&speed=8")
    assert other.locator("#panels .seed").count() == 0
    assert other.locator("#panels .interval").count() == 6
    assert "with 95 % intervals" in other.inner_text("#shown")


def test_a_reader_chooses_by_keys_alone(show: Show, report: Path) -> None:
    """Metric, axis, split and agents; the address then opens the same view."""
    page = show(report)
    assert page.locator("#panels .point").count() == 6
    page.get_by_label("Metric").focus()
    page.keyboard.type("hops, mean")
    page.keyboard.press("Tab")
    page.keyboard.type("speed")
    page.get_by_label("MFT-PubSub", exact=True).press("Space")
    page.get_by_label("A panel for each").focus()
    page.keyboard.type("config")
    assert page.locator("#panels figure").count() == 3
    assert {row[0] for row in listed(page)} == {"AODV"}
    assert "hops, mean" in page.inner_text("#table thead")
    again = show(report, page.evaluate("location.hash"))
    assert listed(again) == listed(page)


def test_the_runs_behind_a_point_have_their_films(show: Show, report: Path, quick_results: Path) -> None:
    """A key on the point lists them with their values, which are those of runs.csv, and the command of each film."""
    page = show(report, f"#metric={c.HOPS_MEAN}&x=config&speed=8")
    point = page.get_by_role("button", name=re.compile("^AODV, config C4, speed.* 8: "))
    point.first.press("Enter")
    assert page.evaluate("document.activeElement.id") == "runs"
    runs = pd.read_csv(quick_results / "metrics" / "runs.csv", dtype={"speed": str}, float_precision="round_trip")
    wanted = runs[(runs["agent"] == "aodv") & (runs["config"] == "C4") & (runs["speed"] == "8")].sort_values("seed")
    values = page.eval_on_selector_all("#runs td[data-value]", "cells => cells.map(cell => Number(cell.dataset.value))")
    assert values == wanted[c.HOPS_MEAN].tolist()
    commands = page.locator("#runs code").all_inner_texts()
    assert commands[0] == f"roambus replay {quick_results}/traces/agent=aodv/config=C4/speed=8/seed=0"
    page.locator("#table button").first.press("Enter")
    assert page.inner_text("#runs h3").startswith("Runs of MFT-PubSub, config C2, speed")


def test_a_claim_leads_to_its_figure_and_its_numbers(show: Show, report: Path) -> None:
    """From the table by key: the claim stands beside the figure that shows it."""
    page = show(report)
    page.get_by_role("link", name=re.compile("^6[.] MFT-PubSub keeps up")).press("Enter")
    claim = page.locator("#claim-6")
    assert claim.evaluate("one => one.closest('.pair').querySelector('figure').id") == "figure-4.6"
    claim.locator("summary").press("Enter")
    assert "doublings of delay" in claim.inner_text()


@pytest.mark.parametrize("width", [390, 1400])
def test_nothing_is_wider_than_the_screen(show: Show, report: Path, width: int) -> None:
    """On a telephone either; on paper the controls are left out."""
    page = show(report, width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.emulate_media(media="print")
    assert page.locator("#choose select:visible, #choose input:visible").count() == 0
    assert page.locator("#choose legend").is_visible()
    assert page.locator("#table").is_visible()


def test_hostile_names_are_names(show: Show, hostile_report: Path) -> None:
    """In the choices, the table, the runs, and the address."""
    page = show(hostile_report)
    page.locator("select[name=x]").select_option("agent")
    page.locator("select[name='at config']").select_option(HOSTILE)
    again = show(hostile_report, page.evaluate("location.hash"))
    assert {row[1] for row in listed(again)} == {HOSTILE}
    assert HOSTILE in {row[0] for row in listed(again)}
    again.locator("#table button").last.press("Enter")
    assert HOSTILE in again.inner_text("#runs")
