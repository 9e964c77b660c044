"""`roambus docs` shows the pages of the documentation, which come with the package."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

import click

from roambus.bridge.errors import UserError
from roambus.commands.completion import Named
from roambus.commands.telling import answer, answer_whole, telling

_FOLDER = Path(__file__).parents[1] / "docs"


def pages() -> dict[str, Path]:
    """The pages by their names."""
    return {file.stem: file for file in sorted(_FOLDER.glob("*.md"))}


def title_of(page: Path) -> str:
    """The heading that a page begins with."""
    lines = page.read_text(encoding="utf-8").splitlines()
    return next((line.removeprefix("# ") for line in lines if line.startswith("# ")), page.stem)


def _names(_: click.Context) -> Iterable[str]:
    return pages()


@click.command()
@click.argument("page", type=Named(_names), required=False)
def docs(page: str | None) -> None:
    """Shows PAGE of the documentation, or which pages there are.

    The pages come with the package, and are those that the text of other commands names. Pages are written in Markdown,
    and are printed as they are; on a terminal one can turn over the leaves.

    Example: roambus docs tutorial
    """
    known = pages()
    if page is None:
        width = max(map(len, known))
        found = [{"name": name, "title": title_of(file)} for name, file in known.items()]
        answer_whole("\n".join(f"{one['name']:{width}}  {one['title']}" for one in found), found)
        return
    if page not in known:
        near = get_close_matches(page, known, n=1)
        raise UserError(f"no page is called {page!r}: {f'did you mean {near[0]!r}? ' if near else ''}see roambus docs")
    text = known[page].read_text(encoding="utf-8")
    if sys.stdout.isatty() and not telling().as_json:
        click.echo_via_pager(text)
    else:
        answer(text.removesuffix("\n"), name=page, text=text)
