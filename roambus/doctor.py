"""`roambus doctor` checks this machine and reports which back-ends can run.

Each check examines one thing and returns a `Result`: there, missing (no fault) or broken, with advice. `look` turns any
exception into a result, so checks import their subjects themselves. Each thing is checked even without its
prerequisite. Programs are started, because one built for another OMNeT++ is present but does not start.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import webbrowser
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from pathlib import Path
from tempfile import gettempdir
from typing import NamedTuple

from rich.console import Console
from rich.table import Table
from rich.text import Text

from roambus.bridge.backends.castalia.installation import (
    CASTALIA_ROOT,
    CASTALIAS_MAJOR,
    OLDEST_MAJOR,
    OMNET_ROOT,
    OMNETPP,
    OMNETPP_ROOT,
    TRIED,
    build_modules,
    environment_with,
    find_modules,
    major,
    other_release,
    release_in,
    simulator_in,
    tried,
)
from roambus.bridge.backends.registry import DEFAULT
from roambus.bridge.system.code import SIMULATORS, load, named
from roambus.bridge.system.errors import UserError


class Status(Enum):
    """Says whether a thing is there and works."""

    OK = "ok"
    MISSING = "missing"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Result:
    """A finding in a line, with advice unless it is ok."""

    status: Status
    found: str
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """A result with its subject."""

    what: str
    result: Result

    def __str__(self) -> str:
        return f"{self.what} is {self.result.status.value} ({self.result.found}): {self.result.advice}"

    @property
    def is_ok(self) -> bool:
        """Return whether nothing needs doing."""
        return self.result.status is Status.OK


def ok(found: str) -> Result:
    """Report a thing that works."""
    return Result(Status.OK, found)


def missing(found: str, advice: str) -> Result:
    """Report a missing thing."""
    return Result(Status.MISSING, found, advice)


def broken(found: str, advice: str) -> Result:
    """Report a thing that is there but does not work."""
    return Result(Status.BROKEN, found, advice)


class Check(NamedTuple):
    """A check's subject and function; `repair` is the advice for unexpected errors."""

    what: str
    check: Callable[[], Result]
    repair: str


def look_at(checks: Iterable[Check], tell: Callable[[str], object] = str) -> list[Finding]:
    """Return the checks' findings; call `tell` with each subject first."""
    found = []
    for check in checks:
        tell(check.what)
        found.append(look(*check))
    return found


def look(what: str, check: Callable[[], Result], repair: str) -> Finding:
    """Return a check's finding, also for an exception, with `repair` as advice."""
    try:
        return Finding(what, check())
    except Exception as error:  # anything can be broken, and the rest is still worth looking at
        return Finding(what, broken(f"{type(error).__name__}: {error}", repair))


RELEASES = " or ".join(TRIED)
"""Our modules were tried with these releases of OMNeT++."""
PATIENCE_S = 30
"""The time limit for a started program to print its version."""

ON_DEBIAN = "on Debian, as root: apt-get install"


# What is built of our own sources is built by a command, so that the advice is the command and no list of steps.
BUILD = "run roambus doctor --build castalia"


def check_omnetpp() -> Result:
    """Check OMNeT++'s folder, version and build."""
    if not (root := os.environ.get(OMNETPP_ROOT)):
        return missing(f"{OMNETPP_ROOT} is not set", f"set it to the folder of a built OMNeT++ {RELEASES}")
    if not (release := release_in(Path(root))):
        return broken(f"{root} is not OMNeT++", f"let {OMNETPP_ROOT} name the folder of a built OMNeT++ {RELEASES}")
    if major(release) < OLDEST_MAJOR:
        return broken(f"{release} in {root}", f"use OMNeT++ {RELEASES}")
    if not Path(root, "lib", "liboppsim.so").is_file():
        return broken(f"{release} in {root} is not built", f"run ./configure and make in {root}")
    return ok(f"{release} in {root}, {tried(release)}")


def check_castalia() -> Result:
    """Check its folder and its start with this OMNeT++."""
    if not (root := os.environ.get(CASTALIA_ROOT)):
        advice = f"set it to the folder of a Castalia built with OMNeT++ {RELEASES}"
        return missing(f"{CASTALIA_ROOT} is not set", advice)
    program = simulator_in(Path(root))
    if not program.is_file():
        return missing(f"{program} is not there", f"build Castalia in {root}, or correct {CASTALIA_ROOT}{_for_newer()}")
    if not os.access(program, os.X_OK):
        return broken(f"{program} cannot be executed", f"build Castalia in {root} again")
    answer, release = _ask_release(program)
    # Before the exit status: a Castalia of another release does not start, and the release is the reason to tell.
    if release and (there := _omnetpp_release()) not in {"", release}:
        advice = f"build Castalia in {root} with this OMNeT++, or let {OMNETPP_ROOT} name the other{_for_newer()}"
        return broken(f"{root} was built with OMNeT++ {release}, and {OMNETPP_ROOT} has {there}", advice)
    if answer.returncode != 0 or not release:
        return broken(f"{program} does not start: {_last_line(answer)}", f"build Castalia in {root} with this OMNeT++")
    return ok(f"{root}, with OMNeT++ {release}")


