"""`roambus trace`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from roambus.commands.options import PARAMETERS, pairs


@click.command()
@click.argument("scenario", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--agent", help="Another agent than the file's: a name, module:Class or file.py[:Class].")
@PARAMETERS
@click.option("--times", is_flag=True, help="Show when each thing happens, from the command on.")
def trace(scenario: Path, agent: str | None, parameters: Sequence[str], times: bool) -> None:
    """Prints SCENARIO, a network and commands in a text file, with the exact messages that follow each command.

    Links are ideal: nothing is lost on a link that stands. With --agent, the parameters that the file gives its own
    agent are left out. A whole scenario:

    \b
      agent mft
      tree
        b1
          b2
          b3/s3
      clients s2@b2 p1@b1

    \b
      > s3 subscribes f3
      > b3 is cut off
      > p1 publishes e3
      > b3 joins b2
      > show table b1

    The file begins with comments (#) and settings: agent NAME [PARAMETER=VALUE...], seed 7, delay 1ms (of a link),
    slot 1s (how long the messages of a command are waited for), times, hide TYPE..., filter f9: price < 10, event e9:
    price = 3. The network is a tree that agents of the broker family are given, or links n1-n2 n2-n3, or complete b1
    n1..n5 (a link between any two), or below sites, indented, lines such as site2 < site1: b4 b5 b6 | s1
    (name < parent: brokers | clients), or below field, indented, places in metres such as n1 at 0,20: then who is in
    range 30m of each other is linked, and moves at speed 10m/s (two settings). Letters tell roles: b broker, s
    subscriber, p publisher, n both clients. Below setup, indented, stand commands whose messages are not shown.

    Commands, in a line several after semicolons, each at once or after 3ms:

    \b
      start                  (shows what the agents do at first)
      s1 subscribes f1       s1 unsubscribes f1      p1 publishes e1
      s1 detaches            s1 attaches to b2       s1 attaches
      s1 moves to b2         b3 joins b2             b3 is cut off
      n1 moves to 20,5       (on a field)
      link n1-n2 down        link n1-n2 up
      b3 crashes             b3 freezes              b3 recovers
      wait 5s                show table b1 b2        show stored

    Unless defined otherwise, f3 is the filter topic = 3, and e3 an event with that topic; either can be written out.

    Example: roambus trace scenario.txt --agent mft --times
    """  # noqa: D301  # click wants the character itself
    from roambus.bridge.transcript.transcript import Overrides, transcribe

    click.echo(transcribe(scenario, Overrides(agent, pairs("--param", parameters), times)), nl=False)
