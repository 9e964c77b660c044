"""`roambus list` says what there is, and `roambus show` what one thing is and takes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from roambus.experiments.inventory.thing import Thing

KINDS = ("agents", "templates", "sweeps", "studies", "metrics")
_JSON = click.option("--json", "as_json", is_flag=True, help="Prints it as JSON, for programs.")


@click.command("list")
@click.argument("kind", type=click.Choice(KINDS), required=False)
@_JSON
def list_things(kind: str | None, as_json: bool) -> None:
    """Lists what there is: agents, templates, sweeps, studies or metrics.

    Without KIND it lists all of them. Each has a line with its name and what it is; roambus show tells the rest.

    Example: roambus list sweeps
    """
    from roambus.experiments.inventory.kinds import everything

    found = {one: everything(one) for one in ((kind,) if kind else KINDS)}
    if as_json:
        click.echo(json.dumps([_short(thing) for things in found.values() for thing in things], indent=2))
        return
    for one, things in found.items():
        if kind is None:
            click.echo(f"{one}:")
        width = max(len(thing.name) for thing in things)
        for thing in things:
            click.echo(f"{'' if kind else '  '}{thing.name:{width}}  {thing.summary}")


def _short(thing: Thing) -> dict[str, str]:
    return {"kind": thing.kind, "name": thing.name, "summary": thing.summary}


@click.command()
@click.argument("name")
@click.option("--kind", type=click.Choice(KINDS), help="Shows only what is of this kind, if several have the name.")
@_JSON
def show(name: str, kind: str | None, as_json: bool) -> None:
    """Shows what NAME is, and what it takes.

    NAME is that of an agent, a template, a sweep, a study or a metric, as roambus list has it. An agent has parameters,
    which --param sets; a template has variables, which --set sets; a sweep has axes; a metric has a definition. If
    several things have the name, all of them are shown.

    Example: roambus show thesis
    """
    from roambus.experiments.inventory.kinds import find

    found = find(name, kind)
    if as_json:
        click.echo(json.dumps([thing.as_json() for thing in found], indent=2))
    else:
        click.echo("\n\n".join("\n".join(thing.lines()) for thing in found))
