"""What simulation studies of mobile ad hoc networks should state, item by item.

Items K are those of Kurkowski, Camp and Colagrosso (MANET Simulation Studies: The Incredibles, ACM Mobile Computing and
Communications Review 9(4), 2005): what they found missing in most papers of five years, and the pitfalls that they
name. Items A are those by which artifacts are reviewed and badged (ACM, Artifact Review and Badging, version 1.1). An
item's function returns what is stated; it raises `Missing` with what to do.

Holds results against the checklist: each item is stated, or missing with what to do.

What results tell of themselves: what was asked for, the scenarios of some of their runs, and what lies beside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from roambus.bridge.backends.castalia.endpoint import INI_FILE
from roambus.bridge.backends.ideal.graph import reach_m
from roambus.bridge.errors import UserError
from roambus.bridge.ini import read_scenario
from roambus.bridge.runs.layout import AGENTS, LOG_FILE, METRICS_FOLDER, POINTS, SEEDS, TRACES, count_runs, read_asked
from roambus.bridge.runs.log import Maker, read_maker
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.nodes import MANAGERS, RandomWaypoint
from roambus.experiments.provenance.connectivity import Connectivity, connectivity
from roambus.experiments.provenance.crate import is_crate, read_metadata
from roambus.experiments.studies.study import sweep_folders
from roambus.python_protocol.simtime import SECOND
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


KURKOWSKI, ARTIFACTS = "K", "A"
FEWEST_SEEDS = 2


class MissingError(Exception):
    """An item is not stated; the text says what to do."""


@dataclass(frozen=True, slots=True)
class Item:
    """An item of a checklist: what should be stated, and what finds out whether it is."""

    source: str
    name: str
    find: Callable[[Evidence], str]


def _inis(found: Evidence) -> str:
    if not found.all_inis():
        raise MissingError("some runs have no run.ini beside their trace: make them again")
    return f"run.ini beside each of {len(found.traces)} traces has every parameter, with the agent's"


def _simulator(found: Evidence) -> str:
    if not found.makers:
        raise MissingError(
            "the logs of the runs do not say what made them: make them again, or pack them: roambus crate"
        )
    return "; ".join(sorted({f"{maker.code} ({maker.machine})" for maker in found.makers}))


def _spanned(text: str, of: Callable[[Scenario], float | Sequence[float]]) -> Callable[[Evidence], str]:
    """An item that is a number, or a range of numbers, of the scenarios."""

    def find(found: Evidence) -> str:
        span = found.span(of)
        if span is None:
            raise MissingError("no run.ini is there that could tell")
        least, greatest = (f"{number:g}" for number in span)
        return text.format(least if least == greatest else f"{least} to {greatest}")

    return find


def _reaches(scenario: Scenario) -> list[float]:
    return [round(reach_m(scenario, node), 1) for node in scenario.nodes]


def _mobility(found: Evidence) -> str:
    names = {kind: name for name, kind in MANAGERS.items()}
    kinds = {names.get(type(node.mobility), "") for scenario, _ in found.runs for node in scenario.nodes}
    if not kinds:
        raise MissingError("no run.ini is there that could tell")
    return ", ".join(sorted(filter(None, kinds)))


def _start(found: Evidence) -> str:
    drawn = [
        scenario
        for scenario, _ in found.runs
        if not scenario.warm_up
        and any(isinstance(node.mobility, RandomWaypoint) and node.mobility.first_x < 0 for node in scenario.nodes)
    ]
    if drawn or not found.runs:
        how = "take start=steady where the template has it, or give a warm-up (SN.roambus.warmUp) and state it"
        raise MissingError(f"random waypoint starts outside its steady state, and all of the run counts: {how}")
    return "no random waypoint begins outside its steady state, or the warm-up is left out"


def _traffic(found: Evidence) -> str:
    works = [scenario.workload for scenario, _ in found.runs]
    if not works:
        raise MissingError("no run.ini is there that could tell")
    rates = {f"every {one.interval / SECOND:g} s" for work in works for one in work.publications}
    sizes = {f"{one.payload} bytes" for work in works for one in work.publications}
    return f"publications {', '.join(sorted(rates)) or 'by commands'}; payload {', '.join(sorted(sizes)) or 'none'}"


def _connectivity(found: Evidence) -> str:
    if found.connectivity is None:
        raise MissingError("no trace says where nodes were, as over links that are given")
    hops, pieces = found.connectivity.hops, found.connectivity.in_pieces
    return f"shortest ways of {hops:.2f} hops on average; in pieces at {pieces:.0%} of the moments looked at"


def _seeds(found: Evidence) -> str:
    if not found.asked:
        raise MissingError("there is no sweep.json: make the runs by roambus sweep")
    if any(len(set(seeds)) < len(seeds) for asked in found.asked if (seeds := asked.get(SEEDS))):
        raise MissingError("a seed stands twice in sweep.json")
    return "; ".join(map(", ".join, found.seeds))


def _generators(_: Evidence) -> str:
    return "Mersenne Twister for agents, PCG64 for scenarios, SplitMix64 in the radio; seeded from seed and node"


def _independent(found: Evidence) -> str:
    point, fewest = min(found.runs_of_points.items(), key=lambda one: one[1])
    if fewest < FEWEST_SEEDS:
        name = point.relative_to(found.folder)
        raise MissingError(
            f"of {name} {fewest} runs are there: run the sweep with --seeds 10 to its end, for a single run says little"
        )
    return f"at least {fewest} independent runs of each point are there"


def _intervals(found: Evidence) -> str:
    if found.without_metrics():
        raise MissingError(f"no metrics yet: roambus aggregate {found.without_metrics()[0]}")
    return "metrics/points.csv has the 95 % interval of each mean (Student's t over the seeds)"


def _complete(found: Evidence) -> str:
    lacking = found.lacking()
    if lacking:
        raise MissingError(f"{len(lacking)} runs are not there, such as {lacking[0]}")
    return f"all {len(found.traces)} runs that sweep.json asks for are there" if found.asked else "no sweep.json"


def _protocols(found: Evidence) -> str:
    if not found.agents:
        raise MissingError("there is no sweep.json: make the runs by roambus sweep")
    texts = []
    for label, (reference, parameters) in found.agents.items():
        chosen = " ".join(f"{name}={value}" for name, value in parameters.items())
        texts.append(" ".join(filter(None, (label, f"({reference})" if reference != label else "", chosen))))
    return "; ".join(texts)


def _validated(_: Evidence) -> str:
    return "the radio follows Castalia's, and is held to what Castalia does (docs/radio.md)"


def _of_crate(what: str, field: str) -> Callable[[Evidence], str]:
    """An item that a crate states."""

    def find(found: Evidence) -> str:
        if not found.crate:
            raise MissingError(f"pack the results: roambus crate {found.folder}")
        value = found.crate.get(field)
        if not value:
            raise MissingError(f"the crate does not say: roambus crate --{what}")
        return f"{len(value)} in the crate" if isinstance(value, list) else str(value)

    return find


def _crated(text: str, file: str) -> Callable[[Evidence], str]:
    """An item that is stated if a file is in the crate."""

    def find(found: Evidence) -> str:
        if not (found.crate and (found.folder / file).is_file()):
            raise MissingError(f"pack the results, unpack the crate, and audit that: roambus crate {found.folder}")
        return text

    return find


def _identifier(found: Evidence) -> str:
    identifier = found.crate.get("identifier")
    if not identifier:
        raise MissingError("put the crate into an archive that gives a DOI, such as Zenodo, and cite that")
    return str(identifier)


ITEMS: Sequence[Item] = (
    Item(KURKOWSKI, "simulator, its version, and the system", _simulator),
    Item(KURKOWSKI, "all parameters", _inis),
    Item(KURKOWSKI, "protocols, with what was set of them", _protocols),
    Item(KURKOWSKI, "number of nodes", _spanned("{} nodes", lambda scenario: len(scenario.nodes))),
    Item(KURKOWSKI, "size of the area", _spanned("sides of {} m", lambda scenario: scenario.field_m)),
    Item(KURKOWSKI, "transmission range", _spanned("{} m by the mean path loss", _reaches)),
    Item(KURKOWSKI, "simulated time", _spanned("{} s", lambda scenario: scenario.time_limit / SECOND)),
    Item(KURKOWSKI, "mobility model", _mobility),
    Item(KURKOWSKI, "initialization bias", _start),
    Item(KURKOWSKI, "traffic", _traffic),
    Item(KURKOWSKI, "connectivity of the scenario", _connectivity),
    Item(KURKOWSKI, "validation of the model", _validated),
    Item(KURKOWSKI, "random generators", _generators),
    Item(KURKOWSKI, "seeds", _seeds),
    Item(KURKOWSKI, "independent runs", _independent),
    Item(KURKOWSKI, "confidence intervals", _intervals),
    Item(KURKOWSKI, "completeness: no run left out", _complete),
    Item(ARTIFACTS, "documented: what is where", _crated("README.md in the crate", "README.md")),
    Item(ARTIFACTS, "complete: the code is there", _crated("code/ in the crate", "code/roambus.zip")),
    Item(ARTIFACTS, "environment", _crated("environment/requirements.txt", "environment/requirements.txt")),
    Item(ARTIFACTS, "exercisable: one command", _crated("sh reproduce.sh", "reproduce.sh")),
    Item(ARTIFACTS, "files with checksums", _of_crate("out", "hasPart")),
    Item(ARTIFACTS, "authors", _of_crate("author NAME", "author")),
    Item(ARTIFACTS, "licence", _of_crate("license URL", "license")),
    Item(ARTIFACTS, "available: a persistent identifier", _identifier),
)


@dataclass(frozen=True, slots=True)
class Finding:
    """An item with what is stated, or with what to do because it is not; `source` is the checklist's letter."""

    item: str
    source: str
    is_stated: bool
    words: str


def audit(results: Path) -> list[Finding]:
    """The findings for all items, in their order; raises UserError if there are no results or an ini is damaged."""
    found = Evidence(results)
    found.traces  # noqa: B018  # raises if there is none
    return [_finding(item, found) for item in ITEMS]


def _finding(item: Item, found: Evidence) -> Finding:
    try:
        return Finding(item.name, item.source, True, item.find(found))
    except MissingError as missing:
        return Finding(item.name, item.source, False, str(missing))
