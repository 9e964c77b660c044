"""`roambus agents` lists the protocols that are installed, and `roambus doctor` says what works on this machine."""

from __future__ import annotations

import sys

import click

from roambus.bridge.backends import BACKENDS
from roambus.bridge.errors import UserError


@click.command()
def agents() -> None:
    """Lists the installed agents, each with its parameters.

    A line for each parameter has its name, its default, what it does, its unit, and where the default comes from.

    Example: roambus agents
    """
    from roambus.bridge.agents.registry import agent_names, load_agent
    from roambus.python_protocol.parameters import describe_parameters

    for name in agent_names():
        try:
            agent = load_agent(name)
        except UserError as error:
            click.echo(f"{name}: {error}")
            continue
        click.echo(f"{name}: {_first_line(agent.__doc__)}")
        for parameter, default, unit, source, doc in describe_parameters(agent.parameters_type):
            notes = "; ".join(filter(None, (doc, "" if unit == "s" else unit, source)))
            click.echo(f"  {parameter} = {default}" + (f"  ({notes})" if notes else ""))


def _first_line(doc: str | None) -> str:
    return (doc or "").strip().partition("\n")[0]


@click.command()
def doctor() -> None:
    """Says what is installed, what would run, and what to do.

    A thing that is missing or broken gets a line of advice, and each back-end a line that says whether it would run.
    The exit code is 0 if the default back-end would run, and 1 if it would not.

    Example: roambus doctor
    """
    try:
        from rich.console import Console

        from roambus.doctor.doctor import examine, report
    except ImportError as error:
        raise UserError(f"{error}: install roambus anew, with everything that it needs") from None
    diagnosis = examine()
    report(diagnosis, Console())
    sys.exit(bool(diagnosis.in_the_way(BACKENDS[0])))
