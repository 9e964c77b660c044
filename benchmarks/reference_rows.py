"""Whether a Castalia that is there is the one of the reference: every row of its files again, with the row's own seed.

python -m benchmarks.reference_rows DIR

Reads the files that `benchmarks.radio_fidelity` reads; every count must be the row's. That says more than a mean inside
its bounds, but only of the same Castalia: one that draws its random numbers in another order may be just as right and
agree in no row. Castalia is found through OMNETPP_ROOT and CASTALIA_ROOT.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.radio_fidelity import BACKENDS, ReferenceFile, Row, files_in, read_row
from roambus.bridge.system.errors import RoambusError


def read_rows(path: Path, file: ReferenceFile) -> Iterator[tuple[int, Row]]:
    """Each row with its line; one without a seed has seed 0. Raises UserError naming file and line."""
    with path.open(newline="", encoding="utf-8") as text:
        reader = csv.DictReader(text)
        names = (*file.keys, "seed", *file.columns)
        for row in reader:
            yield reader.line_num, read_row(path, reader.line_num, {"seed": "0", **row}, names)


def differences(file: ReferenceFile, row: Row) -> list[str]:
    """The columns in which a run of today differs, with both values."""
    counts = file.run(BACKENDS["castalia"], tuple(row[key] for key in file.keys), int(row["seed"]))
    return [
        f"{name} {row[name]:g}, now {counts[name]:g}" for name in file.columns if not _same(row[name], counts[name])
    ]


def _same(then: float, now: float) -> bool:
    return then == now or (math.isnan(then) and math.isnan(now))


def check_file(path: Path, file: ReferenceFile) -> int:
    """Prints each row that differs, and how many are equal; returns how many differ."""
    rows, different = 0, 0
    for line, row in read_rows(path, file):
        rows += 1
        print(f"\r{file.name} {rows}", end="", file=sys.stderr, flush=True)
        if found := differences(file, row):
            different += 1
            print(f"{file.name}:{line}: {'; '.join(found)}")
    print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    print(f"{file.name}: {rows - different} of {rows} rows are equal", flush=True)
    return different


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit code: 0, 1 if any row differs, 2 for a user's error."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reference_rows", description=__doc__)
    parser.add_argument("folder", metavar="DIR", type=Path, help="folder with any of the reference's CSV files")
    folder = parser.parse_args(arguments).folder
    try:
        return int(sum(check_file(folder / file.name, file) for file in files_in(folder)) > 0)
    except (RoambusError, OSError) as error:
        print(f"reference_rows: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
