"""The page in a real browser, opened from disk: no server, no network."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from roambus.bridge.trace.parquet import read_trace
from roambus.extensions.viewer.document import page_of
from roambus.extensions.viewer.tests.films import Row, row, write_rows

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

Show = Callable[..., "Page"]


@pytest.fixture
def show(browser: Browser, tmp_path: Path) -> Iterator[Show]:
    """Opens the page of runs, and checks that it raised nothing and asked for nothing but itself."""
    context = browser.new_context(viewport={"width": 1000, "height": 700})
    problems: list[str] = []

    def opened(*runs: Path) -> Page:
        file = tmp_path / "film.html"
        file.write_text(page_of(runs, print, again=False), encoding="utf-8")
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: problems.append(message.text))
        page.on("request", lambda request: problems.append(request.url) if request.url != file.as_uri() else None)
        page.goto(file.as_uri())
        page.wait_for_selector("#app:not([hidden])")
        return page

    yield opened
    context.close()
    assert problems == []


def go_to(page: Page, time_s: float) -> None:
    page.fill("#time", str(time_s))
    page.press("#time", "Enter")


def wait_until(page: Page, is_so: Callable[[], bool]) -> None:
    """Asks from outside: the page's own policy would not let it be asked by a text."""
    for _ in range(1000):
        if is_so():
            return
        page.wait_for_timeout(30)
    pytest.fail("it did not become so within 30 s")


def time_of(page: Page) -> float:
    return float(page.input_value("#time"))


def choose_note(page: Page, note: str) -> None:
    page.fill("#note", note)
    page.press("#note", "Enter")


def caption(page: Page, number: int = 0) -> str:
    return page.locator("figcaption").nth(number).inner_text()


def picture(page: Page, number: int = 0) -> Any:
    """All pixels of a stage."""
    return page.locator("#stages canvas").nth(number).evaluate("canvas => canvas.toDataURL()")


def click_on(page: Page, right: float, down: float) -> None:
    """At shares of the field, a square in the middle of its stage."""
    box = page.locator("#stages canvas").bounding_box()
    assert box is not None
    side = min(box["width"], box["height"]) - 80
    x, y = ((whole - side) / 2 + share * side for whole, share in ((box["width"], right), (box["height"], down)))
    page.locator("#stages canvas").click(position={"x": x, "y": y})


def test_the_film_plays_and_pauses(show: Show, moving_run: Path) -> None:
    """Time passes at the chosen speed, nodes move, and a pause holds both."""
    page = show(moving_run)
    before = picture(page)
    page.select_option("#speed", "2")
    page.click("#play")
    wait_until(page, lambda: time_of(page) > 0.5)
    page.click("#play")
    held = time_of(page), picture(page)
    assert 0.5 < held[0] < 10
    assert held[1] != before
    assert (time_of(page), picture(page)) == held
    page.click("#play")
    page.select_option("#speed", "50")
    wait_until(page, lambda: page.inner_text("#play") == "Play")
    assert time_of(page) == 10


def test_the_slider_goes_anywhere(show: Show, tree_run: Path) -> None:
    """What is told there is what the trace has at that time: one tree, or two while half of the brokers are away."""
    page = show(tree_run)
    assert "0 published" in caption(page)
    single, two = "1 tree: n0 leads 10", "2 trees: n0 leads 6, n2 leads 4"
    for time, trees in ((20, single), (30, two), (20, single)):
        page.locator("#slider").fill(str(time))
        rows = read_trace(tree_run / "trace.parquet").to_pylist()
        happened = [row["event"] for row in rows if row["time_s"] <= time]
        counts = f"{happened.count('publish')} published, {happened.count('deliver')} delivered, "
        stored = f"{happened.count('store') - happened.count('replay')} stored"
        assert counts + stored in caption(page)
        assert trees in caption(page)


def test_steps_lead_from_event_to_event(show: Show, tree_run: Path) -> None:
    """Of the chosen kind, forth and back, by button and by key."""
    page = show(tree_run)
    page.select_option("#step-kind", "crash")
    page.click("#forth")
    assert time_of(page) == 40
    page.select_option("#step-kind", "migrate")
    page.click("#back")
    assert time_of(page) == 35
    page.locator("#stages canvas").click(position={"x": 3, "y": 3})
    page.keyboard.press(",")
    assert time_of(page) == 25
    page.keyboard.press(".")
    assert time_of(page) == 35
    page.select_option("#step-kind", "send REP")
    page.click("#forth")
    assert 35 < time_of(page) < 35.1


