"""The page of a recorded testbed shows its links and what it does not say, and runs nothing."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from roambus.bridge.errors import UserError
from roambus.bridge.recordings import read_k7
from roambus.command_line import commands
from roambus.experiments.reporting.testbed import numbers_of, page_of, places_of
from tests.support.recordings import k7, row

ROWS = [
    row(minute * 60, source, target, -60 - 5 * abs(source - target), share)
    for minute in range(6)
    for source, target, share in ((0, 1, 1.0), (1, 0, 0.98), (1, 2, (minute % 3) / 2), (2, 1, 0.05))
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "small.k7"
    path.write_text(k7(ROWS))
    return path


def test_each_link_has_a_square_with_its_numbers(file: Path) -> None:
    """Delivery, strength and bursts are means over the rows of the link."""
    page = page_of(read_k7(file), None)
    assert re.findall(r"<title>(\d to \d.*?)</title>", page) == [
        "0 to 1: delivery 1.00, -65.0 dBm, 6 bursts",
        "1 to 0: delivery 0.98, -65.0 dBm, 6 bursts",
        "1 to 2: delivery 0.50, -65.0 dBm, 6 bursts",
        "2 to 1: delivery 0.05, -65.0 dBm, 6 bursts",
    ]
    assert "2 of 6 links have no row" in page


def test_gray_links_are_shown_from_burst_to_burst(file: Path) -> None:
    """There is one, which changes from minute to minute."""
    (link,) = numbers_of(read_k7(file), None).gray
    assert (link.source, link.target, link.delivery.tolist()) == (1, 2, [0, 0.5, 1, 0, 0.5, 1])


def test_nothing_of_the_file_is_obeyed(file: Path) -> None:
    """Its location is shown as the text that it is, and the page lets no script run."""
    head = '{"location": "<script>alert(1)</script>"}'
    file.write_text(k7(ROWS, head=head))
    page = page_of(read_k7(file), None)
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "default-src &#39;none&#39;" in page or "default-src 'none'" in page


def test_a_channel_that_is_not_there_is_named(file: Path) -> None:
    """With those that are."""
    with pytest.raises(UserError, match="channel 26: there is no row of this channel; there are 11"):
        page_of(read_k7(file), 26)


def test_nodes_that_hear_each_other_well_are_near_each_other() -> None:
    """On a line of four, the ends are farthest apart."""
    apart = np.abs(np.arange(4)[:, None] - np.arange(4)).astype(float)
    with np.errstate(divide="ignore"):
        strength = np.where(apart > 0, -50 - 24 * np.log10(apart), np.nan)
    places = places_of(strength)
    distances = np.hypot(*(places[:, None] - places).transpose(2, 0, 1))
    assert distances.argmax() in (3, 12)


def test_the_command_writes_the_page(file: Path, tmp_path: Path) -> None:
    """And says where."""
    result = CliRunner().invoke(commands, ["replay", str(file), "--export", str(tmp_path / "page.html")])
    assert (result.exit_code, result.output.strip()) == (0, str(tmp_path / "page.html"))
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_what_belongs_to_a_run_is_refused_of_a_recording(file: Path, tmp_path: Path) -> None:
    """And the other way round: a run has no channels."""
    for arguments in ([str(file), "--with", str(tmp_path)], [str(tmp_path), "--channel", "11"]):
        result = CliRunner().invoke(commands, ["replay", *arguments])
        assert isinstance(result.exception, UserError)
