"""What simulation studies of mobile ad hoc networks should state, item by item.

Items K are those of Kurkowski, Camp and Colagrosso (MANET Simulation Studies: The Incredibles, ACM Mobile Computing and
Communications Review 9(4), 2005): what they found missing in most papers of five years, and the pitfalls that they
name. Items A are those by which artifacts are reviewed and badged (ACM, Artifact Review and Badging, version 1.1). An
item's function returns what is stated; it raises `Missing` with what to do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from roambus.bridge.backends.ideal.unit_disk import reach_m
from roambus.bridge.runs.layout import SEEDS
from roambus.bridge.scenario.mobility import MANAGERS, RandomWaypoint
from roambus.bridge.scenario.scenario import Scenario
from roambus.experiments.provenance.evidence import Evidence
from roambus.python_protocol.simtime import SECOND

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
