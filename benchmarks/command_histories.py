"""What goes wrong with commands to clients that are cut off at any moment, and how often.

python -m benchmarks.command_histories --agent phoenix --runs 10000
python -m benchmarks.command_histories --agent simple --runs 10000

Each run is whole agents over ideal links with delays from 1 ms to 2 s: a tree of up to seven brokers, and two clients
that lose their links without a word, whatever is under way, and come back, to any broker with Phoenix, to the same one
with Simple Routing, which has no migrations. Meanwhile they subscribe and unsubscribe. Exits with 1 if in the end a
client does not get what it wants, gets something else or something twice, or if a table is wrong.
"""

from __future__ import annotations

from random import Random

import click

from benchmarks.histories import PARAMETERS, RUNS, SEED, count
from roambus.python_protocol.brokers.agent import BrokerAgent
from roambus.python_protocol.papers.phoenix import Phoenix
from roambus.python_protocol.papers.simple import Simple
from tests.support.command_histories import draw, wrong

_AGENTS: dict[str, type[BrokerAgent]] = {"phoenix": Phoenix, "simple": Simple}


@click.command()
@click.option("--agent", type=click.Choice(list(_AGENTS)), default="phoenix", show_default=True)
@RUNS
@SEED
@PARAMETERS
def main(agent: str, runs: int, seed: int, parameters: dict[str, str]) -> None:
    """Counts the histories in which each property fails."""

    def check(random: Random) -> list[str]:
        return list(wrong(draw(random, moves=agent != "simple"), _AGENTS[agent], parameters))

    count(runs, seed, check)


if __name__ == "__main__":
    main()
