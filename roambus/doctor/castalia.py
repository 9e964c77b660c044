"""Looks one by one at what the back-end `castalia` needs, for `roambus doctor` and `roambus castalia build`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from roambus.bridge.backends.castalia.environment import CASTALIA_ROOT, OMNET_ROOT, OMNETPP_ROOT, environment_with
from roambus.bridge.backends.castalia.installation import simulator_in
from roambus.bridge.backends.castalia.modules import find_modules
from roambus.bridge.backends.castalia.releases import (
    CASTALIAS_MAJOR,
    OLDEST_MAJOR,
    TRIED,
    major,
    other_release,
    read_release,
    release_in,
    tried,
)
from roambus.doctor.findings import Check, Result, broken, missing, ok

RELEASES = " or ".join(TRIED)
"""Our modules were tried with these releases of OMNeT++."""
PATIENCE_S = 30

ON_DEBIAN = "on Debian, as root: apt-get install"


BUILD = "run roambus castalia build"


def needed_to_run() -> list[Check]:
    """Returns the checks of OMNeT++, Castalia and our modules for it."""
    return [*simulators(), Check("modules for Castalia", check_library, BUILD)]


def simulators() -> list[Check]:
    """Returns the checks of OMNeT++ and Castalia, which our modules are built against and run on."""
    return [
        Check("OMNeT++", check_omnetpp, f"build OMNeT++ {RELEASES} anew"),
        Check("Castalia", check_castalia, "build Castalia anew"),
    ]


def needed_to_build() -> list[Check]:
    """Returns the checks of make, the compiler, and the libraries of the wire."""
    return [
        Check("make", check_make, f"{ON_DEBIAN} make"),
        Check("C++ compiler", check_compiler, f"{ON_DEBIAN} g++"),
        Check("libzmq for C++", lambda: check_package("libzmq", "libzmq3-dev"), f"{ON_DEBIAN} libzmq3-dev pkg-config"),
        Check("protobuf for C++", check_protobuf, f"{ON_DEBIAN} libprotobuf-dev protobuf-compiler pkg-config"),
    ]


def check_omnetpp() -> Result:
    """Looks at its folder, the version that it gives itself, and whether it was built."""
    root = os.environ.get(OMNETPP_ROOT)
    if not root:
        return missing(f"{OMNETPP_ROOT} is not set", f"set it to the folder of a built OMNeT++ {RELEASES}")
    version_file = Path(root, "Version")
    if not version_file.is_file():
        return broken(f"{root} is no OMNeT++", f"let {OMNETPP_ROOT} name the folder of a built OMNeT++ {RELEASES}")
    release = read_release(version_file.read_text(encoding="utf-8"))
    if major(release) < OLDEST_MAJOR:
        return broken(f"{release} in {root}", f"use OMNeT++ {RELEASES}")
    if not Path(root, "lib", "liboppsim.so").is_file():
        return broken(f"{release} in {root} is not built", f"run ./configure and make in {root}")
    return ok(f"{release} in {root}, {tried(release)}")


def check_castalia() -> Result:
    """Looks at its folder, and whether it starts with this OMNeT++."""
    root = os.environ.get(CASTALIA_ROOT)
    if not root:
        return missing(
            f"{CASTALIA_ROOT} is not set", f"set it to the folder of a Castalia built with OMNeT++ {RELEASES}"
        )
    program = simulator_in(Path(root))
    if not program.is_file():
        return missing(f"{program} is not there", f"build Castalia in {root}, or correct {CASTALIA_ROOT}{_for_newer()}")
    if not os.access(program, os.X_OK):
        return broken(f"{program} cannot be executed", f"build Castalia in {root} anew")
    answer, release = _ask_release(program)
    if release and (there := _omnetpp_release()) not in {"", release}:
        advice = f"build Castalia in {root} with this OMNeT++, or let {OMNETPP_ROOT} name the other{_for_newer()}"
        return broken(f"{root} was built with OMNeT++ {release}, and {OMNETPP_ROOT} has {there}", advice)
    if answer.returncode != 0 or not release:
        return broken(f"{program} does not start: {_last_line(answer)}", f"build Castalia in {root} with this OMNeT++")
    return ok(f"{root}, with OMNeT++ {release}")


def _ask_release(program: Path) -> tuple[subprocess.CompletedProcess[str], str]:
    """How Castalia starts with this OMNeT++, and the release that it tells, with its own libraries if need be.

    With the libraries of another release it does not start at all. It has the folder of its own in itself.
    """
    answer = _run([str(program), "-v"])
    told = answer if answer.returncode == 0 else _run([str(program), "-v"], dict(os.environ))
    release = re.search(r"^Version: ([\w.]+)", told.stdout, re.MULTILINE)
    return answer, release[1] if release else ""


def _omnetpp_release() -> str:
    """The release in the folder that the environment names; empty if there is none."""
    root = os.environ.get(OMNETPP_ROOT)
    return release_in(Path(root)) if root else ""


def _for_newer() -> str:
    """What to do about Castalia where OMNeT++ is newer than Castalia's own sources."""
    if major(_omnetpp_release()) <= CASTALIAS_MAJOR:
        return ""
    return "; no public Castalia builds with it: docs/castalia.md says what concerns a tree that is to"


