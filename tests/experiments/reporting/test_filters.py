"""The filters of the report, in a real browser: opened from disk, no server, no network."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from roambus.experiments.claims import Verdict
from roambus.experiments.reporting.figure_files import metric_figures
from tests.experiments.measured import HOSTILE, QUICK, of_thesis

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

Show = Callable[..., "Page"]
MFT_ONLY = {"figure-4.4a", "figure-4.4a-all", "messages-by-role-mft"}
"""Figures that have no line of another agent."""
FIGURES = {figure.name for figure in metric_figures(of_thesis(QUICK))}


@pytest.fixture
def show(browser: Browser) -> Iterator[Show]:
    """Opens a report, and checks that it raised nothing and asked for nothing but itself."""
    problems: list[str] = []
    pages: list[Page] = []

    def opened(report: Path, fragment: str = "", *, scripts: bool = True) -> Page:
        page = browser.new_page(viewport={"width": 1200, "height": 900}, java_script_enabled=scripts)
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


def shown(page: Page, part: str) -> int:
    """How many parts of a kind can be seen."""
    return page.locator(f"[data-part={part}]:visible").count()


def figures(page: Page) -> set[str]:
    """The names of those that can be seen."""
    return {str(one.get_attribute("id")) for one in page.locator("[data-part=figure]:visible").all()}


def choose(page: Page, key: str, *labels: str) -> None:
    """Only these values, by keys alone."""
    choice = page.locator(f"[data-key={key}]")
    choice.locator("summary").press("Enter")
    choice.get_by_role("button", name="none").press("Enter")
    for label in labels:
        choice.get_by_label(label, exact=True).press("Space")
    page.keyboard.press("Escape")
    assert not choice.get_by_role("button", name="none").is_visible()


def find(page: Page, words: str) -> None:
    page.get_by_label("Find").fill(words)


def test_an_agent_is_filtered_out(show: Show, report: Path) -> None:
    """Its rows, its lines in every figure, and the figures that have no other lines; all is shown again on request."""
    page = show(report)
    lines = page.locator("[id='figure-4.8'] [data-at]:visible")
    everything = shown(page, "row"), lines.count()
    choose(page, "agent", "AODV")
    assert figures(page) == FIGURES - MFT_ONLY
    assert (shown(page, "row"), lines.count()) == (everything[0] / 2, everything[1] / 2)
    assert {row.inner_text().split("\t")[0] for row in page.locator("tbody tr:visible").all()} == {"AODV"}
    page.get_by_role("button", name="show everything").press("Enter")
    page.locator("#shown:empty").wait_for(state="attached")
    assert (figures(page), shown(page, "row"), lines.count()) == (FIGURES, *everything)


def test_values_of_axes_filter_rows_and_lines(show: Show, report: Path) -> None:
    """Of a figure with a line a speed one line is left; with nothing chosen no table is."""
    page = show(report)
    rows = shown(page, "row")
    legend = page.locator("[id='figure-4.4b'] [data-at]:visible")
    whole = legend.count()
    choose(page, "speed", "2")
    assert (shown(page, "row"), legend.count()) == (rows / 2, whole / 2)
    assert "figure-4.8" not in figures(page)  # it is at 8 m/s
    choose(page, "speed")
    assert (shown(page, "row"), page.locator("h2:visible", has_text="Metrics of every point").count()) == (0, 0)
    assert "speed (m/s): none. 10 of 10 claims" in page.inner_text("#shown")


def test_claims_are_filtered_by_verdict(show: Show, report: Path) -> None:
    """As many as the claims have it; figures and tables stay."""
    verdicts = [claim.verdict for claim in of_thesis(QUICK).claims()]
    page = show(report)
    choose(page, "claims-that", "not measured")
    assert shown(page, "claim") == verdicts.count(Verdict.NOT_MEASURED) == 3
    choose(page, "claims-that", "holds", "not significant")
    assert shown(page, "claim") == verdicts.count(Verdict.HOLDS) + verdicts.count(Verdict.NOT_SIGNIFICANT)
    assert figures(page) == FIGURES


def test_words_are_found(show: Show, report: Path) -> None:
    """In figures, titles of their axes too, claims, columns of tables, and meanings of metrics."""
    page = show(report)
    find(page, "DELAY end-to-end")
    assert figures(page) == {"figure-4.6"}
    assert [head.inner_text() for head in page.locator("[data-part=column]:visible").all()] == ["end-to-end delay (s)"]
    assert (shown(page, "metric"), shown(page, "row")) == (1, 12)
    find(page, "delay")
    assert page.locator("[data-part=claim]:visible").all_inner_texts()[0].startswith("6")
    find(page, "no such words")
    assert page.locator("section:visible").count() == 0


def test_the_address_is_that_of_the_view(show: Show, report: Path) -> None:
    """Opened anew, or gone back to, it shows the same; an address of a place in the page filters nothing."""
    page = show(report, "#figures")
    assert figures(page) == FIGURES
    choose(page, "agent", "AODV")
    choose(page, "claims-that", "not significant", "not measured")
    find(page, "messages")
    found, view, told = page.evaluate("location.hash"), figures(page), page.inner_text("#shown")
    assert found == "#find-words=messages&agent=aodv&claims-that=not+significant&claims-that=not+measured"
    again = show(report, found)
    assert (figures(again), again.inner_text("#shown")) == (view, told)
    assert again.get_by_label("Find").input_value() == "messages"
    again.evaluate("location.hash = '#agent='")
    again.locator("#shown", has_text="agent: none").wait_for()
    assert figures(again) == set()


def test_hostile_names_can_be_chosen(show: Show, hostile_report: Path) -> None:
    """They are names, in the page and in its address."""
    page = show(hostile_report)
    rows = shown(page, "row")
    choose(page, "agent", HOSTILE)
    choose(page, "config", HOSTILE)
    assert shown(page, "row") == rows / 4 > 0
    assert f"agent: {HOSTILE}; config: {HOSTILE}" in page.inner_text("#shown")
    again = show(hostile_report, page.evaluate("location.hash"))
    assert shown(again, "row") == rows / 4


def test_without_scripts_everything_can_be_read(show: Show, report: Path) -> None:
    """Whatever the address says; there are no filters then."""
    page = show(report, "#agent=aodv", scripts=False)
    assert not page.locator("#filters").is_visible()
    assert (figures(page), shown(page, "claim")) == (FIGURES, 10)


def test_paper_shows_the_filtered_view(show: Show, report: Path) -> None:
    """And says what it is; controls are left out."""
    page = show(report, "#agent=aodv")
    page.emulate_media(media="print")
    assert not page.locator("#filters").is_visible()
    assert page.locator("#shown").is_visible()
    assert figures(page) == FIGURES - MFT_ONLY