def _ask_release(program: Path) -> tuple[subprocess.CompletedProcess[str], str]:
    """Return how Castalia starts with this OMNeT++, and its release, if need be with its own libraries.

    With another release's libraries it does not start; it contains the path of its own.
    """
    answer = _run([str(program), "-v"])
    # With its own libraries, those that it was linked to, it tells its release also where it does not start with ours.
    version_output = answer if answer.returncode == 0 else _run([str(program), "-v"], dict(os.environ))
    release = re.search(r"^Version: ([\w.]+)", version_output.stdout, re.MULTILINE)
    return answer, release[1] if release else ""


def _omnetpp_release() -> str:
    return release_in(Path(root)) if (root := os.environ.get(OMNETPP_ROOT)) else ""


def _for_newer() -> str:
    if major(_omnetpp_release()) <= CASTALIAS_MAJOR:
        return ""
    return "; no public Castalia builds with it: docs/guide/castalia.md says what concerns a tree that is to"


def check_library() -> Result:
    """Check the modules' sources and their build with this OMNeT++."""
    modules = find_modules()
    library = modules.library
    if not (modules.sources / "Makefile").is_file():
        advice = f"let {OMNET_ROOT} name the folder omnet of roambus' sources, or install roambus again"
        return missing(f"{modules.sources} is not there", advice)
    if not library.is_file():
        return missing(f"{library} is not built", BUILD)
    found = check_built(library, BUILD)
    wrong = other_release(library, OMNETPP, OMNETPP_ROOT, _omnetpp_release())
    return broken(wrong, BUILD) if wrong and found.status is Status.OK else found


def check_built(file: Path, build: str) -> Result:
    """Check its build from our wire.proto, and its libraries."""
    from roambus.bridge.wire.conversion import SCHEMA_HASH  # protobuf may be what is missing

    # The hash is compiled in as a text. To start the library and ask would need a simulator, which may be missing.
    if SCHEMA_HASH.hex().encode() not in file.read_bytes():
        return broken(f"{file} was made from another wire.proto", build)
    if lost := re.findall(r"(\S+) => not found", _run(["ldd", str(file)]).stdout):
        return broken(f"{file} needs {', '.join(lost)}", f"install what is missing, or {build}")
    return ok(str(file))


def check_program(name: str, package: str) -> Result:
    """Check that a program is on the PATH and prints its version."""
    if shutil.which(name) is None:
        return missing(f"there is no {name}", f"{ON_DEBIAN} {package}")
    answer = _run([name, "--version"])
    if answer.returncode != 0:
        return broken(f"{name}: {_last_line(answer)}", f"{ON_DEBIAN} --reinstall {package}")
    return ok(answer.stdout.partition("\n")[0])


def check_package(name: str, package: str) -> Result:
    """Check a C++ library, as pkg-config knows it."""
    if shutil.which("pkg-config") is None:
        return missing("there is no pkg-config", f"{ON_DEBIAN} pkg-config {package}")
    answer = _run(["pkg-config", "--modversion", name])
    if answer.returncode != 0:
        return missing(f"pkg-config knows no {name}", f"{ON_DEBIAN} {package}")
    return ok(answer.stdout.strip())


def check_protobuf() -> Result:
    """Check the library and its compiler."""
    if shutil.which("protoc") is None:
        return missing("there is no protoc", f"{ON_DEBIAN} protobuf-compiler")
    return check_package("protobuf", "libprotobuf-dev")


