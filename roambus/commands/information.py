"""`roambus agents` lists the protocols that are installed, and `roambus doctor` says what works on this machine."""

from __future__ import annotations

import sys

import click

from roambus.bridge.backends import BACKENDS
from roambus.bridge.errors import UserError
from roambus.commands.telling import answer, telling


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
            answer(f"{name}: {error}", agents=[{"name": name, "error": str(error)}])
            continue
        told = _first_line(agent.__doc__)
        described = list(describe_parameters(agent.parameters_type))
        rows = [dict(zip(_COLUMNS, one, strict=True)) for one in described]
        answer(f"{name}: {told}", agents=[{"name": name, "summary": told, "parameters": rows}])
        for parameter, default, unit, source, doc in described:
            notes = "; ".join(filter(None, (doc, "" if unit == "s" else unit, source)))
            answer(f"  {parameter} = {default}" + (f"  ({notes})" if notes else ""))


_COLUMNS = ("name", "default", "unit", "source", "meaning")


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

        from roambus.doctor.doctor import BACKENDS as LOOKED_AT
        from roambus.doctor.doctor import examine, report
    except ImportError as error:
        raise UserError(f"{error}: install roambus anew, with everything that it needs") from None
    diagnosis = examine()
    answer(findings=diagnosis.findings, backends={name: not diagnosis.in_the_way(name) for name in LOOKED_AT})
    if not telling().as_json:
        report(diagnosis, Console())
    sys.exit(bool(diagnosis.in_the_way(BACKENDS[0])))
