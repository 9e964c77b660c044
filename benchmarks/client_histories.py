"""What goes wrong in random histories of caching, and how often.

python -m benchmarks.client_histories --runs 10000
python -m benchmarks.client_histories --runs 10000 --freezes
python -m benchmarks.client_histories --param follow_client=false

Each run is whole agents over ideal links with delays from 1 ms to 2 s: a tree of up to seven brokers, among which two
clients move, faster than their words perhaps. Exits with 1 if anything that a client wanted all the time was lost or
doubled, if a subscription or a kept message was left where no client is, if what was kept went to a client in another
order than that of its publisher, or if something went after it that it had given up.
"""

from __future__ import annotations

from random import Random

import click

from benchmarks.histories import PARAMETERS, RUNS, SEED, count
from tests.support.client_histories import draw, wrong


@click.command()
@RUNS
@SEED
@click.option("--freezes", is_flag=True, help="Brokers freeze, and go on.")
@PARAMETERS
def main(runs: int, seed: int, *, freezes: bool, parameters: dict[str, str]) -> None:
    """Counts the histories in which each property fails."""

    def check(random: Random) -> list[str]:
        return list(wrong(draw(random, freezes=freezes, parameters=parameters)))

    count(runs, seed, check)


if __name__ == "__main__":
    main()
