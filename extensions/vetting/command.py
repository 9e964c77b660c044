"""The command `roambus vet`: the mistakes of an agent."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from roambus.console.options import AGENT_NAME, PARAMETERS, pairs
from roambus.console.output import EXIT_PROBLEMS, answer, bar
from roambus.extensions.vetting.watching import LONGEST_CALL_S


@click.command()
@click.argument("agent", type=AGENT_NAME)
@PARAMETERS
@click.option(
    "--longest",
    metavar="SECONDS",
    type=click.FloatRange(min=0.1),
    default=LONGEST_CALL_S,
    show_default=True,
    help="Time in which a handler returns, unless it loops or waits.",
)
def vet(agent: str, parameters: Sequence[str], longest: float) -> None:
    """Vets AGENT, and names its mistakes.

    AGENT is a name that roambus list agents has, module:Class or file.py[:Class]. It runs for twelve simulated seconds
    on ideal links, on the radio, and with frames of the largest size, on eight nodes that crash, freeze, leave and
    return, and for a hundred on links that lose nothing. A finding names the check, the line, and the remedy:

    \b
      messages          a message differs from the one read from its bytes
      runs              the agent raises, uses a wrong value, such as a time that is
                        not an integer, draws from a shared generator, loops or waits
      agent interface   it acts in the constructor, sets self.node, returns messages,
                        starts a thread, or swallows every error
      deliveries        on links that lose nothing, it loses notifications, delivers
                        them twice or unwanted, or miscounts hops
      recovery          a node that has crashed ignores what it wants, or does not
                        set a regular timer again
      timers            a timer runs out for which there is no handler
      shared memory     nodes change what all of them share, such as an attribute
                        of the class
      unknown messages  it raises for messages that it does not know
      repeatable        another process makes another trace of the same run

    Two processes do all this, with different hash seeds and in a different order. Vetting runs the agent's
    code, so only vet agents that you would run. The exit code is 0 if nothing was found, 1 if something was, and 2 for
    a mistake in the command or a full disk.

    Example: roambus vet mft --param link_layer=false
    """  # noqa: D301  # click wants the character itself
    from roambus.extensions.vetting.examination import STEPS
    from roambus.extensions.vetting.examination import vet as vet_agent

    with bar(f"vetting {agent}", STEPS) as one_more:
        found = vet_agent(agent, pairs("--param", parameters), one_more, longest)
    answer("\n".join(map(str, found)) or f"{agent}: nothing was found", agent=agent, findings=found)
    if found:
        sys.exit(EXIT_PROBLEMS)
