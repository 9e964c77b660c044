"""Puts the page together: one HTML file that needs nothing else, and runs no script."""

from __future__ import annotations

from pathlib import Path

import jinja2

from roambus.bridge.k7.recording import EVERY_CHANNEL, Recording
from roambus.experiments.page_policy import source_hash
from roambus.experiments.testbeds.layout import places_of
from roambus.experiments.testbeds.numbers import Numbers, numbers_of
from roambus.experiments.testbeds.pictures import band, link_map, matrix, sparkline
from roambus.python_protocol.simtime import SECOND

_PAGE = Path(__file__).with_name("page")


def page_of(recording: Recording, channel: int | None) -> str:
    """The page as text; raises UserError if there is no such channel."""
    numbers = numbers_of(recording, channel)
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    style = (_PAGE / "style.css").read_text(encoding="utf-8")
    template = environment.from_string((_PAGE / "page.html.j2").read_text(encoding="utf-8"))
    return template.render(
        style=style,
        style_hash=source_hash(style),
        file=Path(recording.name).name,
        location=recording.location,
        facts=_facts(recording, numbers),
        gaps=numbers.gaps,
        map=link_map(numbers.links, places_of(numbers.links.strength), recording.ids),
        matrix=matrix(numbers.links, recording.ids),
        over_strength=band(numbers.over_strength, "signal strength, dBm"),
        over_time=band(numbers.over_time, "hours since the first row"),
        gray=[(f"{link.source} to {link.target}", sparkline(link)) for link in numbers.gray],
    )


def _facts(recording: Recording, numbers: Numbers) -> list[tuple[str, str]]:
    nodes = len(recording.ids)
    channel = "mean over all" if numbers.channel == EVERY_CHANNEL else str(numbers.channel)
    links = int((numbers.links.bursts > 0).sum())
    return [
        ("File", Path(recording.name).name),
        ("Nodes", str(nodes)),
        ("Begins", recording.start),
        ("Lasts", f"{recording.lasting / SECOND / 3600:.1f} h"),
        ("Channel shown", f"{channel}, of {len(recording.channels)}"),
        ("Rows of it", f"{numbers.rows:,}"),
        ("Links with rows", f"{links:,} of {nodes * (nodes - 1):,}"),
    ]
