"""`roambus vet` finds what is wrong with an agent before anybody believes its results."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from roambus.commands.completion import AGENT_NAME
from roambus.commands.options import PARAMETERS, pairs
from roambus.commands.telling import answer, console

EXIT_FINDINGS = 1


@click.command()
@click.argument("agent", type=AGENT_NAME)
@PARAMETERS
def vet(agent: str, parameters: Sequence[str]) -> None:
    """Vets AGENT, and says what is wrong with it.

    AGENT is a name that roambus agents lists, module:Class or file.py[:Class]. It runs for twelve simulated seconds on
    ideal links, on the radio, and with frames of the largest size, on eight nodes that crash, freeze, leave and return.
    A finding names the check, the line, and what to do:

    \b
      messages          a message is not what is read from its bytes
      runs              the agent raises, asks for what there is not, such as a time
                        that is no whole number, or does what agents may not
      timers            a timer runs out for which there is no handler
      shared memory     nodes change what all of them share, such as an attribute
                        of the class
      unknown messages  it raises for messages that it does not know
      repeatable        another process makes another trace of the same run

    All this is done in three processes of their own, with other hash seeds and in another order. The agent's code is
    run, so vet what you would run. The exit code is 0 if nothing was found, and 1 if something was.

    Example: roambus vet mft --param link_layer=false
    """  # noqa: D301  # click wants the character itself
    from rich.progress import Progress

    from roambus.experiments.vetting.vetting import steps_of_all
    from roambus.experiments.vetting.vetting import vet as vet_agent

    shown = console()
    with Progress(console=shown, transient=True, disable=not shown.is_terminal) as progress:
        task = progress.add_task(f"vetting {agent}", total=steps_of_all())
        found = vet_agent(agent, pairs("--param", parameters), lambda: progress.advance(task))
    answer("\n".join(map(str, found)) or f"{agent}: nothing was found", agent=agent, findings=found)
    if found:
        sys.exit(EXIT_FINDINGS)