def check_library() -> Result:
    """Looks whether it is built, from our wire.proto, and finds the libraries that it needs."""
    from roambus.bridge.wire.conversion import SCHEMA_HASH  # noqa: PLC0415  # protobuf may be what is missing

    modules = find_modules()
    library = modules.library
    if not (modules.sources / "Makefile").is_file():
        advice = f"let {OMNET_ROOT} name the folder omnet of roambus' sources, or install roambus anew"
        return missing(f"{modules.sources} is not there", advice)
    if not library.is_file():
        return missing(f"{library} is not built", BUILD)
    if SCHEMA_HASH.hex().encode() not in library.read_bytes():
        return broken(f"{library} was made from another wire.proto", BUILD)
    if wrong := other_release(library, _omnetpp_release()):
        return broken(wrong, BUILD)
    if lost := re.findall(r"(\S+) => not found", _run(["ldd", str(library)]).stdout):
        return broken(f"{library} needs {', '.join(lost)}", f"install what is missing, or {BUILD}")
    return ok(str(library))


def check_make() -> Result:
    """Looks for the one on the PATH."""
    if shutil.which("make") is None:
        return missing("there is no make", f"{ON_DEBIAN} make")
    return ok(_run(["make", "--version"]).stdout.partition("\n")[0])


def check_compiler() -> Result:
    """Looks for the one that make takes."""
    compiler = os.environ.get("CXX", "g++")
    if shutil.which(compiler) is None:
        return missing(f"there is no {compiler}", f"{ON_DEBIAN} g++")
    answer = _run([compiler, "--version"])
    if answer.returncode != 0:
        return broken(f"{compiler}: {_last_line(answer)}", f"{ON_DEBIAN} --reinstall g++")
    return ok(answer.stdout.partition("\n")[0])


def check_package(name: str, package: str) -> Result:
    """Looks for a library for C++, as pkg-config knows it."""
    if shutil.which("pkg-config") is None:
        return missing("there is no pkg-config", f"{ON_DEBIAN} pkg-config {package}")
    answer = _run(["pkg-config", "--modversion", name])
    if answer.returncode != 0:
        return missing(f"pkg-config knows no {name}", f"{ON_DEBIAN} {package}")
    return ok(answer.stdout.strip())


def check_protobuf() -> Result:
    """Looks for the library and its compiler."""
    if shutil.which("protoc") is None:
        return missing("there is no protoc", f"{ON_DEBIAN} protobuf-compiler")
    return check_package("protobuf", "libprotobuf-dev")


def _run(command: Sequence[str], environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Runs it where programs find the libraries of this OMNeT++, unless another environment is given."""
    environment = environment or environment_with(Path(os.environ.get(OMNETPP_ROOT, "")))
    return subprocess.run(  # noqa: S603  # the user's own programs, without a shell
        command, env=environment, capture_output=True, text=True, errors="replace", timeout=PATIENCE_S, check=False
    )


def _last_line(answer: subprocess.CompletedProcess[str]) -> str:
    lines = (answer.stderr or answer.stdout).strip().splitlines()
    return lines[-1] if lines else f"exit status {answer.returncode}"
