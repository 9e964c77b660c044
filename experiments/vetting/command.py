"""The command `roambus vet`: what is wrong with an agent."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from roambus.commands.options import AGENT_NAME, PARAMETERS, pairs
from roambus.commands.output import EXIT_PROBLEMS, answer, bar


@click.command()
@click.argument("agent", type=AGENT_NAME)
@PARAMETERS
def vet(agent: str, parameters: Sequence[str]) -> None:
    """Vets AGENT, and says what is wrong with it.

    AGENT is a name that roambus list agents has, module:Class or file.py[:Class]. It runs for twelve simulated seconds
    on ideal links, on the radio, and with frames of the largest size, on eight nodes that crash, freeze, leave and
    return. A finding names the check, the line, and what to do:

    \b
      messages          a message is not what is read from its bytes
      runs              the agent raises, asks for what there is not, such as a time
                        that is not a whole number, or draws from a shared generator
      timers            a timer runs out for which there is no handler
      shared memory     nodes change what all of them share, such as an attribute
                        of the class
      unknown messages  it raises for messages that it does not know
      repeatable        another process makes another trace of the same run

    All this is done in three separate processes, with other hash seeds and in another order. Vetting runs the agent's
    code, so only vet agents that you would run. The exit code is 0 if nothing was found, and 1 if something was.

    Example: roambus vet mft --param link_layer=false
    """  # noqa: D301  # click wants the character itself
    from roambus.experiments.vetting.examination import steps_of_all
    from roambus.experiments.vetting.examination import vet as vet_agent

    with bar(f"vetting {agent}", steps_of_all()) as one_more:
        found = vet_agent(agent, pairs("--param", parameters), one_more)
    answer("\n".join(map(str, found)) or f"{agent}: nothing was found", agent=agent, findings=found)
    if found:
        sys.exit(EXIT_PROBLEMS)
