"""A sweep's traces, existing and missing.

Aggregation identifies traces by place, size and time, unopened; executors read the footers.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from stat import S_ISREG
from typing import Any

from roambus.bridge.runs.layout import (
    AGENT,
    AGENTS,
    FAILED_FILE,
    LACKING,
    LOG_FILE,
    SEED,
    SEEDS,
    TRACE_FILE,
    TRACES,
    axes_of,
    count_runs,
    further_runs,
    read_asked,
    run_name,
)
from roambus.bridge.system.errors import UserError
from roambus.bridge.system.printed import escaped

MOST_NAMED = 1000
"""The most missing runs that are named."""
REMEDY = "run the sweep again to repeat it"
_FORMULAS, _NUMBER = ("=", "+", "-", "@", "\t", "\r"), re.compile(r"[-+]?[0-9.]+([eE][-+]?[0-9]+)?[^\W\d_]*")
"""The beginnings of a spreadsheet's formula, and numbers with or without a unit, which begin alike."""


@dataclass(frozen=True, slots=True)
class Trace:
    """A trace file as listed; `run` is the run's place."""

    file: Path
    run: str
    size: int
    modified_ns: int


MADE_OF = "roambus.traces"
"""Names the fingerprint of the traces that a table was made of, in its metadata."""


def fingerprint(files: Iterable[Path]) -> str:
    """Return a digest of the traces' places and sizes, which copies keep; empty without any."""
    sizes = [f"{run_name(file)}\0{file.stat().st_size}" for file in files if file.is_file()]
    return sha256("\n".join(sorted(sizes)).encode(errors="surrogateescape")).hexdigest() if sizes else ""


def list_traces(files: Sequence[Path]) -> tuple[list[Trace], dict[Path, str]]:
    """Return unopened traces, and a line for each unusable file."""
    traces, problems = [], {}
    for file in files:
        try:
            status = file.stat()
            if not S_ISREG(status.st_mode):
                problems[file] = f"{file}: damaged (it is not a file): {REMEDY}"
                continue
            _refuse_control(file)
            _refuse_formulas(file)
            run_name(file).encode()  # Python has stand-ins for bytes that are not UTF-8, and Arrow has not
            traces.append(Trace(file, run_name(file), status.st_size, status.st_mtime_ns))
        except UnicodeEncodeError:
            problems[file] = f"{file}: the name of a folder is not UTF-8: rename it"
        except UserError as error:
            problems[file] = str(error)
        except OSError as error:
            problems[file] = f"{file}: {error.strerror or error}: {REMEDY}"
    return traces, problems


def _refuse_control(file: Path) -> None:
    """Tables and figures print names of folders, and a stranger's may have escape sequences."""
    if escaped(run_name(file)) != run_name(file) or not {"\n", "\t"}.isdisjoint(run_name(file)):
        raise UserError(f"{file}: the name of a folder has control characters: remove or rename it")


def _refuse_formulas(file: Path) -> None:
    for text in (text for part in run_name(file).split("/") for text in part.split("=", 1)):
        if text.startswith(_FORMULAS) and text != LACKING and not _NUMBER.fullmatch(text):
            raise UserError(f"{file}: in tables {text!r} would be a formula: remove or rename its folder")


def missing(results: Path, found: Sequence[Path], again: str = "the same sweep") -> list[str]:
    """Return a line for each failed run, and one for the rest."""
    gone = list(absent(results, found))
    # By a function that answers no for names that no file can have, such as of a seed with hundreds of digits.
    failed = [trace for trace in gone if os.path.isfile(trace.with_name(FAILED_FILE))]  # noqa: PTH113
    tried = set(failed)
    never = [trace for trace in gone if trace not in tried]
    lines = [
        f"{trace}: missing: it failed (see {trace.with_name(LOG_FILE)}): correct that, "
        "then run the sweep again with --retry-failed"
        for trace in failed[:MOST_NAMED]
    ]
    if len(failed) > MOST_NAMED:
        lines.append(f"{len(failed) - MOST_NAMED} more runs are missing that failed")
    if never:
        which = "1 run is" if len(never) == 1 else f"{len(never)} runs are"
        lines.append(f"{results}: {which} missing, such as {never[0].parent}: {again} adds what is missing")
    return lines


def absent(results: Path, found: Sequence[Path]) -> Iterator[Path]:
    """Return requested traces (`sweep.json`) that the folder lacks."""
    asked = read_asked(results)
    there = set(found)
    for place in run_places(asked) if count_runs(asked) else ():
        if (trace := results / TRACES / place / TRACE_FILE) not in there:
            yield trace


def run_places(asked: Mapping[str, Any]) -> Iterator[str]:
    """Return a request's runs' places below the traces."""
    for agent in asked[AGENTS]:
        levels = {AGENT: [agent], **axes_of(asked, agent), SEED: asked[SEEDS]}
        named = [[f"{name}={value}" for value in values] for name, values in levels.items()]
        yield from map("/".join, itertools.product(*named))
    yield from (f"{point}/{SEED}={seed}" for point, seed in further_runs(asked))
