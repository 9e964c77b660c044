"""Only what draws gets from a figure's file into a page."""

from __future__ import annotations

from pathlib import Path

import pytest

from roambus.bridge.system.errors import UserError
from roambus.extensions.viewer.inline_figure import inline_figure

FOREIGN = """<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 9 9"
 width="9pt" onload="alert(1)"><script>alert(2)</script><style>* {display: none}</style><image href="http://x/"/>
<foreignObject><p xmlns="http://www.w3.org/1999/xhtml">html</p></foreignObject>
<g id="line-1-0" onclick="alert(3)"><path id="m" d="M 0 0
L 1 1" clip-path="url(#c)"/><use xlink:href="#m"/><use xlink:href="http://x/"/></g>outside</svg>"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "figure.svg"
    path.write_text(FOREIGN)
    return path


def test_what_does_not_draw_is_left_out(file: Path) -> None:
    """Scripts, styles for the whole page, HTML, addresses, and what happens on a click; ids are the figure's own."""
    assert inline_figure(file, "f0-", 'a < b "c"') == (
        '<svg viewBox="0 0 9 9" role="img" aria-label="a &lt; b &quot;c&quot;">'
        '<g><path d="M 0 0 L 1 1" clip-path="url(#f0-c)" id="f0-m" /><use href="#f0-m" />'
        "<use /></g></svg>"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<svg", "this is not an SVG"),
        ("<html/>", "begins with 'html'"),
        ('<?xml version="1.0" encoding="klingon"?><svg/>', "this is not an SVG"),
        (f'<svg xmlns="http://www.w3.org/2000/svg">{"<g>" * 20_000}{"</g>" * 20_000}</svg>', "nested too deep"),
    ],
)
def test_another_file_is_refused(file: Path, text: str, message: str) -> None:
    """With the command that draws it again."""
    file.write_text(text)
    with pytest.raises(UserError, match=f"{message}.*roambus figures"):
        inline_figure(file, "", "")
