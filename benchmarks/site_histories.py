"""What goes wrong in random histories of replicated brokers, and how often.

python -m benchmarks.site_histories --runs 10000
python -m benchmarks.site_histories --runs 10000 --no-faults --no-absences
python -m benchmarks.site_histories --no-faults --no-absences --param follow_delays=false

Each run is whole agents over ideal links with delays from 1 ms to 2 s: up to three sites whose brokers crash or
freeze, one of each site at a time, and clients that leave at any moment and come back. Exits with 1 if anything was
lost, doubled or out of order, if tables or copies were wrong in the end, or if the network did not fall silent.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

import click

from benchmarks.histories import PARAMETERS, RUNS, SEED, count
from tests.support.site_histories import Drawing, draw, wrong


@click.command()
@RUNS
@SEED
@click.option("--no-faults", is_flag=True, help="Brokers neither crash nor freeze.")
@click.option("--no-absences", is_flag=True, help="Clients stay.")
@PARAMETERS
def main(runs: int, seed: int, *, no_faults: bool, no_absences: bool, parameters: dict[str, str]) -> None:
    """Counts the histories in which each property fails."""
    drawing = Drawing(faults=not no_faults, absences=not no_absences)

    def check(random: Random) -> list[str]:
        history = draw(random, drawing)
        return list(wrong(replace(history, parameters=history.parameters | parameters)))

    count(runs, seed, check)


if __name__ == "__main__":
    main()
