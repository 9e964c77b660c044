"""The page as one self-contained HTML file with the films of runs.

Nothing from a run can become code: a film is base64 in a data block, the page writes texts as texts, and its policy
loads nothing and runs only the script with the given hash. Only a page that plays a session may send requests, and only
to its own server.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Sequence
from functools import cache
from html import escape
from pathlib import Path

import pyarrow as pa

from roambus.bridge.agents import UntrustedAgentError, silently
from roambus.bridge.system.errors import UserError
from roambus.bridge.trace.parquet import read_about
from roambus.experiments.page_policy import source_hash
from roambus.extensions.viewer.film import Film, make_film
from roambus.extensions.viewer.naming import GivenNames
from roambus.extensions.viewer.observations import Source, find_source, observe, read_rows
from roambus.spark.aggregation.aggregate import replace_file

_PAGE = Path(__file__).with_name("page")
_IMPORT = re.compile(r"^import .*?;\n", re.MULTILINE | re.DOTALL)
_EXPORT = re.compile(r"^export ", re.MULTILINE)

Say = Callable[[str], None]
"""Receives a line of progress."""


def film_page(run: Path) -> str:
    """Return the page with the film of a run; raise RoambusError, OSError."""
    return page_of([run], silently, again=False)


def page_of(
    runs: Sequence[Path], say: Say, *, again: bool, trust: bool = False, names: GivenNames | None = None
) -> str:
    """Return the page with these runs side by side; raise RoambusError, OSError.

    Contents of messages come from the record, or with `again` from a rerun, if the agent is installed or trusted.
    """
    films = [_film(path, say, names, again=again, trust=trust) for path in runs]
    if names is not None:
        names.check({len(film.header["names"]) for film in films})
    return make_document(films)


def _film(path: Path, say: Say, names: GivenNames | None, *, again: bool, trust: bool) -> Film:
    source = find_source(path)
    if path.is_file() and (about := read_about(source.trace)) is not None:
        say(f"{source.trace}:\n{about.describe()}")
    table = read_rows(source.trace)
    try:
        if again or source.record is not None:
            return _whole_film(source, table, say, names, trust=trust)
        return make_film(source, table, names=names)
    except UserError as error:
        text = str(error)
        raise UserError(text if str(source.trace.parent) in text else f"{source.trace}: {text}") from error


def _whole_film(source: Source, table: pa.Table, say: Say, names: GivenNames | None, *, trust: bool) -> Film:
    """Return the film with the agents' observations, or without it and with a line of reason."""
    try:
        return make_film(source, *observe(source, table, trusted=trust, announce=say, names=names), names)
    except UntrustedAgentError as error:
        say(f"{source.trace.parent}: {error}: contents of messages are not shown; if you trust that code, add --trust")
        return make_film(source, table, names=names)


def write(page: str, export: Path) -> None:
    """Write the page in one step; raise OSError."""
    replace_file(export, lambda path: path.write_text(page, encoding="utf-8"))


def make_document(films: Sequence[Film], *, live: bool = False) -> str:
    """Return the page with one or several films; a `live` page can query its own server."""
    script = "\n".join(['"use strict";', *_modules("main.js").values()])
    style = (_PAGE / "style.css").read_text(encoding="utf-8")
    packed = [b64encode(film.packed()).decode("ascii") for film in films]
    parts = {
        "policy": _policy(script, style, live=live),
        "title": escape(" | ".join(film.header["title"] for film in films)),
        "style": style,
        "films": "\n".join(f'<script type="application/octet-stream" class="film">{film}</script>' for film in packed),
        "script": script,
    }
    text = (_PAGE / "page.html").read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], text)


@cache
def _modules(name: str) -> dict[str, str]:
    """Return a page module after its imports, without import and export statements."""
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
