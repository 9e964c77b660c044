"""Writes `sweep.json`, which says what the sweep in a results folder was asked for.

It names the study and the sweep, so that whoever reads the results knows which figures and claims are theirs, and it
has the template, the fixed values, the axes, the agents and the seeds. A second sweep into the same folder must fit
what is there, so that no two sweeps are mixed by mistake; then it adds its agents, values and seeds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from roambus.bridge.errors import UserError
from roambus.bridge.runs.layout import (
    AGENTS,
    AXES,
    MORE_SEEDS,
    PRECISION,
    SEEDS,
    SET,
    STUDY,
    SWEEP,
    SWEEP_FILE,
    TEMPLATE,
    TRACES,
    read_asked,
)
from roambus.bridge.runs.run import errors_named
from roambus.bridge.unfinished_file import UnfinishedFile, remove_unfinished
from roambus.experiments.sweeps.sweep import Sweep
from roambus.experiments.sweeps.workspace import locked

_NEEDED = {TEMPLATE, SET, AXES, AGENTS, SEEDS}


def describe(sweep: Sweep) -> dict[str, Any]:
    """The sweep as it is written to `sweep.json`."""
    return {
        STUDY: sweep.study,
        SWEEP: sweep.name,
        TEMPLATE: sweep.template.name,
        SET: dict(sweep.fixed),
        AXES: {axis.name: list(axis.values) for axis in sweep.axes},
        AGENTS: {choice.label: [choice.agent, dict(choice.parameters)] for choice in sweep.agents},
        SEEDS: list(sweep.seeds),
        **({MORE_SEEDS: dict(sweep.more_seeds)} if sweep.more_seeds else {}),
        **({PRECISION: sweep.precision} if sweep.precision else {}),
    }


@contextmanager
def opened_results(sweep: Sweep, results: Path) -> Iterator[None]:
    """Makes the folder, or checks that what it holds fits the sweep; raises UserError, OSError.

    It fits if template, fixed values and names of the axes are the same: then more agents, values or seeds are added.
    If everything fails, nothing of it is left.
    """
    created, is_first = not results.exists(), not (results / SWEEP_FILE).exists()
    results.mkdir(parents=True, exist_ok=True)
    with locked(results):
        remove_unfinished(results / SWEEP_FILE)
        description = _merge_with_old(describe(sweep), results)
        with _removed_if_empty(results, is_first, created):
            _write_description(description, results)
    with _removed_if_empty(results, is_first, created):
        yield


def _merge_with_old(new: dict[str, Any], results: Path) -> dict[str, Any]:
    file = results / SWEEP_FILE
    if not file.is_file():
        return new
    old = _read_own(file)
    _check_fit(old, new, results)
    return _merge(old, new)


def _write_description(description: dict[str, Any], results: Path) -> None:
    file = results / SWEEP_FILE
    with errors_named(file), UnfinishedFile(file) as unfinished:
        unfinished.file.write(f"{json.dumps(description, indent=2)}\n".encode())
        unfinished.finish()


def _read_own(file: Path) -> dict[str, Any]:
    old = read_asked(file.parent)
    if old.keys() - {STUDY, SWEEP, MORE_SEEDS, PRECISION} != _NEEDED:
        raise UserError(f"{file}: not written by roambus, or damaged: remove it, or choose another --out")
    return old


@contextmanager
def _removed_if_empty(results: Path, is_first: bool, created: bool) -> Iterator[None]:
    """Takes away again what is written for the first sweep in the folder; others may rely on what was there before."""
    try:
        yield
    except BaseException:
        if is_first and not (results / TRACES).exists():
            with suppress(OSError):
                (results / SWEEP_FILE).unlink(missing_ok=True)
                if created:
                    results.rmdir()
        raise


def _check_fit(old: dict[str, Any], new: dict[str, Any], results: Path) -> None:
    for key in (TEMPLATE, SET):
        if old[key] != new[key]:
            raise UserError(f"{results} holds runs with {key} {old[key]}, not {new[key]}: choose another --out")
    if list(old[AXES]) != list(new[AXES]):
        problem = f"with axes {', '.join(old[AXES]) or 'none'}, not {', '.join(new[AXES]) or 'none'}"
        raise UserError(f"{results} holds runs {problem}: choose another --out")


def _merge(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    axes = {name: list(dict.fromkeys([*values, *new[AXES][name]])) for name, values in old[AXES].items()}
    agents, seeds = {**old[AGENTS], **new[AGENTS]}, sorted({*old[SEEDS], *new[SEEDS]})
    origin = {key: old.get(key, new[key]) for key in (STUDY, SWEEP)}
    merged = {**new, **origin, AXES: axes, AGENTS: agents, SEEDS: seeds}
    if more := _most_of_each(old.get(MORE_SEEDS, {}), new.get(MORE_SEEDS, {})):
        merged[MORE_SEEDS] = more
    if precision := new.get(PRECISION, old.get(PRECISION)):
        merged[PRECISION] = precision
    return merged


def _most_of_each(old: dict[str, int], new: dict[str, int]) -> dict[str, int]:
    return {point: max(old.get(point, 0), new.get(point, 0)) for point in old | new}
