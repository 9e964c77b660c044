"""The page as one HTML file that needs nothing else, with the films of runs in it.

The file can be opened from a disk, sent to somebody, or served. Nothing that comes from a run can become code in it: a
film is base64 in a data block, the page writes texts as texts, and the policy of the page lets run only the script
whose hash it names, and load nothing from anywhere. Only a page that plays a session may ask, and only its own server.

The script is made of the modules in `page/`, which stay modules there so that an editor and tests can read them. As a
file of its own a page cannot import any, so they are joined in the order in which they need each other.

What a trace does not hold, such as the fields of messages, is shown if the run's agents may be run once more. They may
if they are installed, or if the user trusts them; else the page shows what the trace holds, and the user is told why.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Sequence
from functools import cache
from html import escape
from pathlib import Path

import pyarrow as pa

from roambus.bridge.agents import UntrustedAgentError
from roambus.bridge.errors import UserError
from roambus.bridge.trace.parquet import read_about
from roambus.experiments.page_policy import source_hash
from roambus.experiments.viewer.film import Film, make_film
from roambus.experiments.viewer.witness import Source, find_source, observe, read_rows
from roambus.spark.aggregation.aggregate import replace_file

_PAGE = Path(__file__).with_name("page")
_IMPORT = re.compile(r"^import .*?;\n", re.MULTILINE | re.DOTALL)
_EXPORT = re.compile(r"^export ", re.MULTILINE)

Say = Callable[[str], None]
"""Whoever is told a line."""


def page_of(runs: Sequence[Path], say: Say, *, again: bool, trust: bool = False) -> str:
    """The page with these runs side by side; raises RoambusError, OSError.

    What a trace does not hold comes from the run's record, if it has one; otherwise, with `again`, from making the run
    again. Both run the run's agent, which is done only if it is installed, or with `trust`. `say` is told what is run,
    what is left out, and what a trace is that comes without the folder of its run, whose ini would say so.
    """
    return make_document([_film(path, say, again=again, trust=trust) for path in runs])


def _film(path: Path, say: Say, *, again: bool, trust: bool) -> Film:
    source = find_source(path)
    if path.is_file() and (about := read_about(source.trace)) is not None:
        say(f"{source.trace}:\n{about.describe()}")
    table = read_rows(source.trace)
    try:
        if again or source.record is not None:
            return _whole_film(source, table, say, trust=trust)
        return make_film(source, table)
    except UserError as error:
        text = str(error)
        raise UserError(text if str(source.trace.parent) in text else f"{source.trace}: {text}") from error


def _whole_film(source: Source, table: pa.Table, say: Say, *, trust: bool) -> Film:
    """The film with what the agents tell; without, and a line that says why, if they may not be run."""
    try:
        return make_film(source, *observe(source, table, trusted=trust, announce=say))
    except UntrustedAgentError as error:
        say(f"{source.trace.parent}: {error}: contents of messages are not shown; if you trust that code, add --trust")
        return make_film(source, table)


def write(page: str, export: Path) -> None:
    """Writes the page in one step; raises OSError."""
    replace_file(export, lambda path: path.write_text(page, encoding="utf-8"))


def make_document(films: Sequence[Film], *, live: bool = False) -> str:
    """The page with one film, or several side by side; a `live` page can ask its own server for more."""
    script = "\n".join(['"use strict";', *_modules("main.js").values()])
    style = (_PAGE / "style.css").read_text(encoding="utf-8")
    packed = [b64encode(film.packed()).decode("ascii") for film in films]
    parts = {
        "policy": _policy(script, style, live=live),
        "title": escape(" | ".join(film.header["title"] for film in films)),
        "style": style,
        "films": "\n".join(f'<script type="application/octet-stream" class="film">{one}</script>' for one in packed),
        "script": script,
    }
    text = (_PAGE / "page.html").read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], text)


@cache
def _modules(name: str) -> dict[str, str]:
    """The text of a module of the page after those that it imports, all without their imports and exports."""
    text = (_PAGE / name).read_text(encoding="utf-8")
    found: dict[str, str] = {}
    for imported in re.findall(r'from "\./(\w+\.js)"', "".join(_IMPORT.findall(text))):
        found |= _modules(imported)
    return {**found, name: _EXPORT.sub("", _IMPORT.sub("", text))}


def _policy(script: str, style: str, *, live: bool) -> str:
    allowed = f"script-src {source_hash(script)}; style-src {source_hash(style)}"
    connections = "; connect-src 'self'" if live else ""
    # Nothing else is allowed: no images, no fonts, no requests, no forms, not even to where the page comes from.
    return f"default-src 'none'; {allowed}{connections}; base-uri 'none'; form-action 'none'"
