"""What results tell of themselves: what was asked for, the scenarios of some of their runs, and what lies beside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from roambus.bridge.backends.castalia.files import INI_FILE
from roambus.bridge.errors import UserError
from roambus.bridge.ini import read_scenario
from roambus.bridge.runs.layout import (
    AGENTS,
    LOG_FILE,
    METRICS_FOLDER,
    POINTS,
    TRACES,
    count_runs,
    read_asked,
)
from roambus.bridge.runs.log import Maker, read_maker
from roambus.bridge.scenario.scenario import Scenario
from roambus.experiments.provenance.connectivity import Connectivity, connectivity
from roambus.experiments.provenance.unpacked import is_crate, read_metadata
from roambus.experiments.studies.reading import sweep_folders
from roambus.spark.aggregation.traces import examine, find_traces, missing, run_places

MOST_SCENARIOS = 200
"""So many runs are looked at, evenly spread over all."""
MOST_MOVED = 5
"""In so many of them it is worked out how connected the network was, which takes most of the time."""


@dataclass
class Evidence:
    """The results in a folder; what is costly to find out is found out when it is first asked for."""

    folder: Path

    @cached_property
    def sweeps(self) -> list[Path]:
        """The folders of the sweeps."""
        return sweep_folders(self.folder)

    @cached_property
    def traces_of(self) -> dict[Path, list[Path]]:
        """The traces of each sweep's runs; one that is damaged is none."""
        return {sweep: [trace.file for trace in examine(find_traces(sweep))[0]] for sweep in self.sweeps}

    @cached_property
    def traces(self) -> list[Path]:
        """The traces of all runs; raises UserError if there is none."""
        found = [trace for traces in self.traces_of.values() for trace in traces]
        if not found:
            raise UserError(f"{self.folder}: there are no runs in it: give the folder that a sweep wrote (its --out)")
        return found

    @cached_property
    def asked(self) -> list[dict[str, Any]]:
        """What each sweep was asked for, if that is known."""
        return [asked for sweep in self.sweeps if (asked := read_asked(sweep))]

    @cached_property
    def runs(self) -> list[tuple[Scenario, Path]]:
        """Some of the runs with their scenarios: those whose ini is there."""
        step = max(1, len(self.traces) // MOST_SCENARIOS)
        inis = [(trace.with_name(INI_FILE), trace) for trace in self.traces[::step]]
        return [(read_scenario(ini), trace) for ini, trace in inis if ini.is_file()]

    @cached_property
    def connectivity(self) -> Connectivity | None:
        """How connected the networks were."""
        step = max(1, len(self.runs) // MOST_MOVED)
        return connectivity(self.runs[::step][:MOST_MOVED])

    @cached_property
    def makers(self) -> set[Maker]:
        """What the logs say of how the runs were made."""
        logs = (trace.with_name(LOG_FILE) for trace in self.traces)
        texts = (log.read_text(encoding="utf-8", errors="replace") for log in logs if log.is_file())
        return {maker for text in texts if (maker := read_maker(text))}

    @cached_property
    def crate(self) -> dict[str, Any]:
        """What a crate says of the whole; empty if there is none."""
        entities = read_metadata(self.folder) if is_crate(self.folder) else []
        return next((entity for entity in entities if entity.get("@id") == "./"), {})

    @cached_property
    def runs_of_points(self) -> Counter[Path]:
        """How many runs are there in the folder of each point: 0 of one that was asked for and has none."""
        counted = Counter(trace.parent.parent for trace in self.traces)
        for sweep in self.sweeps:
            asked = read_asked(sweep)
            places = run_places(asked) if count_runs(asked) else ()
            counted.update({(sweep / TRACES / place).parent: 0 for place in places})
        return counted

    @property
    def seeds(self) -> list[list[str]]:
        """The seeds of the runs of each sweep that are there."""
        found = ({trace.parent.name.partition("=")[2] for trace in traces} for traces in self.traces_of.values())
        return [sorted(seeds, key=lambda seed: (len(seed), seed)) for seeds in found]

    @property
    def agents(self) -> dict[str, Any]:
        """The agents by their labels, each with its reference and the parameters that were set."""
        return {label: agent for asked in self.asked for label, agent in asked.get(AGENTS, {}).items()}

    def all_inis(self) -> bool:
        """Whether every run has its ini beside its trace."""
        return all(trace.with_name(INI_FILE).is_file() for trace in self.traces)

    def lacking(self) -> list[str]:
        """A line for each run that was asked for and is not there."""
        return [line for sweep in self.sweeps for line in missing(sweep, self.traces_of[sweep])]

    def without_metrics(self) -> list[Path]:
        """The sweeps whose metrics have not been computed."""
        return [sweep for sweep in self.sweeps if not (sweep / METRICS_FOLDER / f"{POINTS}.csv").is_file()]

    def span(self, of: Callable[[Scenario], float | Sequence[float]]) -> tuple[float, float] | None:
        """The least and the greatest of a number, or of several, over the scenarios; None if none is known."""
        values = sorted(number for scenario, _ in self.runs for number in _numbers(of(scenario)))
        return (values[0], values[-1]) if values else None


def _numbers(value: float | Sequence[float]) -> Iterator[float]:
    if isinstance(value, int | float):
        yield value
    else:
        yield from value
