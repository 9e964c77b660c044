"""What goes wrong in random histories of caching, and how often.

python -m benchmarks.client_histories --runs 10000
python -m benchmarks.client_histories --runs 10000 --freezes
python -m benchmarks.client_histories --param follow_client=false

Each run is whole agents over ideal links with delays from 1 ms to 2 s: a tree of up to seven brokers, among which two
clients move, faster than their words perhaps. Exits with 1 if anything that a client wanted all the time was lost or
doubled, or if a subscription or a kept message was left where no client is.
"""

from __future__ import annotations

import sys
from collections import Counter
from random import Random

import click
from rich.progress import track

from tests.support.client_histories import draw, wrong


@click.command()
@click.option("--runs", default=1000, show_default=True, help="Random histories to carry out.")
@click.option("--seed", default=0, show_default=True, help="Of the first history; each has the next one.")
@click.option("--freezes", is_flag=True, help="Brokers freeze, and go on.")
@click.option("--param", "parameters", multiple=True, metavar="NAME=VALUE", help="A parameter of the agent.")
def main(runs: int, seed: int, *, freezes: bool, parameters: tuple[str, ...]) -> None:
    """Counts the histories in which each property fails."""
    values, failed = dict(text.split("=", 1) for text in parameters), Counter[str]()
    for one in track(range(seed, seed + runs), description="histories", disable=not sys.stderr.isatty()):
        found = list(wrong(draw(Random(one), freezes=freezes, parameters=values)))
        failed.update(found)
        if found:
            print(f"seed {one}: {', '.join(found)}", file=sys.stderr)
    print(f"{runs} histories: {', '.join(f'{count} {name}' for name, count in failed.items()) or 'nothing wrong'}")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
