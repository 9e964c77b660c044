"""`roambus list` says what there is, and `roambus show` what one thing is and takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from roambus.commands.completion import THING_NAME
from roambus.commands.telling import answer_whole

if TYPE_CHECKING:
    from roambus.experiments.inventory.thing import Thing

KINDS = ("agents", "templates", "sweeps", "studies", "metrics")


@click.command("list")
@click.argument("kind", type=click.Choice(KINDS), required=False)
def list_things(kind: str | None) -> None:
    """Lists what there is: agents, templates, sweeps, studies or metrics.

    Without KIND it lists all of them. Each has a line with its name and what it is; roambus show tells the rest.

    Example: roambus list sweeps
    """
    from roambus.experiments.inventory.kinds import everything

    found = {one: everything(one) for one in ((kind,) if kind else KINDS)}
    lines = [line for one, things in found.items() for line in _lines(one, things, headed=kind is None)]
    answer_whole("\n".join(lines), [_short(thing) for things in found.values() for thing in things])


def _lines(kind: str, things: Sequence[Thing], *, headed: bool) -> Iterator[str]:
    if headed:
        yield f"{kind}:"
    width = max(len(thing.name) for thing in things)
    yield from (f"{'  ' if headed else ''}{thing.name:{width}}  {thing.summary}" for thing in things)


def _short(thing: Thing) -> dict[str, str]:
    return {"kind": thing.kind, "name": thing.name, "summary": thing.summary}


@click.command()
@click.argument("name", type=THING_NAME)
@click.option("--kind", type=click.Choice(KINDS), help="Shows only what is of this kind, if several have the name.")
def show(name: str, kind: str | None) -> None:
    """Shows what NAME is, and what it takes.

    NAME is that of an agent, a template, a sweep, a study or a metric, as roambus list has it. An agent has parameters,
    which --param sets; a template has variables, which --set sets; a sweep has axes; a metric has a definition. If
    several things have the name, all of them are shown.

    Example: roambus show thesis
    """
    from roambus.experiments.inventory.kinds import find

    found = find(name, kind)
    text = "\n\n".join("\n".join(thing.lines()) for thing in found)
    answer_whole(text, [thing.as_json() for thing in found])
