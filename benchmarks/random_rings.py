"""What goes wrong in random histories of the skip ring, and how often.

python -m benchmarks.random_rings --runs 10000
python -m benchmarks.random_rings --param ask_first=false --runs 1000

Each run is whole agents over ideal links of 1 ms to 2 s: up to six subscribers and the supervisor, from a corrupted
state or none, and up to 14 steps in which they subscribe, unsubscribe, publish, leave, come back, crash, freeze and
recover. Everybody then has a minute, with rounds of a second. Exits with 1 if anything went wrong.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from random import Random

import click
from rich.progress import track

from benchmarks.histories import PARAMETERS
from tests.support.ring_histories import Result, carry_out, draw_history

CHECKS: dict[str, Callable[[Result], object]] = {
    "not the skip ring of the definition": Result.wrong_ring,
    "never quiet": Result.restless,
    "undelivered": Result.undelivered,
    "delivered twice": Result.doubled,
    "last row of the trace is false": Result.misnoted,
}


@click.command()
@PARAMETERS
@click.option("--runs", default=1000, show_default=True, help="Random histories.")
@click.option("--seed", default=0, show_default=True, help="Of the histories.")
def main(parameters: dict[str, str], runs: int, seed: int) -> None:
    """Counts the runs in which each property fails."""
    random, failed = Random(seed), Counter[str]()
    for _ in track(range(runs), description="skip-ring", disable=not sys.stderr.isatty()):
        result = carry_out(draw_history(random), parameters)
        failed.update(name for name, find in CHECKS.items() if find(result))
    for name in CHECKS:
        print(f"{name}: {failed[name]} of {runs} runs")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
