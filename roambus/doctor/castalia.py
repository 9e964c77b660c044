"""What the back-end `castalia` needs, looked at one by one for `roambus doctor`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from roambus.bridge.backends.castalia.installation import (
    CASTALIA_ROOT,
    OMNET_ROOT,
    OMNETPP_ROOT,
    Installation,
    environment_with,
    omnet_folder,
)
from roambus.doctor.findings import Finding, Result, broken, look, missing, ok

RELEASE = "5.7.1"
"""The OMNeT++ that our modules are tested with; any 5.x should do."""
PATIENCE_S = 30

ON_DEBIAN = "on Debian, as root: apt-get install"


def needed_to_run() -> list[Finding]:
    """OMNeT++, Castalia and our modules for it."""
    return [
        look("OMNeT++", check_omnetpp, f"build OMNeT++ {RELEASE} anew"),
        look("Castalia", check_castalia, "build Castalia anew"),
        look("modules for Castalia", check_library, "run make -C omnet clean castalia"),
    ]


def needed_to_build() -> list[Finding]:
    """A compiler, and the libraries of the wire."""
    return [
        look("C++ compiler", check_compiler, f"{ON_DEBIAN} g++"),
        look("libzmq for C++", lambda: check_package("libzmq", "libzmq3-dev"), f"{ON_DEBIAN} libzmq3-dev pkg-config"),
        look("protobuf for C++", check_protobuf, f"{ON_DEBIAN} libprotobuf-dev protobuf-compiler pkg-config"),
    ]


def check_omnetpp() -> Result:
    """Its folder, its version as it says itself, and whether it was built."""
    root = os.environ.get(OMNETPP_ROOT)
    if not root:
        return missing(f"{OMNETPP_ROOT} is not set", f"set it to the folder of a built OMNeT++ {RELEASE}")
    version_file = Path(root, "Version")
    if not version_file.is_file():
        return broken(f"{root} is no OMNeT++", f"let {OMNETPP_ROOT} name the folder of a built OMNeT++ {RELEASE}")
    release = version_file.read_text(encoding="utf-8").strip().removeprefix("omnetpp-")
    if not release.startswith("5."):
        return broken(f"{release} in {root}", f"use OMNeT++ {RELEASE}: Castalia needs 5.x")
    if not Path(root, "lib", "liboppsim.so").is_file():
        return broken(f"{release} in {root} is not built", f"run ./configure and make in {root}")
    return ok(f"{release} in {root}")


def check_castalia() -> Result:
    """Its folder, and whether it starts with this OMNeT++."""
    root = os.environ.get(CASTALIA_ROOT)
    if not root:
        return missing(
            f"{CASTALIA_ROOT} is not set", f"set it to the folder of a Castalia built with OMNeT++ {RELEASE}"
        )
    program = Installation(Path(), Path(root), Path()).simulator
    if not program.is_file():
        return missing(f"{program} is not there", f"build Castalia in {root}, or correct {CASTALIA_ROOT}")
    if not os.access(program, os.X_OK):
        return broken(f"{program} cannot be executed", f"build Castalia in {root} anew")
    answer = _run([str(program), "-v"])
    release = re.search(r"^Version: ([\w.]+)", answer.stdout, re.MULTILINE)
    if answer.returncode != 0 or release is None:
        return broken(f"{program} does not start: {_last_line(answer)}", f"build Castalia in {root} with this OMNeT++")
    return ok(f"{root}, with OMNeT++ {release[1]}")


def check_library() -> Result:
    """Whether it is built, from our wire.proto, and finds the libraries that it needs."""
    from roambus.bridge.wire.conversion import SCHEMA_HASH  # noqa: PLC0415  # protobuf may be what is missing

    folder = omnet_folder()
    library = Installation(Path(), Path(), folder).library
    if not (folder / "Makefile").is_file():
        return missing(f"{folder} is not there", f"get roambus' sources, and let {OMNET_ROOT} name their folder omnet")
    make = f"run make -C {folder} castalia"
    if not library.is_file():
        return missing(f"{library} is not built", make)
    if SCHEMA_HASH.hex().encode() not in library.read_bytes():
        return broken(f"{library} was made from another wire.proto", make)
    if lost := re.findall(r"(\S+) => not found", _run(["ldd", str(library)]).stdout):
        return broken(f"{library} needs {', '.join(lost)}", f"install what is missing, or {make}")
    return ok(str(library))


def check_compiler() -> Result:
    """The one that make takes."""
    compiler = os.environ.get("CXX", "g++")
    if shutil.which(compiler) is None:
        return missing(f"there is no {compiler}", f"{ON_DEBIAN} g++ make")
    answer = _run([compiler, "--version"])
    if answer.returncode != 0:
        return broken(f"{compiler}: {_last_line(answer)}", f"{ON_DEBIAN} --reinstall g++")
    return ok(answer.stdout.partition("\n")[0])


def check_package(name: str, package: str) -> Result:
    """A library for C++, as pkg-config knows it."""
    if shutil.which("pkg-config") is None:
        return missing("there is no pkg-config", f"{ON_DEBIAN} pkg-config {package}")
    answer = _run(["pkg-config", "--modversion", name])
    if answer.returncode != 0:
        return missing(f"pkg-config knows no {name}", f"{ON_DEBIAN} {package}")
    return ok(answer.stdout.strip())


def check_protobuf() -> Result:
    """The library and its compiler."""
    if shutil.which("protoc") is None:
        return missing("there is no protoc", f"{ON_DEBIAN} protobuf-compiler")
    return check_package("protobuf", "libprotobuf-dev")


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    environment = environment_with(Path(os.environ.get(OMNETPP_ROOT, "")))
    return subprocess.run(  # noqa: S603  # the user's own programs, without a shell
        command, env=environment, capture_output=True, text=True, errors="replace", timeout=PATIENCE_S, check=False
    )


def _last_line(answer: subprocess.CompletedProcess[str]) -> str:
    lines = (answer.stderr or answer.stdout).strip().splitlines()
    return lines[-1] if lines else f"exit status {answer.returncode}"
