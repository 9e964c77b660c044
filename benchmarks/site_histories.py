"""What goes wrong in random histories of replicated brokers, and how often.

python -m benchmarks.site_histories --runs 10000
python -m benchmarks.site_histories --runs 10000 --no-faults --no-absences
python -m benchmarks.site_histories --no-faults --no-absences --param follow_delays=false
python -m benchmarks.site_histories --runs 10000 --crashes-at-any-instant
python -m benchmarks.site_histories --runs 10000 --crashes-at-any-instant --param tell_empty=false

Each run is whole agents over ideal links with delays from 1 ms to 2 s: up to three sites whose brokers crash or
freeze, one of each site at a time, and clients that leave at any moment and come back. Exits with 1 if anything was
lost, doubled or out of order, if tables or copies were wrong in the end, or if the network did not fall silent.

With `--crashes-at-any-instant` each run is one site whose brokers crash and return whatever the others do. As long as a
copy of its state was left, the site has to serve when all run again; and as long as one broker at most was down or
without its copy, nothing may be lost, doubled or out of order. How many histories were of which kind is printed, too.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import click

from benchmarks.histories import PARAMETERS, RUNS, SEED, count
from tests.support.site_histories import Drawing, draw, draw_crashes, judge, wrong


@click.command()
@RUNS
@SEED
@click.option("--no-faults", is_flag=True, help="Brokers neither crash nor freeze.")
@click.option("--no-absences", is_flag=True, help="Clients stay.")
@click.option("--crashes-at-any-instant", is_flag=True, help="One site, and brokers that fail at any instant.")
@PARAMETERS
def main(  # noqa: PLR0913  # an argument for each option
    runs: int,
    seed: int,
    *,
    no_faults: bool,
    no_absences: bool,
    crashes_at_any_instant: bool,
    parameters: dict[str, str],
) -> None:
    """Counts the histories in which each property fails."""
    if crashes_at_any_instant:
        _count_crashes(runs, seed, parameters)
    drawing = Drawing(faults=not no_faults, absences=not no_absences)

    def check(random: Random) -> list[str]:
        history = draw(random, drawing)
        return list(wrong(replace(history, parameters=history.parameters | parameters)))

    count(runs, seed, check)


def _count_crashes(runs: int, seed: int, parameters: dict[str, str]) -> None:
    kinds = Counter[str]()

    def check(random: Random) -> list[str]:
        history = draw_crashes(random)
        verdict = judge(replace(history, parameters=history.parameters | parameters))
        kinds[f"{verdict.empty} without a copy, {verdict.missing} down or without one"] += 1
        kinds[f"wrong: {verdict.empty} without a copy, {verdict.missing} down or without one"] += bool(verdict.found)
        return list(verdict.found)

    try:
        count(runs, seed, check)
    finally:
        for kind, number in sorted(kinds.items()):
            print(f"{number:7} {kind}")


if __name__ == "__main__":
    main()
