"""What simulation studies of mobile ad hoc networks should state, item by item, and whether results state it.

Items K are those of Kurkowski, Camp and Colagrosso (MANET Simulation Studies: The Incredibles, ACM Mobile Computing and
Communications Review 9(4), 2005): what they found missing in most papers of five years, and the pitfalls that they
name. Items A are those by which artifacts are reviewed and badged (ACM, Artifact Review and Badging, version 1.1). An
item's function returns what is stated; it raises `MissingError` with what to do.

Nothing is asked of the user: `Evidence` is what results tell of themselves, by what was asked for, the scenarios of
some of their runs, and what lies beside. What is costly is found out when an item first needs it. How connected the
networks were is among it, because results of well and of badly connected networks say different things. Two nodes count
as linked there if each is within the distance at which the mean path loss leaves the other's sensitivity; fading is
left out, and some moments of some runs are looked at.

The rules:

- An item is stated by the results or not at all: what a paper says beside them is not asked, and cannot be checked.
  Only how the simulator was validated and which generators it has are facts of roambus itself.
- Whoever lacks something is told the command that adds it. That is the text of the `MissingError`.
- No code of an agent is run. A checklist is what a reviewer reads first, of results that are a stranger's.
- Scenarios that stand for all are taken at equal distances, because runs lie sorted by agent, axes and seed: the first
  ones would all be of one agent.
- Runs and seeds are counted that are there, and not those that were planned. A run is there if its trace is sound, and
  the point with the fewest runs decides.
- An item is found out by a function of `Evidence`. Items that are alike are made by one: `_spanned` of numbers that
  scenarios have, `_of_crate` and `_crated` of what a crate says and holds.

An audit sees what is stated. Whether the scenario answers the question that somebody has, it cannot see.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy.sparse.csgraph import shortest_path

from roambus.bridge.backends.ideal.graph import reach_m
from roambus.bridge.errors import UserError
from roambus.bridge.ini import Anything, read_scenario
from roambus.bridge.keys import path_of
from roambus.bridge.runs.layout import (
    AGENTS,
    INI_FILE,
    METRICS_FOLDER,
    POINTS,
    SEEDS,
    TRACES,
    count_runs,
    find_traces,
    read_asked,
)
from roambus.bridge.runs.log import Maker, maker_of
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.network import RunSettings
from roambus.bridge.scenario.nodes import MANAGERS, RandomWaypoint
from roambus.bridge.trace.parquet import read_trace
from roambus.bridge.trace.schema import DETAIL, EVENT, NODE, TIME_S
from roambus.experiments.provenance.crate import is_crate, read_metadata
from roambus.experiments.studies.study import sweep_folders
from roambus.python_protocol.actions import MOVE
from roambus.python_protocol.vocabulary import SECOND
from roambus.spark.aggregation.traces import absent, examine, run_places

MOST_SCENARIOS = 200
"""Runs that are examined, evenly spread over all: for each an ini must be read."""
MOST_MOVED = 5
"""Runs of these for which the connectivity of the network is computed, which takes most of the time.