def test_messages_are_filtered(show: Show, tree_run: Path) -> None:
    """By type, by node and by notification: as many fly as are left."""
    page = show(tree_run)
    go_to(page, 10.001)
    everything = picture(page)
    assert re.search(r"\b1 message under way|\b([2-9]|\d\d+) messages under way", caption(page))
    page.get_by_role("checkbox", name="PUB").uncheck()
    assert "messages under way" not in caption(page)
    assert picture(page) != everything
    page.click("#all-types")
    assert picture(page) == everything
    page.check("#only-node")
    page.select_option("#node", "6")
    page.click("#no-types")
    assert "messages under way" not in caption(page)
    page.click("#all-types")
    only_node = caption(page)
    page.uncheck("#only-node")
    assert caption(page) != only_node
    page.check("#only-note")
    choose_note(page, "7.0")
    assert "messages under way" not in caption(page)


def test_what_is_sent_at_regular_intervals_does_not_drown_the_rest(show: Show, tmp_path: Path) -> None:
    """It is not shown at first, and can be; what comes now and then, or carries notifications, is shown."""
    beats = [row(second + node / 10, node, "send", message_type="BEAT") for second in range(12) for node in (0, 1)]
    floods = [row(second + 0.5, 0, "send", message_type="FLOOD", notification_id=f"0.{second}") for second in range(12)]
    odd = [row(time, 1, "send", message_type="ODD") for time in (0.3, 0.4, 2.2, 2.9, 7.0, 7.1, 7.2, 9.9, 11.5, 11.6)]
    rows = sorted([*beats, *floods, *odd], key=lambda trace_row: float(str(trace_row["time_s"])))
    page = show(write_rows(tmp_path, rows))
    shown = {name: page.get_by_role("checkbox", name=name).is_checked() for name in ("BEAT", "FLOOD", "ODD")}
    assert shown == {"BEAT": False, "FLOOD": True, "ODD": True}
    page.click("#all-types")
    assert page.get_by_role("checkbox", name="BEAT").is_checked()


def test_a_click_on_a_node_shows_what_it_knows(show: Show, tree_run: Path) -> None:
    """Its role, place in the tree, state, routing table, queue and messages, as of that time."""
    page = show(tree_run)
    go_to(page, 30)
    click_on(page, 0.5, 1 / 8)  # the root of four levels
    state = page.inner_text("#node-state")
    assert page.input_value("#node") == "0"
    for text in ("broker", "up", "children\nn1", "Routing table, as of", "{topic = 'news'}", "Stored", "n9"):
        assert text in state
    assert "n0 stores 7." in state
    go_to(page, 41)
    page.select_option("#node", "4")
    assert "crashed" in page.inner_text("#node-state")


def test_a_notification_is_followed(show: Show, tree_run: Path) -> None:
    """From the publisher to each subscriber, hop by hop, and by what was stored while half of the tree was away."""
    page = show(tree_run)
    choose_note(page, "7.50")
    ways = page.locator("#note-ways")
    assert "n7 publishes it at " in ways.inner_text()
    assert "2 of 2 subscribers get it; it was stored 1 times." in ways.inner_text()
    page.get_by_role("button", name="n8", exact=True).click()
    legs = [text.split(" ", 1)[1] for text in ways.locator("ol li").all_inner_texts()]
    assert legs == ["n7 → n3 PUB", "n3 → n1 PUB", "n1 → n4 PUB", "n4 → n8 PUB"]
    page.get_by_role("button", name="n9", exact=True).click()
    legs = [text.split(" ", 1)[1] for text in ways.locator("ol li").all_inner_texts()]
    assert legs[:3] == ["n7 → n3 PUB", "n3 → n1 PUB", "n1 → n0 PUB"]
    assert legs[3].startswith("stored at n0 for ")
    assert legs[3].endswith("s, then replayed")
    assert legs[4:] == ["n0 → n2 REP", "n2 → n5 REP", "n5 → n9 REP"]
    without = picture(page)
    page.get_by_role("button", name="n9", exact=True).click()
    assert picture(page) != without
    ways.locator("p button").click()
    assert time_of(page) == pytest.approx(26.0, abs=1)


def test_a_run_without_a_record_shows_stations(show: Show, moving_run: Path) -> None:
    """And says what it does not have."""
    page = show(moving_run)
    go_to(page, 9)
    choose_note(page, "0.3")
    assert "Only its stations are in the trace of this run" in page.inner_text("#note-ways")
    page.select_option("#node", "8")
    assert "Routing tables: not in the trace of this run." in page.inner_text("#node-state")


def test_areas_of_subscriptions_are_drawn(show: Show, tmp_path: Path, moving_run: Path) -> None:
    """A circle, then a rectangle, until it is unsubscribed."""
    circle, rectangle = "within 30 of (50, 40)", "topic = 'a' and x >= 10 and x <= 30 and y >= 0 and y <= 30.5"
    rows = [row(1, 0, "subscribe", detail=circle), row(2, 0, "subscribe", detail=rectangle)]
    rows += [row(3, 0, "unsubscribe", detail=area) for area in (circle, rectangle)]
    page = show(write_rows(tmp_path, rows))
    pictures = []
    for time in (0, 1, 2, 3):
        go_to(page, time)
        pictures.append(picture(page))
    assert pictures[0] == pictures[3]
    assert len(set(pictures)) == 3
    assert not show(moving_run).locator("#areas").is_visible()


