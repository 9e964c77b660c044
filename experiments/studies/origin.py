"""Finds the study and the sweep that results are of, by what their `sweep.json` says.

Results name both. Those that an earlier version of roambus made name neither: they are taken for results of the sweep
with the same template and axes, and of several such sweeps for the one that their folder is called like, or the first.
Earlier versions wrote underscores where names of templates and sweeps have hyphens today.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from roambus.bridge.errors import UserError
from roambus.bridge.runs.layout import STUDY, SWEEP
from roambus.experiments.shipped import shipped_studies
from roambus.experiments.studies.registry import load_study
from roambus.experiments.studies.study import Study, StudySweep


@dataclass(frozen=True, slots=True)
class Origin:
    """A study, and the one of its sweeps that results are of, or like."""

    study: Study
    sweep: StudySweep


def find_origin(description: Mapping[str, Any], folder: str, own: Study | None = None) -> Origin | None:
    """The origin of results with this `sweep.json` in a folder of that name; None if they are of no study.

    `own` is the study that they are of, if it is none of ours. Raises UserError if none of its sweeps made them.
    """
    if not description:
        return Origin(own, own.sweeps[0]) if own and len(own.sweeps) == 1 else None
    candidates = list(_recorded(description, own) if SWEEP in description else _alike(description, own))
    chosen = next((one for one in candidates if _modern(folder) == one.sweep.name), None)
    found = chosen or next(iter(candidates), None)
    if own and found is None:
        sweep = description.get(SWEEP) or folder
        raise UserError(f"results {sweep!r} are not of study {own.name!r}, whose sweeps are {_names(own)}")
    return found


def _recorded(description: Mapping[str, Any], own: Study | None) -> Iterator[Origin]:
    """The sweep that results name; a study of the user's own is not asked for its name, which may have changed."""
    name = description.get(STUDY)
    study = own or (load_study(name) if name in shipped_studies() else None)
    if study:
        named = description[SWEEP]
        yield from (Origin(study, sweep) for sweep in study.sweeps if named in (sweep.name, *sweep.alike))


def _alike(description: Mapping[str, Any], own: Study | None) -> Iterator[Origin]:
    """The sweeps that have the template and the axes of results which name no sweep."""
    template, axes = _modern(str(description.get("template", ""))), list(description.get("axes", {}))
    for study in [own] if own else map(load_study, shipped_studies()):
        for sweep in study.sweeps:
            if _modern(sweep.asked.template.name) == template and [axis.name for axis in sweep.asked.axes] == axes:
                yield Origin(study, sweep)


def _modern(name: str) -> str:
    """The name as it is written today."""
    return name.replace("_", "-")


def _names(study: Study) -> str:
    return ", ".join(sweep.name for sweep in study.sweeps)