It takes the traces, and the shortest ways between all pairs of nodes at each moment.
"""


@dataclass
class Evidence:
    """The results in a folder; costly facts are computed when they are first needed.

    Each is found out once, because several items ask for the same. Only an ini that is damaged ends the audit with a
    UserError: from it nothing could be said, and a trace that is damaged is no run.
    """

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
        """The request of each sweep, if known."""
        return [asked for sweep in self.sweeps if (asked := read_asked(sweep))]

    @cached_property
    def runs(self) -> list[tuple[Scenario, Path]]:
        """Some of the runs with their scenarios: those whose ini is there."""
        chosen = self.traces[:: max(1, len(self.traces) // MOST_SCENARIOS)]
        return [
            (read_scenario(ini, Anything()), trace) for trace in chosen if (ini := trace.with_name(INI_FILE)).is_file()
        ]

    @cached_property
    def connectivity(self) -> Connectivity | None:
        """How connected the networks were; None where no trace says where nodes are."""
        return connectivity(self.runs[:: max(1, len(self.runs) // MOST_MOVED)][:MOST_MOVED])

    @cached_property
    def makers(self) -> set[Maker]:
        """What the logs say of how the runs were made."""
        return {maker for trace in self.traces if (maker := maker_of(trace))}

    @cached_property
    def crate(self) -> dict[str, Any]:
        """What a crate says of the whole; empty if there is none."""
        entities = read_metadata(self.folder) if is_crate(self.folder) else []
        return next((entity for entity in entities if entity.get("@id") == "./"), {})

    @cached_property
    def runs_of_points(self) -> Counter[Path]:
        """The number of runs in the folder of each point: 0 for a requested point without runs."""
        counted = Counter(trace.parent.parent for trace in self.traces)
        for sweep in self.sweeps:
            asked = read_asked(sweep)
            places = run_places(asked) if count_runs(asked) else ()
            counted.update({(sweep / TRACES / place).parent: 0 for place in places})
        return counted

    @property
    def seeds(self) -> list[list[str]]:
        """The seeds of the runs of each sweep that are there."""
        seeds = ({trace.parent.name.partition("=")[2] for trace in traces} for traces in self.traces_of.values())
        return [sorted(found, key=lambda seed: (len(seed), seed)) for found in seeds]

    @property
    def agents(self) -> dict[str, Any]:
        """The agents by their labels, each with its reference and the parameters that were set."""
        return {label: agent for asked in self.asked for label, agent in asked.get(AGENTS, {}).items()}

    def scenarios(self) -> list[Scenario]:
        """The scenarios of some of the runs; raises MissingError if there is none."""
        if not self.runs:
            raise MissingError("there is no run.ini that states it")
        return [scenario for scenario, _ in self.runs]


# How connected the networks were

MOMENTS = 10
"""Moments of a run that are examined, evenly spread: each in the middle of its tenth of the run."""


@dataclass(frozen=True, slots=True)
class Connectivity:
    """The mean of the shortest ways between nodes that reach each other (hops), and the share of moments in pieces."""

    hops: float
    in_pieces: float


def connectivity(runs: Iterable[tuple[Scenario, Path]]) -> Connectivity | None:
    """Over some moments of these runs, each with its trace; None where no trace says where nodes are.

    Pairs that do not reach each other have no shortest way. They are left out of the mean, and counted by the share of
    moments at which the network is in pieces: alone, a mean would be short for a network that hardly holds together.
    """
    ways: list[NDArray[np.float64]] = []
    for scenario, trace in runs:
        reaches = np.array([reach_m(scenario, node) for node in scenario.nodes])
        for places in _places(trace, len(scenario.nodes), scenario.time_limit / SECOND):
            # A link needs both directions, so the node that hears less well decides.
            apart = np.hypot(*(places[:, None] - places[None]).T)
            ways.append(shortest_path(apart <= np.minimum(reaches[:, None], reaches[None]), unweighted=True))
    if not ways:
        return None
    hops = [hop for of_moment in ways for hop in of_moment[np.isfinite(of_moment) & (of_moment > 0)]]
    return Connectivity(float(np.mean(hops or 0)), float(np.mean([np.isinf(of_moment).any() for of_moment in ways])))


def _places(trace: Path, nodes: int, end_s: float) -> Iterable[NDArray[np.float64]]:
    """Where the nodes are at each moment: metres[nodes, 2]; none unless all of them say so."""
    rows = read_trace(trace).filter(pc.field(EVENT) == MOVE).select([TIME_S, NODE, DETAIL]).to_pandas()
    if rows[NODE].nunique() < nodes:
        return ()
    moments = (np.arange(MOMENTS) + 0.5) / MOMENTS * end_s
    # A trace tells where a node turns, and in between it goes straight: so places in between are on the line.
    found = np.empty((MOMENTS, nodes, 2))
    for node, moves in rows.groupby(NODE):
        for axis, metres in moves[DETAIL].str.split(expand=True).astype(float).items():
            found[:, node, axis] = np.interp(moments, moves[TIME_S], metres)
    return found


# The items


KURKOWSKI, ARTIFACTS = "K", "A"
FEWEST_SEEDS = 2
"""A single run has no interval. Two have one, which then says itself how little they are."""
GENERATORS = "Mersenne Twister for agents, PCG64 for scenarios, SplitMix64 in the radio; seeded from seed and node"
VALIDATED = "the radio follows Castalia's models, and is compared with Castalia (docs/radio.md)"


class MissingError(Exception):
    """An item is not stated; the text says what to do."""


@dataclass(frozen=True, slots=True)
class Item:
    """An item of a checklist: what should be stated, and what finds out whether it is."""

    source: str
    name: str
    find: Callable[[Evidence], str]


def _inis(found: Evidence) -> str:
    """An ini has every parameter, those that nobody set as well: so it is enough that it is there."""
    if not all(trace.with_name(INI_FILE).is_file() for trace in found.traces):
        raise MissingError("some runs have no run.ini beside their trace: make them again")
    return f"run.ini beside each of {len(found.traces)} traces has every parameter, with the agent's"


def _simulator(found: Evidence) -> str:
    """Every version and machine that made runs of these results: a sweep can be resumed elsewhere."""
    if not found.makers:
        raise MissingError(
            "the logs of the runs do not say what made them: make them again, or pack them: roambus crate"
        )
    return "; ".join(sorted({f"{maker.code} ({maker.machine})" for maker in found.makers}))


def _spanned(text: str, of: Callable[[Scenario], Iterable[float]]) -> Callable[[Evidence], str]:
    """An item that is a number, or a range of numbers, of the scenarios."""

    def find(found: Evidence) -> str:
        numbers = [number for scenario in found.scenarios() for number in of(scenario)]
        least, greatest = (f"{number:g}" for number in (min(numbers), max(numbers)))
        return text.format(least if least == greatest else f"{least} to {greatest}")

    return find


def _mobility(found: Evidence) -> str:
    """The mobility managers of all nodes by the names that an ini has for them."""
    kinds = {type(node.mobility) for scenario in found.scenarios() for node in scenario.nodes}
    return ", ".join(sorted(name for name, kind in MANAGERS.items() if kind in kinds))


def _start(found: Evidence) -> str:
    """The pitfall of random waypoint: nodes that start evenly spread gather in the middle as time goes on.

    A node whose first way-point is given has been drawn from the steady state; else a warm-up has to pass uncounted.
    """
    moving = [(scenario, node.mobility) for scenario, _ in found.runs for node in scenario.nodes]
    if not found.runs or any(
        isinstance(moved, RandomWaypoint) and moved.first_x < 0 and not scenario.warm_up for scenario, moved in moving
    ):
        warm_up = path_of(RunSettings, "warm_up")
        how = f"set start=steady if the template has it, or give a warm-up ({warm_up}) and state it"
        raise MissingError(f"random waypoint starts outside its steady state, and the whole run counts: {how}")
    return "no random waypoint begins outside its steady state, or the warm-up is left out"


def _traffic(found: Evidence) -> str:
    """Publications at intervals. Those that a scenario commands one by one have no interval to be stated."""
    publications = [one for scenario in found.scenarios() for one in scenario.workload.publications]
    rates = {f"every {one.interval / SECOND:g} s" for one in publications}
    sizes = {f"{one.payload} bytes" for one in publications}
    return f"publications {', '.join(sorted(rates)) or 'by commands'}; payload {', '.join(sorted(sizes)) or 'none'}"


def _connectivity(found: Evidence) -> str:
    if found.connectivity is None:
        raise MissingError("no trace has the places of nodes, as over given links")
    hops, pieces = found.connectivity.hops, found.connectivity.in_pieces
    return f"shortest ways of {hops:.2f} hops on average; in pieces at {pieces:.0%} of the examined moments"


def _seeds(found: Evidence) -> str:
    # A seed that is listed twice would count one run as two independent ones, and make intervals too narrow.
    if not found.asked:
        raise MissingError("there is no sweep.json: make the runs by roambus sweep")
    if any(len(set(seeds)) < len(seeds) for asked in found.asked if (seeds := asked.get(SEEDS))):
        raise MissingError("sweep.json has a seed twice")
    return "; ".join(map(", ".join, found.seeds))


def _independent(found: Evidence) -> str:
    # The point with the fewest runs decides: a mean of one run stands in a figure beside means of ten.
    point, fewest = min(found.runs_of_points.items(), key=lambda one: one[1])
    if fewest < FEWEST_SEEDS:
        there = f"of {point.relative_to(found.folder)} {fewest} runs are there"
        raise MissingError(f"{there}: run the sweep with --seeds 10 to its end, for a single run says little")
    return f"at least {fewest} independent runs of each point are there"


def _intervals(found: Evidence) -> str:
    """Whether each sweep has been aggregated: that is what writes intervals."""
    lacking = [sweep for sweep in found.sweeps if not (sweep / METRICS_FOLDER / f"{POINTS}.csv").is_file()]
    if lacking:
        raise MissingError(f"no metrics yet: roambus aggregate {lacking[0]}")
    return "metrics/points.csv has the 95 % interval of each mean (Student's t over the seeds)"


def _complete(found: Evidence) -> str:
    """Runs that were left out could be those that fail, and the rest then shows a better protocol."""
    lacking = [trace for sweep in found.sweeps for trace in absent(sweep, found.traces_of[sweep])]
    if lacking:
        raise MissingError(
            f"{len(lacking)} runs are not there, such as {lacking[0]}: roambus aggregate says what to do"
        )
    return f"all {len(found.traces)} runs that sweep.json lists are there" if found.asked else "no sweep.json"


def _protocols(found: Evidence) -> str:
    """Each agent by its label, by what it is where that is another name, and by what was set of it."""
    if not found.agents:
        raise MissingError("there is no sweep.json: make the runs by roambus sweep")
    return "; ".join(
        " ".join([label, *[f"({use})"] * (use != label), *(f"{name}={value}" for name, value in parameters.items())])
        for label, (use, parameters) in found.agents.items()
    )


def _of_crate(what: str, field: str) -> Callable[[Evidence], str]:
    """An item that a crate states; what it lacks is what `roambus crate` takes under the name `what`."""

    def find(found: Evidence) -> str:
        if not found.crate:
            raise MissingError(f"pack the results: roambus crate {found.folder}")
        if not (value := found.crate.get(field)):
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
    """Only an archive gives one, so no command of roambus can add it."""
    identifier = found.crate.get("identifier")
    if not identifier:
        raise MissingError("put the crate into an archive that gives a DOI, such as Zenodo, and cite that")
    return str(identifier)


ITEMS: Sequence[Item] = (
    Item(KURKOWSKI, "simulator, its version, and the system", _simulator),
    Item(KURKOWSKI, "all parameters", _inis),
    Item(KURKOWSKI, "protocols, with their parameters", _protocols),
    Item(KURKOWSKI, "number of nodes", _spanned("{} nodes", lambda scenario: [len(scenario.nodes)])),
    Item(KURKOWSKI, "size of the area", _spanned("sides of {} m", lambda scenario: scenario.field_m)),
    Item(
        KURKOWSKI,
        "transmission range",
        _spanned(
            "{} m by the mean path loss",
            lambda scenario: [round(reach_m(scenario, node), 1) for node in scenario.nodes],
        ),
    ),
    Item(KURKOWSKI, "simulated time", _spanned("{} s", lambda scenario: [scenario.time_limit / SECOND])),
    Item(KURKOWSKI, "mobility model", _mobility),
    Item(KURKOWSKI, "initialization bias", _start),
    Item(KURKOWSKI, "traffic", _traffic),
    Item(KURKOWSKI, "connectivity of the scenario", _connectivity),
    Item(KURKOWSKI, "validation of the model", lambda _: VALIDATED),
    Item(KURKOWSKI, "random generators", lambda _: GENERATORS),
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
