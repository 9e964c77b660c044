"""Leads from the paths of runs to a page in a file, or in the browser of whoever asked for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import pyarrow as pa

from roambus.bridge.agents.registry import UntrustedAgentError
from roambus.bridge.errors import UserError
from roambus.bridge.trace.reader import read_about
from roambus.experiments.viewer.document import make_document
from roambus.experiments.viewer.film import Film, make_film
from roambus.experiments.viewer.server import PageServer
from roambus.experiments.viewer.source import Source, find_source, read_rows
from roambus.experiments.viewer.witness import observe
from roambus.spark.aggregation.tables import replace_file

Say = Callable[[str], None]
"""Whoever is told a line."""


def page_of(runs: Sequence[Path], say: Say, *, again: bool, trust: bool = False) -> str:
    """The page with these runs side by side; raises RoambusError, OSError.

    What a trace does not hold comes from the run's record, if it has one; otherwise, with `again`, from making the run
    again. Both run the run's agent, which is done only if it is installed, or with `trust`. `say` is told what is run,
    and what is left out.
    """
    return make_document([_film(find_source(path), say, again=again, trust=trust) for path in runs])


def _film(source: Source, say: Say, *, again: bool, trust: bool) -> Film:
    table, about = read_rows(source.trace), read_about(source.trace)
    if about is not None:
        say(f"{source.trace}:\n{about.describe()}")
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
        say(f"{source.trace.parent}: {error}: what messages hold is not shown; if you trust that code, add --trust")
        return make_film(source, table)


def write(page: str, export: Path) -> None:
    """Writes the page in one step; raises OSError."""
    replace_file(export, lambda path: path.write_text(page, encoding="utf-8"))


def serve(page: str, port: int, say: Say) -> None:
    """Says where the page is, and serves it until Ctrl-C; raises UserError if the port is taken."""
    with PageServer(page, port) as server:
        say(server.url)
        with suppress(KeyboardInterrupt):
            server.serve_forever()