def test_two_runs_share_clock_and_choice(show: Show, moving_run: Path, other_run: Path, tree_run: Path) -> None:
    """On the same moves; of others the page says so."""
    page = show(moving_run, other_run)
    go_to(page, 6)
    assert caption(page, 0).startswith("agent=mft\n")
    assert caption(page, 1).startswith("agent=aodv\n")
    page.select_option("#node", "1")
    assert page.locator("#node-state h4").all_inner_texts()[::2] == ["agent=mft", "agent=aodv"]
    assert page.inner_text("#notices") == ""
    page.close()
    assert "move differently" in show(moving_run, tree_run).inner_text("#notices")


def test_two_runs_stand_one_above_the_other_on_a_telephone(show: Show, moving_run: Path, other_run: Path) -> None:
    """Each is as wide as the screen, for side by side their nodes hide each other's names."""
    page = show(moving_run, other_run)
    page.set_viewport_size({"width": 390, "height": 844})
    first, second = (page.locator("#stages canvas").nth(number).bounding_box() for number in (0, 1))
    assert first is not None
    assert second is not None
    assert first["width"] == second["width"] > 380
    assert second["y"] > first["y"] + first["height"] > first["y"] + 200


def test_everything_can_be_done_by_keys(show: Show, moving_run: Path) -> None:
    """Play, seek, speed, choose, forget, change the ground; and each control has a name and can have the focus."""
    page = show(moving_run)
    page.locator("#stages canvas").focus()
    for key in ("End", "ArrowLeft", "+", "n", "n"):
        page.keyboard.press(key)
    assert (time_of(page), page.input_value("#speed"), page.input_value("#node")) == (9, "2", "1")
    page.keyboard.press("Escape")
    assert page.input_value("#node") == "-1"
    page.keyboard.press("Home")
    page.keyboard.press("Space")
    wait_until(page, lambda: time_of(page) > 0)
    page.keyboard.press("Space")
    assert page.inner_text("#play") == "Play"
    unnamed = "[...document.querySelectorAll('button, input, select')].filter(one => one.tabIndex < 0 || !"
    unnamed += "(one.ariaLabel || one.labels?.length || one.textContent)).length"
    assert page.evaluate(unnamed) == 0


def contrast(page: Page, element: str) -> float:
    """Of text and ground (WCAG 2.1)."""
    colours = f"[getComputedStyle({element}).color, getComputedStyle(document.body).backgroundColor]"
    values = [[int(part) for part in text[4:-1].split(",")] for text in page.evaluate(colours)]
    shares = [[(c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4) for c in rgb] for rgb in values]
    bright, dark = sorted((0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in shares), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def test_it_is_readable_in_light_and_in_dark(show: Show, moving_run: Path) -> None:
    """The ground follows the system until it is changed; texts have the contrast that WCAG asks for, 4.5."""
    page = show(moving_run)
    grounds = set()
    for _ in range(2):
        grounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        assert contrast(page, "document.body") > 7
        assert contrast(page, "document.querySelector('figcaption span')") > 4.5
        page.click("#theme")
    assert len(grounds) == 2


SCRIPT = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
HOSTILE: list[Row] = [
    row(0.0, 0, "role", detail=f"broker {SCRIPT}"),
    row(0.1, 0, "subscribe", detail=SCRIPT),
    row(0.2, 0, "publish", notification_id=SCRIPT, detail="1 x"),
    row(0.3, 0, "send", message_type=SCRIPT, peer=1, bytes=9),
    row(0.4, 1, "deliver", notification_id=SCRIPT, hops=1),
    row(0.5, 1, SCRIPT, detail=SCRIPT),
    row(0.6, 1, "constructor", detail="__proto__", message_type="__proto__"),
]


def test_a_trace_cannot_run_script(show: Show, tmp_path: Path) -> None:
    """Whatever texts it holds, they are shown as texts."""
    folder = tmp_path / "<img src=x onerror=alert(1)>"
    folder.mkdir()
    page = show(write_rows(folder, HOSTILE))
    go_to(page, 1)
    page.select_option("#node", "0")
    choose_note(page, SCRIPT)
    page.wait_for_timeout(50)
    assert "owned" not in page.title()
    assert page.locator("img").count() == 0
    for part in ("#types", "#node-state", "#note-ways", "#happenings", "figcaption"):
        assert "<img src=x" in page.inner_text(part) or part == "#note-ways"


def test_script_put_into_the_page_does_not_run(browser: Browser, moving_run: Path) -> None:
    """Its policy forbids all but its own, were anything ever read as HTML."""
    page = browser.new_page()
    page.set_content(page_of([moving_run], print, again=False))
    page.wait_for_selector("#app:not([hidden])")
    titled = page.title()
    page.evaluate("""() => {
        const script = document.createElement("script");
        script.textContent = "document.title = 'owned'";
        document.body.append(script);
    }""")
    assert page.title() == titled
    page.close()
