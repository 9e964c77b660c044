"""Holds groups of runs to Castalia: runs them on both back-ends, and says which metrics are outside."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter

from benchmarks.hardware.bursts import FACTORIES
from benchmarks.radio_fidelity import Comparison, compare
from roambus.bridge.system.errors import RoambusError

Rows = list[dict[str, float]]
"""The metrics of each run."""


def check(groups: Iterable[str], known: Sequence[str], metrics: Sequence[str], run: Callable[[str, str], Rows]) -> int:
    """Runs and prints the groups; returns how many metrics are outside. Raises what `run` does.

    `run` gives the runs of a group on a back-end. Intervals are corrected for all groups that are `known`.
    """
    outside = 0
    for name in groups:
        rows = {backend: run(name, backend) for backend in FACTORIES}
        for metric in metrics:
            comparison = compare(rows["castalia"], rows["radio"], itemgetter(metric), len(known) * len(metrics))
            widths = max(map(len, known)), max(map(len, metrics))
            print(_line(f"{name:<{widths[0]}}  {metric:<{widths[1]}}", comparison), flush=True)
            outside += not comparison.inside
    return outside


def _line(what: str, comparison: Comparison) -> str:
    apart = f"difference {comparison.ours - comparison.castalia:+.4f} of {comparison.margin:.4f}"
    verdict = "inside" if comparison.inside else "OUTSIDE"
    return f"{what}  Castalia {comparison.castalia:9.4f}  ours {comparison.ours:9.4f}  {apart}  {verdict}"


def exit_code(program: str, checked: Callable[[], int]) -> int:
    """Says how many metrics are outside: 0, 1 if any is, 2 for a user's error."""
    try:
        outside = checked()
    except (RoambusError, OSError) as error:
        print(f"{program}: {error}", file=sys.stderr)
        return 2
    print(f"{outside} metrics outside" if outside else "all metrics inside")
    return int(outside > 0)
