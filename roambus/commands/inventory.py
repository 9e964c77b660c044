"""`roambus list` says what there is, `show` what one thing is and takes, and `docs` shows the documentation."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path

import click

from roambus.bridge.errors import UserError
from roambus.commands.options import THING_NAME, Named
from roambus.commands.output import answer, answer_whole, telling
from roambus.experiments.listing import KINDS, SINGULAR, summaries

_FOLDER = Path(__file__).parents[1] / "docs"


@click.command("list")
@click.argument("kind", type=click.Choice(KINDS), required=False)
def list_things(kind: str | None) -> None:
    """Lists what there is: agents, templates, sweeps, studies or metrics.

    Without KIND it lists all of them. Each has a line with its name and what it is; roambus show tells the rest.

    Example: roambus list sweeps
    """
    found = {one: summaries(one) for one in ((kind,) if kind else KINDS)}
    lines = [line for one, things in found.items() for line in _lines(one, things, headed=kind is None)]
    document = [
        {"kind": SINGULAR[one], "name": name, "summary": summary}
        for one, things in found.items()
        for name, summary in things.items()
    ]
    answer_whole("\n".join(lines), document)


def _lines(kind: str, things: Mapping[str, str], *, headed: bool) -> Iterable[str]:
    if headed:
        yield f"{kind}:"
    width = max(map(len, things))
    yield from (f"{'  ' if headed else ''}{name:{width}}  {summary}" for name, summary in things.items())


@click.command()
@click.argument("name", type=THING_NAME)
@click.option("--kind", type=click.Choice(KINDS), help="Shows only what is of this kind, if several have the name.")
def show(name: str, kind: str | None) -> None:
    """Shows what NAME is, and what it takes.

    NAME is that of an agent, a template, a sweep, a study or a metric, as roambus list has it, or the file of a
    template or a sweep. An agent has parameters, which --param sets; a template has variables, which --set sets; a
    sweep has axes; a metric has a definition. If several things have the name, all of them are shown, each with its
    kind.

    Example: roambus show thesis
    """
    from roambus.experiments.inventory import find

    found = find(name, kind)
    text = "\n\n".join("\n".join(thing.lines()) for thing in found)
    answer_whole(text, [thing.as_json() for thing in found])


def pages() -> dict[str, Path]:
    """The pages by their names."""
    return {file.stem: file for file in sorted(_FOLDER.glob("*.md"))}


def title_of(page: Path) -> str:
    """The heading that a page begins with."""
    lines = page.read_text(encoding="utf-8").splitlines()
    return next((line.removeprefix("# ") for line in lines if line.startswith("# ")), page.stem)


@click.command()
@click.argument("page", type=Named(lambda _: pages()), required=False)
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
