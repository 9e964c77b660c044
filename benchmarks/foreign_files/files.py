"""Gives damaged files to everything that reads them, and counts what comes of it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from random import Random

from benchmarks.foreign_files.damage import damage
from benchmarks.foreign_files.judged import Tally, judge
from benchmarks.foreign_files.subjects import Subject, damaged


def try_files(folder: Path, subjects: Iterable[Subject], files: int, seed: int) -> dict[str, Tally]:
    """Damages each subject `files` times in the results in `folder`, and has all its readers read each.

    The same seed gives the same files. A line is printed for each subject as soon as it has been tried.
    """
    tallies = {}
    for subject in subjects:
        tallies[subject.name] = _try(folder, subject, files, seed)
        print(tallies[subject.name].row(subject.name), flush=True)
    return tallies


def _try(folder: Path, subject: Subject, files: int, seed: int) -> Tally:
    for reader in subject.readers:
        reader(folder)  # undamaged, everything works: what is refused below is refused for its damage
    tally, random = Tally(), Random(f"{subject.name}/{seed}")
    file = sorted(folder.glob(subject.file))[0]
    whole = file.read_bytes()
    for number in range(files):
        with damaged(file, random.choice((damage, subject.forge))(whole, random)):
            for position, reader in enumerate(subject.readers):
                judge(partial(reader, folder), tally, f"{subject.name} {seed}/{number}/{position}")
    return tally
