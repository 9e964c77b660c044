"""Names the command that makes the runs of a results folder again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from roambus.experiments.measurements.measurements import Measurements
from roambus.experiments.sweeps.description import describe
from roambus.experiments.sweeps.sweep_file import read_sweep


def rerun_command(name: str, measured: Measurements) -> str:
    """`roambus sweep NAME`, with what the results have otherwise than our sweep of that name; raises UserError."""
    asked = describe(read_sweep(name))
    differing = [f"--set {setting}" for setting in _settings(asked, {**asked, **measured.sweep})]
    seeds = [] if measured.seeds == len(asked["seeds"]) else [f"--seeds {measured.seeds}"]
    return " ".join([f"roambus sweep {name}", *differing, *seeds])


def _settings(asked: Mapping[str, Any], done: Mapping[str, Any]) -> Iterator[str]:
    if list(done["agents"]) != list(asked["agents"]):
        yield f"agent={','.join(done['agents'])}"
    for axis, values in done["axes"].items():
        if _texts(values) != _texts(asked["axes"][axis]):
            yield f"{axis}={','.join(_texts(values))}"
    for variable, value in done["set"].items():
        if value != asked["set"].get(variable):
            yield f"{variable}={value}"


def _texts(values: list[Any]) -> list[str]:
    return [str(value) for value in values]
