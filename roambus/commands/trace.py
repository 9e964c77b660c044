"""`roambus trace` prints what a protocol does, message by message."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from roambus.commands.options import OTHER_AGENT, PARAMETERS, pairs
from roambus.commands.telling import answer, remark


@click.command()
@click.argument("scenario", type=click.Path(dir_okay=False, path_type=Path))
@OTHER_AGENT
@PARAMETERS
@click.option("--times", is_flag=True, help="Shows when each thing happens, counted from the command.")
def trace(scenario: Path, agent: str | None, parameters: Sequence[str], times: bool) -> None:
    """Prints SCENARIO with the messages that its commands cause.

    SCENARIO is a text file with a network and commands. Links are ideal: nothing is lost on a link that stands. With
    --agent, the parameters that the file gives its own agent are left out. This is a whole scenario:

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

    The file begins with comments (#) and settings:

    \b
      agent NAME [PARAMETER=VALUE...]   the protocol
      seed 7                            the seed of all chance
      delay 1ms                         how long a message takes on a link
      slot 1s                           how long the messages of a command are waited for
      times                             show when each thing happens
      hide TYPE...                      do not show messages of these types
      by hand                           messages arrive, and timers run out, when a
                                        command says so, as roambus explore writes it
      filter f9: price < 10             what f9 means
      event e9: price = 3               what e9 means

    The network follows in one of these forms, whose further lines are indented:

    \b
      tree                              a tree of brokers, which agents of the broker
                                        family are given
      links n1-n2 n2-n3                 each link by its ends
      complete b1 n1..n5                a link between any two
      sites                             lines such as site2 < site1: b4 b5 b6 | s1,
                                        that is name < parent: brokers | clients
      field                             lines such as n1 at 0,20 (metres): nodes within
                                        range 30m of each other are linked, and move
                                        at speed 10m/s (these are two settings)

    The letter of a node tells its role: b is a broker, s a subscriber, p a publisher, and n a publisher and subscriber.
    The commands that stand indented below a line setup are carried out, but not shown.

    A line of commands may hold several, with semicolons between them. Each happens at once, or later if it begins with
    a time such as after 3ms:

    \b
      start                  (shows what the agents do at first)
      s1 subscribes f1       s1 unsubscribes f1      p1 publishes e1
      s1 detaches            s1 attaches to b2       s1 attaches
      s1 moves to b2         b3 joins b2             b3 is cut off
      n1 moves to 20,5       (on a field)
      link n1-n2 down        link n1-n2 up
      b3 crashes             b3 freezes              b3 recovers
      wait 5s                show table b1 b2        show stored
      s1 -> b2 arrives       s1 -> b2 is lost        (by hand; message 2 of s1 -> b2)
      b2's timer runs out    b2 draws 1 0            (by hand)

    Unless the file defines them otherwise, f3 is the filter topic = 3, and e3 is an event with that topic. Filters and
    events can also be written out.

    Example: roambus trace scenario.txt --agent mft --times
    """  # noqa: D301  # click wants the character itself
    from roambus.bridge.transcript.transcript import Overrides, transcribe

    text = transcribe(scenario, Overrides(agent, pairs("--param", parameters), times, remark))
    answer(text.removesuffix("\n"), scenario=scenario, transcript=text)
