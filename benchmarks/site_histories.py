"""What goes wrong in random histories of replicated brokers, and how often.

python -m benchmarks.site_histories --runs 10000
python -m benchmarks.site_histories --runs 10000 --no-faults --no-absences
python -m benchmarks.site_histories --no-faults --no-absences --param follow_delays=false

Each run is whole agents over ideal links with delays from 1 ms to 2 s: up to three sites whose brokers crash or
freeze, one of each site at a time, and clients that leave at any moment and come back. Exits with 1 if anything was
lost, doubled or out of order, if tables or copies were wrong in the end, or if the network did not fall silent.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from random import Random

import click
from rich.progress import track

from tests.support.site_histories import Drawing, draw, wrong


@click.command()
@click.option("--runs", default=1000, show_default=True, help="Random histories to carry out.")
@click.option("--seed", default=0, show_default=True, help="Of the first history; each has the next one.")
@click.option("--no-faults", is_flag=True, help="Brokers neither crash nor freeze.")
@click.option("--no-absences", is_flag=True, help="Clients stay.")
@click.option("--param", "parameters", multiple=True, metavar="NAME=VALUE", help="A parameter of the agent.")
def main(runs: int, seed: int, *, no_faults: bool, no_absences: bool, parameters: tuple[str, ...]) -> None:
    """Counts the histories in which each property fails."""
    drawing, failed = Drawing(faults=not no_faults, absences=not no_absences), Counter[str]()
    values = dict(text.split("=", 1) for text in parameters)
    for one in track(range(seed, seed + runs), description="histories", disable=not sys.stderr.isatty()):
        history = draw(Random(one), drawing)
        found = list(wrong(replace(history, parameters=history.parameters | values)))
        failed.update(found)
        if found:
            print(f"seed {one}: {', '.join(found)}", file=sys.stderr)
    print(f"{runs} histories: {', '.join(f'{count} {name}' for name, count in failed.items()) or 'nothing wrong'}")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
