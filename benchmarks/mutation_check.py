"""Breaks each handler of each protocol in turn, and tells which test notices it, and what nothing notices.

python -m benchmarks.mutation_check
python -m benchmarks.mutation_check --protocol simple --protocol link --workers 1
python -m benchmarks.mutation_check --write build/mutations.md

Broken are the methods in the handler tables and all that they are made of, in each way that
`benchmarks.mutations.operators` knows. A mutant is noticed if a test of its protocol fails, dies or does not end. The
exit code is 1 if one is not noticed, unless `equivalent.toml` says why it cannot be; and 2 if nothing can be concluded.

There are libraries for this. mutmut's operators are fixed: none empties a method or knows hops. cosmic-ray takes
operators of one's own, but starts pytest again for each mutant, whose imports take several times as long as the tests
that notice most of them.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import track

from benchmarks.mutations.child import UnsoundError
from benchmarks.mutations.equivalents import key, read_equivalents
from benchmarks.mutations.listing import table, write_list
from benchmarks.mutations.targets import PROTOCOLS, Mutant, Protocol, mutants
from benchmarks.mutations.trial import Verdict, Workshop, load_libraries

ROOT = Path(__file__).resolve().parent.parent
_workshop: Workshop
"""A worker's."""


def run(chosen: Sequence[Mutant], workers: int, console: Console) -> Iterator[Verdict]:
    """Tries each mutant, in their order; raises UnsoundError if the tests fail with nothing broken."""
    protocols = [one for one in PROTOCOLS if any(mutant.protocol == one.name for mutant in chosen)]
    names = [protocol.name for protocol in protocols]
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder, _pool(Path(folder), workers) as pool:
        measured = track(pool.map(_check_unbroken, protocols), "unbroken", len(protocols), console=console)
        limits = dict(zip(names, measured, strict=True))
        verdicts = pool.map(_try_out, chosen, [limits[mutant.protocol] for mutant in chosen])
        yield from track(verdicts, "mutants", len(chosen), console=console)


def report(verdicts: Sequence[Verdict], console: Console) -> int:
    """Prints what became of them; returns the exit code: 1 if a mutant lives that should not, or the reverse."""
    reasons = read_equivalents()
    console.print(table(verdicts, reasons))
    survivors = [one for one in verdicts if one.noticed_by is None and key(one.mutant) not in reasons]
    wrong = [one for one in verdicts if one.noticed_by is not None and key(one.mutant) in reasons]
    for text, ones in (("not noticed", survivors), ("in equivalent.toml, but noticed", wrong)):
        for mutant, noticed_by in ones:
            place = f"{mutant.module}:{mutant.line}, {mutant.method}: {mutant.what}"
            console.print(f"{text}: {place} {noticed_by or ''}", markup=False, highlight=False, soft_wrap=True)
    noticed = sum(one.noticed_by is not None for one in verdicts)
    same = len(verdicts) - noticed - len(survivors)
    console.print(f"{len(verdicts)} mutants: {noticed} noticed, {same} the same, {len(survivors)} not noticed")
    return 1 if survivors or wrong else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit code: 0, 1 if a mutant was not noticed, or 2 if nothing can be concluded."""
    asked = _parser().parse_args(arguments)
    chosen = [mutant for mutant in mutants(ROOT) if mutant.protocol in (asked.protocol or {mutant.protocol})]
    console = Console()
    try:
        verdicts = list(run(chosen, asked.workers, console))
        if asked.write is not None:
            write_list(asked.write, verdicts, read_equivalents())
    except (UnsoundError, OSError) as error:
        print(f"mutation_check: {error}", file=sys.stderr)
        return 2
    return report(verdicts, console)


@contextmanager
def _pool(folder: Path, workers: int) -> Iterator[ProcessPoolExecutor]:
    """Workers with a copy each; they are new processes, for this one has imported too much."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context, _prepare, (folder,)) as pool:
        try:
            yield pool
        finally:
            pool.shutdown(cancel_futures=True)


def _prepare(folder: Path) -> None:
    global _workshop  # noqa: PLW0603  # a process of the pool has no other place for its state
    load_libraries()
    _workshop = Workshop(ROOT, folder / str(os.getpid()))


def _check_unbroken(protocol: Protocol) -> list[int]:
    return _workshop.check_unbroken(protocol)


def _try_out(mutant: Mutant, limits_s: Sequence[int]) -> Verdict:
    return _workshop.look(mutant, limits_s)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.mutation_check",
        description="Breaks each handler in turn, and tells which test notices it.",
        epilog="example: python -m benchmarks.mutation_check --protocol simple",
    )
    names = [protocol.name for protocol in PROTOCOLS]
    parser.add_argument("--protocol", action="append", choices=names, help="default: all")
    parser.add_argument("--workers", type=int, default=2, help="processes (default: 2)")
    parser.add_argument("--write", type=Path, metavar="FILE", help="also write the list, such as build/mutations.md")
    return parser


if __name__ == "__main__":
    sys.exit(main())
