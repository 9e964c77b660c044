"""A session in a real browser: what is done there, the agents react to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from roambus.bridge.transcript.transcript import Overrides, transcribe
from roambus.extensions.viewer.play import Player, Session
from roambus.extensions.viewer.server import PageServer
from roambus.extensions.viewer.tests.test_session import HEAD

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


FIELD = """\
agent mft
range 25m
field
  b1 at 0,0
  b2 at 20,0
  s1 at 20,20
"""


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Iterator[Page]:
    """A tree of three brokers with two clients."""
    with played(browser, tmp_path, HEAD) as page:
        yield page


@contextmanager
def played(browser: Browser, folder: Path, head: str) -> Iterator[Page]:
    """Paused at 5 s; nothing may be raised or refused."""
    path = folder / "moves.txt"
    path.write_text(head)
    player, problems = Player(Session(path, Overrides())), list[str]()
    with PageServer(player.page(), 0, player.answer) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        page = browser.new_page(viewport={"width": 1000, "height": 700})
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: problems.append(message.text))
        page.goto(server.url)
        page.wait_for_selector("#transcript:has-text('agent mft')")
        page.fill("#time", "5")
        page.press("#time", "Enter")
        try:
            yield page
        finally:
            page.close()
            server.shutdown()
            thread.join()
    assert problems == []


def do(page: Page, command: str) -> None:
    page.fill("#do", command)
    page.press("#do", "Enter")
    page.wait_for_selector(f"#transcript:has-text('{command}')")


def place(page: Page, right: float, down: float) -> tuple[float, float]:
    """Of shares of the field."""
    box = page.locator("#stages canvas").bounding_box()
    assert box is not None
    side = min(box["width"], box["height"]) - 80
    left, top = box["x"] + (box["width"] - side) / 2, box["y"] + (box["height"] - side) / 2
    return left + right * side, top + down * side


def drag(page: Page, start: tuple[float, float], end: tuple[float, float]) -> None:
    page.mouse.move(*place(page, *start))
    page.mouse.down()
    page.mouse.move(*place(page, *end), steps=3)
    page.mouse.up()


def test_a_dragged_broker_moves(page: Page) -> None:
    """Into nothing it is cut off, onto a broker it moves there; the protocol reacts message by message."""
    b2, b3 = (0.25, 0.5), (0.75, 0.5)
    drag(page, b3, (0.5, 0.9))
    page.wait_for_selector("#transcript:has-text('b3 is cut off')")
    assert "2 trees: b1 leads 3, b3 leads 2" in page.inner_text("figcaption")
    page.fill("#time", "7")
    page.press("#time", "Enter")
    drag(page, b3, b2)
    page.wait_for_selector("#transcript:has-text('b3 moves to b2')")
    assert "b3 -> b2  BMIG C=[(s3,1,1)]" in page.inner_text("#transcript")
    assert "1 tree: b1 leads 5" in page.inner_text("figcaption")


def test_nothing_is_dropped_unasked(page: Page) -> None:
    """What happens later is named; it can be kept, by doing the new thing at the end, or dropped."""
    b3 = (0.75, 0.5)
    drag(page, b3, (0.5, 0.9))
    page.wait_for_selector("#transcript:has-text('b3 is cut off')")
    page.fill("#time", "2")
    page.press("#time", "Enter")
    page.fill("#do", "b2 crashes")
    page.press("#do", "Enter")
    page.wait_for_selector("#live-error:has-text('would replace later commands: after 4s b3 is cut off')")
    assert "b2 crashes" not in page.inner_text("#transcript")
    page.get_by_role("button", name="do it at the end").click()
    page.wait_for_selector("#transcript:has-text('b2 crashes')")
    assert "b3 is cut off" in page.inner_text("#transcript")
    page.fill("#do", "b3 crashes")
    page.press("#do", "Enter")
    page.get_by_role("button", name="do it now and drop those").click()
    page.wait_for_selector("#transcript:has-text('b3 crashes')")
    assert "b3 is cut off" not in page.inner_text("#transcript")


def test_on_a_field_a_dragged_node_walks(browser: Browser, tmp_path: Path) -> None:
    """To where it was dropped; who is in range is linked, and the elected tree follows."""
    with played(browser, tmp_path, FIELD) as page:
        assert "1 tree: b1 leads 3" in page.inner_text("figcaption")
        drag(page, (0, 0), (0, 0.9))
        page.wait_for_selector("#transcript:has-text('b1 moves to 0.0,40.5')")
        page.fill("#time", "12")
        page.press("#time", "Enter")
        assert "1 tree: b2 leads 2" in page.inner_text("figcaption")


def test_commands_are_done_and_taken_back(page: Page) -> None:
    """Written, or chosen for a node; a mistake is told and changes nothing."""
    do(page, "p2 publishes e1")
    assert "1 published" in page.inner_text("figcaption")
    assert page.inner_text("#transcript .now").startswith("> after 4s p2 publishes e1")
    page.select_option("#node", label="b3 broker")
    page.get_by_role("button", name="b3 crashes").click()
    page.wait_for_selector("#transcript:has-text('b3 crashes')")
    assert "crashed" in page.inner_text("#node-state")
    page.fill("#do", "b3 dances")
    page.press("#do", "Enter")
    page.wait_for_selector("#live-error:has-text(\"'b3 dances' is not a command\")")
    page.click("#undo")
    page.wait_for_selector("#live-error:empty", state="attached")
    page.wait_for_selector("#transcript:not(:has-text('b3 crashes'))")
    assert "p2 publishes e1" in page.inner_text("#transcript")


def test_a_session_is_saved_as_a_transcript(page: Page, tmp_path: Path) -> None:
    """The file runs as a test, as it stands."""
    do(page, "p2 publishes e1")
    with page.expect_download() as download:
        page.click("#save")
    saved = tmp_path / "saved.txt"
    download.value.save_as(saved)
    assert saved.read_text() == page.evaluate("document.getElementById('transcript').textContent")
    assert transcribe(saved) == saved.read_text()
    assert "s3 delivers e1" in saved.read_text()


def test_the_page_hides_what_the_scenario_hides(browser: Browser, tmp_path: Path) -> None:
    """Its box is there, and not checked; and the example is about a node that there is."""
    with played(browser, tmp_path, HEAD.replace("tree\n", "hide PUB\ntree\n")) as page:
        assert page.get_attribute("#do", "placeholder") == "b1 crashes"
        page.fill("#do", "p2 publishes e1")
        page.press("#do", "Enter")
        page.wait_for_selector("#transcript:has-text('delivers e1')")
        boxes = {
            label.inner_text(): label.locator("input").is_checked() for label in page.locator("#types label").all()
        }
        assert [checked for name, checked in boxes.items() if name.startswith("PUB")] == [False]
        assert any(boxes.values())
