"""What is broken, and which tests must notice it, fastest first."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from benchmarks.mutations.methods import checked
from benchmarks.mutations.operators import breakages

_TESTS = "tests/python_protocol"
_SCENARIOS = "tests/test_scenarios.py"
_BROKERS = (f"{_TESTS}/brokers",)
_MOVING = f"{_TESTS}/papers/first_approach/test_moving_trees.py"


@dataclass(frozen=True, slots=True)
class Protocol:
    """A protocol's modules and tests: files or folders below the root. `slow` tests run if no other has failed."""

    name: str
    modules: tuple[str, ...]
    tests: tuple[str, ...]
    slow: tuple[str, ...]


PROTOCOLS = (
    Protocol("simple", ("python_protocol/papers/simple.py",), (f"{_TESTS}/papers/simple",), (*_BROKERS, _SCENARIOS)),
    Protocol(
        "resubscribing",
        ("python_protocol/papers/resubscribing.py",),
        (f"{_TESTS}/papers/resubscribing",),
        _BROKERS,
    ),
    Protocol("phoenix", ("python_protocol/papers/phoenix",), (f"{_TESTS}/papers/phoenix",), (*_BROKERS, _SCENARIOS)),
    Protocol(
        "first-approach",
        ("python_protocol/papers/first_approach.py",),
        (f"{_TESTS}/papers/first_approach",),
        (*_BROKERS, _SCENARIOS, _MOVING),
    ),
    Protocol("mft", ("python_protocol/mft",), (f"{_TESTS}/mft",), (*_BROKERS, _SCENARIOS, _MOVING)),
    Protocol("caching", ("python_protocol/papers/caching",), (f"{_TESTS}/papers/caching",), (*_BROKERS, _SCENARIOS)),
    Protocol("replicated", ("python_protocol/papers/replicated",), (f"{_TESTS}/papers/replicated",), (_SCENARIOS,)),
    Protocol("skip-ring", ("python_protocol/papers/skip_ring",), (f"{_TESTS}/papers/skip_ring",), (_SCENARIOS,)),
    Protocol("aodv", ("python_protocol/aodv",), (f"{_TESTS}/aodv",), (_SCENARIOS,)),
    Protocol(
        "election",
        (
            "python_protocol/parts/election",
            "python_protocol/parts/election/algorithm.py",
        ),
        (
            *(f"{_TESTS}/parts/election/test_{one}.py" for one in ("leaders", "relay", "tree", "time_out")),
            f"{_TESTS}/brokers/test_given_tree.py",
        ),
        (f"{_TESTS}/parts/election/test_network.py", _SCENARIOS),
    ),
    Protocol(
        "digest", ("python_protocol/parts/digest.py",), (f"{_TESTS}/parts/test_digest.py",), (_SCENARIOS, _MOVING)
    ),
    Protocol(
        "brokers",
        ("python_protocol/brokers",),
        (*_BROKERS, *(f"{_TESTS}/{one}" for one in ("papers/simple", "papers/first_approach", "mft"))),
        (f"{_TESTS}/papers/phoenix", _SCENARIOS, _MOVING),
    ),
    Protocol(
        "baselines",
        ("python_protocol/baselines.py",),
        tuple(f"{_TESTS}/test_{name}.py" for name in ("beacon", "flooding", "gossip")),
        (),
    ),
    Protocol("lean", ("python_protocol/lean",), (f"{_TESTS}/lean",), (_SCENARIOS,)),
    Protocol(
        "routing",
        ("python_protocol/routing", "python_protocol/routing/dsr", "python_protocol/routing/olsr"),
        (f"{_TESTS}/routing",),
        (_SCENARIOS,),
    ),
    Protocol("opportunistic", ("python_protocol/opportunistic",), (f"{_TESTS}/opportunistic",), ()),
    Protocol(
        "link",
        ("python_protocol/parts/link.py",),
        (f"{_TESTS}/parts/test_link.py",),
        (f"{_TESTS}/mft", f"{_TESTS}/aodv"),
    ),
    Protocol(
        "given-tree",
        ("python_protocol/brokers/agent.py",),
        (f"{_TESTS}/brokers/test_given_tree.py",),
        (*_BROKERS, _SCENARIOS),
    ),
)
SLOW_FILES = ("test_network.py", "test_loop_freedom.py", "test_migrations.py", "test_messages.py")
"""Property tests over whole networks, and of bytes: they wait for the others of their folder."""


class Mutant(NamedTuple):
    """A module with one method broken."""

    protocol: str
    module: str
    line: int
    method: str
    what: str
    source: str


def mutants(root: Path) -> Iterator[Mutant]:
    """All of all protocols, module by module, method by method."""
    sources = {path: (root / path).read_text() for one in PROTOCOLS for path in _modules(root, one)}
    owners = {path: one.name for one in PROTOCOLS for path in _modules(root, one)}
    trees = {path: ast.parse(source) for path, source in sources.items()}
    for path, (method, node) in checked(trees):
        for line, what, source in breakages(sources[path], node):
            yield Mutant(owners[path], path, line, method, what, source)


def stages(root: Path, protocol: Protocol, module: str | None = None) -> list[list[str]]:
    """The test files of a protocol as pytest is given them, in two stages; a module's own file goes first."""
    first = [path for place in protocol.tests for path in _test_files(root, place)]
    slow = [path for path in first if Path(path).name in SLOW_FILES]
    later = slow + [path for place in protocol.slow for path in _test_files(root, place)]
    own = None if module is None else f"test_{Path(module).name}"
    first = sorted((path for path in first if path not in slow), key=lambda path: Path(path).name != own)
    return [stage for stage in (first, later) if stage]


def _modules(root: Path, protocol: Protocol) -> list[str]:
    return [path for place in protocol.modules for path in _files(root, place, "*.py")]


def _test_files(root: Path, place: str) -> list[str]:
    return _files(root, place, "test_*.py")


def _files(root: Path, place: str, pattern: str) -> list[str]:
    if (root / place).is_file():
        return [place]
    return sorted(path.relative_to(root).as_posix() for path in (root / place).glob(pattern))
