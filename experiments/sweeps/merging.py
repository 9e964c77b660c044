"""Merges the results of several sweeps into a new folder, if they are parts of one experiment.

Their requests may differ in seeds, agents and values of axes; anything else is refused by name. A run that two folders
have must be the same run. Whole runs are copied, and the folders stay as they are.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

from roambus.bridge.runs.layout import (
    AGENTS,
    INPUTS_FOLDER,
    SWEEP_FILE,
    TEMPLATE_HASH,
    TRACE_FILE,
    TRACES,
    find_traces,
    read_asked,
    unlinked,
    unlinked_below,
    writing,
)
from roambus.bridge.system.errors import UserError
from roambus.bridge.trace.parquet import read_footer
from roambus.bridge.trace.schema import DATA_READ, RUN_KEY
from roambus.experiments.sweeps.attempts import PREFIX, new_folder, remove_at_once
from roambus.experiments.sweeps.request_file import differences, is_whole, united


def merge(folders: Sequence[Path], out: Path) -> None:
    """Copy all runs of these folders into `out`, a new one, with their common request; raises UserError, OSError."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UserError(f"--out {out}: it is there already: give a new folder")
    requests = {folder: _request(folder) for folder in folders}
    first = folders[0]
    for folder in folders[1:]:
        _check_fit(first, folder, requests)
    kept = {**_runs(folders), **_inputs(folders)}
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
        _copy(kept, out, reduce(united, requests.values()))


def _request(folder: Path) -> dict[str, Any]:
    request = read_asked(folder)
    if not is_whole(request):
        raise UserError(f"{folder}: it has no {SWEEP_FILE} of a sweep: give the folder that a sweep wrote (its --out)")
    return request


def _check_fit(first: Path, other: Path, requests: Mapping[Path, Mapping[str, Any]]) -> None:
    one, two = requests[first], requests[other]
    agents = {f"agent {label}": (one[AGENTS][label], two[AGENTS][label]) for label in one[AGENTS].keys() & two[AGENTS]}
    if TEMPLATE_HASH in one and TEMPLATE_HASH in two:
        agents["text of the template"] = (one[TEMPLATE_HASH][:12], two[TEMPLATE_HASH][:12])
    own = [(kind, *both) for kind, both in agents.items() if both[0] != both[1]]
    for kind, there, here in (*differences(one, two, first, other), *own):
        allowed = "only seeds, agents and values of axes may differ"
        raise UserError(f"{other}: its {kind} is {here}, and that of {first} is {there}: {allowed}")


def _runs(folders: Sequence[Path]) -> dict[Path, Path]:
    """The folder of each run by its place; raises UserError for two runs at a place."""
    found: dict[Path, Path] = {}
    for folder in folders:
        for trace in find_traces(folder):
            place = trace.parent.relative_to(folder)
            unlinked_below(folder, place / TRACE_FILE)
            other = found.setdefault(place, trace.parent) / TRACE_FILE
            if _made_from(other) != _made_from(trace):
                raise UserError(f"{trace} and {other} are different runs of one place: remove the one you do not want")
    return found


def _made_from(trace: Path) -> tuple[str | None, ...]:
    metadata = read_footer(trace).metadata
    return tuple(map(metadata.get, (RUN_KEY, DATA_READ)))


def _inputs(folders: Sequence[Path]) -> dict[Path, Path]:
    """The folders of the user's templates and sweep files, which are named by their contents."""
    found = (unlinked(folder / INPUTS_FOLDER) for folder in folders)
    return {Path(INPUTS_FOLDER, place.name): place for inputs in found for place in inputs.glob("*") if place.is_dir()}


def _copy(kept: Mapping[Path, Path], out: Path, request: Mapping[str, Any]) -> None:
    unfinished = new_folder(out, PREFIX)
    try:
        for place, folder in kept.items():
            shutil.copytree(folder, unfinished / place, symlinks=True)
        (unfinished / SWEEP_FILE).write_text(f"{json.dumps(request, indent=2)}\n", encoding="utf-8")
        for name in (TRACES, INPUTS_FOLDER, SWEEP_FILE):
            if (unfinished / name).exists():
                (unfinished / name).rename(out / name)
    finally:
        remove_at_once(unfinished)
