"""Tries damaged files, bad values and processes without room, at length, and prints what came of it.

python -m benchmarks.foreign_files --files 140 --seed 1 [--only NAME...]

`--files` are for each of the kinds of files, which `--only` narrows; `--every N` takes each N-th of the command lines,
0 none; `--sizes` are the bytes that a file may have where there is no room. The exit code is 1 if anything was not as
promised.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import chdir
from pathlib import Path

from benchmarks.foreign_files.files import try_files
from benchmarks.foreign_files.judged import HEAD, Tally
from benchmarks.foreign_files.room import try_sizes
from benchmarks.foreign_files.subjects import RUN, lay, subjects
from benchmarks.foreign_files.values import lines, try_lines
from roambus.spark.engine.session import spark_session


def main(arguments: Sequence[str] | None = None) -> int:
    """Tries what the command line asks for; 1 if anything was not as promised."""
    asked = _parser().parse_args(arguments)
    chosen = [subject for subject in subjects() if not asked.only or subject.name in asked.only]
    with spark_session("local[1]"), tempfile.TemporaryDirectory() as folder:
        lay(Path(folder))
        print(HEAD)
        tallies = try_files(Path(folder), chosen, asked.files, asked.seed)
        if asked.every:
            tallies["bad values"] = _try_values(asked.every)
        if asked.sizes:
            tallies["no room"] = _try_room(Path(folder), asked.sizes)
    return report(tallies)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=140)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", metavar="NAME")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--sizes", type=int, nargs="*", default=(0, 1, 600, 5000))
    return parser


def _try_values(every: int) -> Tally:
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        tally = try_lines(list(lines(Path(folder)))[::every])
    print(tally.row("bad values"), flush=True)
    return tally


def _try_room(results: Path, sizes: Sequence[int]) -> Tally:
    with tempfile.TemporaryDirectory() as folder:
        tally = try_sizes(results, results / RUN, Path(folder), sizes)
    print(tally.row("no room"), flush=True)
    return tally


def report(tallies: Mapping[str, Tally]) -> int:
    """Prints each kind of fault with the first of it; 1 if there is any."""
    faults = [fault for tally in tallies.values() for fault in tally.faults]
    kinds = Counter(fault.partition(": ")[2] for fault in faults)
    for kind, count in kinds.most_common():
        first = next(fault for fault in faults if fault.endswith(kind)).partition(":")[0]
        print(os.fsencode(f"  {count} times, first {first}: {kind}").decode(errors="backslashreplace"))
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
