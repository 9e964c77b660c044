"""Puts films and the page into one HTML file that needs nothing else.

Nothing that comes from a run can become code there. Films are base64 in data blocks, the page writes texts as texts,
and its policy lets run only the script whose hash it names, and load nothing from anywhere.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Sequence
from html import escape
from pathlib import Path

from roambus.experiments.page_policy import source_hash
from roambus.experiments.viewer.film import Film

_PAGE = Path(__file__).with_name("page")
_LAST = "main.js"
_IMPORT = re.compile(r"^import .*?;\n", re.MULTILINE | re.DOTALL)
_EXPORT = re.compile(r"^export ", re.MULTILINE)


def make_document(films: Sequence[Film], *, live: bool = False) -> str:
    """The page with one film, or several side by side; a `live` page can ask its own server for more."""
    script, style = _script(), (_PAGE / "style.css").read_text(encoding="utf-8")
    parts = {
        "policy": _policy(script, style, live=live),
        "title": escape(" | ".join(film.header["title"] for film in films)),
        "style": style,
        "films": "\n".join(map(_data_block, films)),
        "script": script,
    }
    text = (_PAGE / "page.html").read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], text)


def _data_block(film: Film) -> str:
    data = b64encode(film.packed()).decode("ascii")
    return f'<script type="application/octet-stream" class="film">{data}</script>'


def _script() -> str:
    """The page's modules as one, in the order in which they import each other, without their imports and exports."""
    order: list[str] = []
    _visit(_LAST, order)
    texts = [(_PAGE / name).read_text(encoding="utf-8") for name in order]
    joined = "\n".join(_EXPORT.sub("", _IMPORT.sub("", text)) for text in texts)
    return f'"use strict";\n{joined}'


def _visit(name: str, order: list[str]) -> None:
    text = (_PAGE / name).read_text(encoding="utf-8")
    for imported in re.findall(r'from "\./(\w+\.js)"', "".join(_IMPORT.findall(text))):
        if imported not in order:
            _visit(imported, order)
    order.append(name)


def _policy(script: str, style: str, *, live: bool) -> str:
    allowed = f"script-src {source_hash(script)}; style-src {source_hash(style)}"
    connections = "; connect-src 'self'" if live else ""
    return f"default-src 'none'; {allowed}{connections}; base-uri 'none'; form-action 'none'"