def _run(command: Sequence[str], environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run it, by default with this OMNeT++'s library path."""
    return subprocess.run(  # noqa: S603  # the user's own programs, without a shell
        command,
        env=environment or environment_with(Path(os.environ.get(OMNETPP_ROOT, ""))),
        capture_output=True,
        text=True,
        errors="replace",
        timeout=PATIENCE_S,
        check=False,
    )


def _last_line(answer: subprocess.CompletedProcess[str]) -> str:
    lines = (answer.stderr or answer.stdout).strip().splitlines()
    return lines[-1] if lines else f"exit status {answer.returncode}"


def build_library() -> Path:
    """Build the modules for Castalia; return their library. Raise UserError, RoambusError."""
    build_modules(find_modules())
    return find_modules().library


class Simulator(NamedTuple):
    """A simulator of its own, which runs agents by modules that are built of our sources.

    An extension brings one by an entry point of the group `roambus.simulators`, named after its back-end.
    """

    itself: Sequence[Check]
    """The part of it that the build needs."""
    modules: Check
    build: Callable[[], Path]
    """Builds the modules and returns their file; raises UserError, RoambusError."""


CASTALIA = Simulator(
    (
        Check("OMNeT++", check_omnetpp, f"build OMNeT++ {RELEASES} again"),
        Check("Castalia", check_castalia, "build Castalia again"),
    ),
    Check("modules for Castalia", check_library, BUILD),
    build_library,
)


_OWN = {"castalia": CASTALIA}


def simulators() -> dict[str, Simulator]:
    """Return the simulators by the names of their back-ends; the core's first, whose name no package can take."""
    brought = {name: load(point) for name, point in named(SIMULATORS).items() if name not in _OWN}
    return {**_OWN, **brought}


BUILDING = (
    Check("make", lambda: check_program("make", "make"), f"{ON_DEBIAN} make"),
    Check("C++ compiler", lambda: check_program(os.environ.get("CXX", "g++"), "g++"), f"{ON_DEBIAN} g++"),
    Check("libzmq for C++", lambda: check_package("libzmq", "libzmq3-dev"), f"{ON_DEBIAN} libzmq3-dev pkg-config"),
    Check("protobuf for C++", check_protobuf, f"{ON_DEBIAN} libprotobuf-dev protobuf-compiler pkg-config"),
)
"""Build tools: make, compiler, wire libraries."""

PACKAGES = {
    "roambus": "roambus",
    "numba": "numba",
    "numpy": "numpy",
    "protobuf": "google.protobuf",
    "pyarrow": "pyarrow",
    "pyzmq": "zmq",
}
"""The packages that runs need, each with its module."""
INSTALL = "install roambus again: pip install --force-reinstall roambus"
LEAST_GIB = 1.0
"""With less a sweep soon has no room for its traces."""
COLOURS = {Status.OK: "green", Status.MISSING: "yellow", Status.BROKEN: "red"}


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All findings, and their consequences for each back-end."""

    python: Sequence[Finding]
    """Nothing runs without these."""
    others: Sequence[Finding]
    """The needs of metrics, traces and films."""
    simulators: Mapping[str, Sequence[Finding]]
    """By the names of their back-ends."""

    @property
    def findings(self) -> list[Finding]:
        """Return all findings in table order."""
        return [*self.python, *self.others, *chain.from_iterable(self.simulators.values())]

    @property
    def backends(self) -> list[str]:
        """Return the default back-end and those of simulators."""
        return [DEFAULT, *self.simulators]

    def in_the_way(self, backend: str) -> list[Finding]:
        """Return the obstacles to runs with this back-end."""
        needed = [*self.python, *self.simulators.get(backend, ())]
        return [finding for finding in needed if not finding.is_ok]


def examine(tell: Callable[[str], object] = str) -> Diagnosis:
    """Run all checks, announcing each; never raise."""
    packages = [Check(name, partial(_check_package, name, module), INSTALL) for name, module in PACKAGES.items()]
    interpreter = Check("Python", lambda: ok(f"{platform.python_version()}, {sys.executable}"), INSTALL)
    python = [interpreter, *packages]
    spark, java = Check("pyspark", _check_spark, INSTALL), Check("Java for Spark", _check_java, INSTALL)
    others = [spark, java, Check("disk", _check_disk, ""), Check("browser", _check_browser, "")]
    found = look_at(python, tell), look_at(others, tell)
    known = {name: look_at((*simulator.itself, simulator.modules), tell) for name, simulator in simulators().items()}
    return Diagnosis(*found, known)


def report(diagnosis: Diagnosis, console: Console) -> None:
    """Print the table, advice for each problem, and the back-ends that would run.

    Advice has its own lines, because a table would break its commands.
    """
    table = Table("", "", "", box=None, pad_edge=False, show_header=False)
    for finding in diagnosis.findings:
        status = finding.result.status
        table.add_row(finding.what, Text(status.value, COLOURS[status]), Text(finding.result.found))
    console.print(table)
    lines = [
        f"to do for {finding.what}: {finding.result.advice}" for finding in diagnosis.findings if not finding.is_ok
    ]
    for backend in diagnosis.backends:
        in_the_way = diagnosis.in_the_way(backend)
        ways = "; ".join(f"{finding.what} is {finding.result.status.value}" for finding in in_the_way)
        lines.append(f"--backend {backend}: {f'no: {ways}' if ways else 'yes'}")
    for line in lines:
        console.print(Text(line), soft_wrap=True)


def _check_package(package: str, module: str) -> Result:
    try:
        found = version(package)
    except PackageNotFoundError:
        return missing("not installed", INSTALL)
    import_module(module)  # a library of the system may be missing
    return ok(found)


def _check_spark() -> Result:
    try:
        import_module("roambus.spark.engine")
    except UserError as error:
        found, _, advice = str(error).partition(": ")
        return broken(found, advice)
    return _check_package("pyspark", "pyspark")


def _check_disk() -> Result:
    free = {place: shutil.disk_usage(place).free / 2**30 for place in (str(Path.cwd()), gettempdir())}
    found = ", ".join(f"{gib:.1f} GiB free in {place}" for place, gib in free.items())
    return ok(found) if min(free.values()) > LEAST_GIB else broken(found, "make room for traces")


def _check_browser() -> Result:
    try:
        return ok(webbrowser.get().name)
    except webbrowser.Error:
        return missing("no browser is known here", "open what replay and play print on a machine that has one")


def _check_java() -> Result:
    try:
        from roambus.spark.engine.java import find_java, java_version

        java = find_java()
    except UserError as error:
        found, _, advice = str(error).partition(": ")
        return missing(found, advice)
    return ok(f"{java_version(java)}, {java}")
