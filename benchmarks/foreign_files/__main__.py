"""Tries damaged files, bad values and disks without room, at length, and prints what came of it.

python -m benchmarks.foreign_files --files 150 --seed 1 [--only NAME...]

`--files` are for each of the kinds of files. The exit code is 1 if anything was not as promised.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.foreign_files.files import try_files
from benchmarks.foreign_files.judged import HEAD, Tally
from benchmarks.foreign_files.subjects import lay, subjects
from roambus.spark.engine.session import spark_session


def main(arguments: Sequence[str] | None = None) -> int:
    """Tries what the command line asks for; 1 if anything was not as promised."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", metavar="NAME")
    asked = parser.parse_args(arguments)
    chosen = [subject for subject in subjects() if not asked.only or subject.name in asked.only]
    with spark_session("local[1]"), tempfile.TemporaryDirectory() as folder:
        lay(Path(folder))
        tallies = try_files(Path(folder), chosen, asked.files, asked.seed)
    return report(tallies)


def report(tallies: Mapping[str, Tally]) -> int:
    """Prints the table, and each kind of fault with the first of it; 1 if there is any."""
    print(HEAD)
    for name, tally in tallies.items():
        print(tally.row(name))
    faults = [fault for tally in tallies.values() for fault in tally.faults]
    kinds = Counter(fault.partition(": ")[2] for fault in faults)
    for kind, count in kinds.most_common():
        first = next(fault for fault in faults if fault.endswith(kind)).partition(":")[0]
        print(f"  {count} times, first {first}: {kind}")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
