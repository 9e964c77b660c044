"""`roambus replay`."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from experiments.viewer.film import Film

RUN = click.Path(path_type=Path)


@click.command()
@click.argument("run", type=RUN)
@click.option("--with", "other", type=RUN, help="A second run beside it, on the same clock.")
@click.option("--again", is_flag=True, help="Make runs without a record again, to see messages and routing tables.")
@click.option("--export", type=click.Path(dir_okay=False, path_type=Path), help="Write the page to this file instead.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, show_default="a free one", help="Where to serve it.")
def replay(run: Path, other: Path | None, again: bool, export: Path | None, port: int) -> None:
    """Shows RUN, a folder or trace that a run has left, as a film in the browser.

    The page is served to this machine only, until you press Ctrl-C; with --export it is one file that needs nothing
    else. A run that was made with --record, or is made --again, shows what its messages hold, which of them arrived, the
    ways of notifications hop by hop, and routing tables; of any other it shows what the trace has.

    Example: roambus replay results/run --export film.html
    """
    from experiments.viewer.document import make_document

    films = [_film(path, again) for path in (run, other) if path is not None]
    page = make_document(films)
    if export is None:
        _serve(page, port)
    else:
        _write(page, export)


def _film(path: Path, again: bool) -> Film:
    from bridge.errors import UserError
    from experiments.viewer.film import make_film
    from experiments.viewer.source import find_source, read_trace
    from experiments.viewer.witness import testify

    source = find_source(path)
    table = read_trace(source.trace)
    try:
        if again or source.record is not None:
            return make_film(source, *testify(source, table))
        return make_film(source, table)
    except UserError as error:
        text = str(error)
        raise UserError(text if str(source.trace.parent) in text else f"{source.trace}: {text}") from error


def _write(page: str, export: Path) -> None:
    from spark.tables import replace_file

    replace_file(export, lambda path: path.write_text(page, encoding="utf-8"))
    click.echo(export)


def _serve(page: str, port: int) -> None:
    from experiments.viewer.server import PageServer

    with PageServer(page, port) as server:
        click.echo(server.url)
        with suppress(KeyboardInterrupt):
            server.serve_forever()
