"""How long the page of `roambus replay` takes to open, and how many pictures a second it draws.

python -m benchmarks.page_speed FILM.html [--at 200] [--seconds 5]

FILM.html is what `roambus replay --export` wrote. Chromium opens it from disk and draws without a graphics card, so
that a machine with one does better; it needs the cores for itself.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.browser import chromium

if TYPE_CHECKING:
    from playwright.sync_api import Page

SPEEDS = ("0.1", "1", "10")
COUNT = "() => { window.drawn = 0; const count = () => { window.drawn++; requestAnimationFrame(count); }; count(); }"


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the file's size, the time to open it, and the rate at each speed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("film", type=Path)
    parser.add_argument("--at", type=float, default=200, help="Where to play from, s.")
    parser.add_argument("--seconds", type=float, default=5, help="How long to play at each speed.")
    chosen = parser.parse_args(arguments)
    print(f"size     {chosen.film.stat().st_size / 1e6:.1f} MB")
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        start = time.monotonic()
        page.goto(chosen.film.resolve().as_uri())
        page.wait_for_selector("#app:not([hidden])", timeout=300_000)
        print(f"opens in {time.monotonic() - start:.1f} s")
        page.evaluate(COUNT)
        for speed in SPEEDS:
            print(f"x {speed:<6} {pictures_per_s(page, speed, chosen.at, chosen.seconds):.0f} pictures/s")


def pictures_per_s(page: Page, speed: str, at_s: float, seconds: float) -> float:
    """Plays for `seconds` from a time of the film on."""
    page.fill("#time", str(at_s))
    page.press("#time", "Enter")
    page.select_option("#speed", speed)
    page.click("#play")
    before, start = page.evaluate("window.drawn"), time.monotonic()
    page.wait_for_timeout(seconds * 1000)
    rate = (page.evaluate("window.drawn") - before) / (time.monotonic() - start)
    page.click("#play")
    return float(rate)


if __name__ == "__main__":
    main()
