"""Whether BuildRing alone makes the sorted ring of random weakly connected starts, without a supervisor.

python -m benchmarks.lone_rings --runs 10000
python -m benchmarks.lone_rings --runs 10000 --false-labels
python -m benchmarks.lone_rings --runs 1000 --wound
python -m benchmarks.lone_rings --runs 1000 --wound --no-probes

Each run has 2 to 12 nodes, and messages that take up to a time between 1 ms and 2 s, with rounds of 1 s; those of one
node to another can overtake each other. Exits with 1 if a run does not have the ring after 150 rounds, or does not keep
it.
"""

from __future__ import annotations

import sys
from random import Random

import click
from rich.progress import track

from roambus.extensions.skip_ring.labels import label_of
from roambus.extensions.skip_ring.tests.rings import Network, Start, draw_delay, draw_start, with_false_labels, wound

_LEAST_IN_A_LIST = 2


@click.command()
@click.option("--runs", default=1000, show_default=True, help="Random starts.")
@click.option("--seed", default=0, show_default=True, help="Of the starts.")
@click.option("--false-labels", is_flag=True, help="References with false labels, too.")
@click.option("--wound", "is_wound", is_flag=True, help="Rings that wind several times about the circle.")
@click.option("--no-probes", is_flag=True, help="Without the parameter probe_ends.")
def main(runs: int, seed: int, false_labels: bool, is_wound: bool, no_probes: bool) -> None:
    """Counts the starts from which the ring is not made."""
    random, failed, slowest = Random(seed), 0, 0
    for _ in track(range(runs), description="BuildRing", disable=not sys.stderr.isatty()):
        start = draw_wound(random) if is_wound else draw_start(random)
        if false_labels:
            start = with_false_labels(random, start)
        rounds = Network(start, random, draw_delay(random), probe_ends=not no_probes).rounds_to_settle()
        failed += rounds is None
        slowest = max(slowest, rounds or 0)
    print(f"no sorted ring: {failed} of {runs} starts; the others have it after at most {slowest} rounds")
    sys.exit(failed > 0)


def draw_wound(random: Random) -> Start:
    """Two or three times about the circle, with at least two nodes each time."""
    times = random.choice((2, 3))
    nodes = random.randint(_LEAST_IN_A_LIST * times, 12)
    return wound([label_of(number) for number in random.sample(range(48), nodes)], times)


if __name__ == "__main__":
    main()
