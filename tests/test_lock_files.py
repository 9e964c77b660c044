"""The lock files hold what `pyproject.toml` asks for, for every Python and machine promised, each by its hashes.

The oldest versions that it allows work, too.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import venv
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.places import ROOT

ENTRY = re.compile(r"^(\S[^\\\n]*?)((?: \\\n    --hash=sha256:[0-9a-f]{64})+)$", re.MULTILINE)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def asked(group: str) -> list[Requirement]:
    """What a group asks for, with the groups that it includes."""
    lines = PROJECT["dependency-groups"][group]
    own = [Requirement(line) for line in lines if isinstance(line, str)]
    return own + [
        requirement for line in lines if isinstance(line, dict) for requirement in asked(line["include-group"])
    ]


def locked(file: Path, environment: dict[str, str]) -> dict[str, str]:
    """The versions that a lock file has for an environment."""
    found = [Requirement(entry) for entry, _ in ENTRY.findall(file.read_text(encoding="utf-8"))]
    here = [
        requirement for requirement in found if requirement.marker is None or requirement.marker.evaluate(environment)
    ]
    versions = {
        str(canonicalize_name(requirement.name)): str(requirement.specifier).removeprefix("==") for requirement in here
    }
    assert len(versions) == len(here), "one version of each package"
    return versions


LOCKS = {
    "requirements-build.lock": asked("build"),
    "requirements.lock": [Requirement(line) for line in PROJECT["project"]["dependencies"]],
    "requirements-dev.lock": asked("dev"),
}
EVERYWHERE = [
    {
        "python_version": python,
        "python_full_version": f"{python}.9",
        "platform_machine": machine,
        "sys_platform": "linux",
        "platform_python_implementation": "CPython",
        "implementation_name": "cpython",
    }
    for python in ("3.11", "3.12", "3.13", "3.14")
    for machine in ("x86_64", "aarch64")
]
"""What is promised: every Python on every machine."""


@pytest.mark.parametrize(
    "environment",
    EVERYWHERE,
    ids=lambda environment: f"{environment['python_version']}-{environment['platform_machine']}",
)
def test_everything_that_is_asked_for_is_locked(environment: dict[str, str]) -> None:
    """In a version that fits what is asked for."""
    for name, wanted in LOCKS.items():
        versions = locked(ROOT / name, environment)
        for requirement in wanted:
            if requirement.marker is None or requirement.marker.evaluate(environment):
                assert requirement.specifier.contains(versions[canonicalize_name(requirement.name)]), requirement


@pytest.mark.parametrize(
    "environment",
    EVERYWHERE,
    ids=lambda environment: f"{environment['python_version']}-{environment['platform_machine']}",
)
def test_a_package_has_one_version_in_all_lock_files(environment: dict[str, str]) -> None:
    """So that what is tested is what runs, whether the tests' packages are installed or not."""
    versions: dict[str, str] = {}
    for name in LOCKS:
        for package, version in locked(ROOT / name, environment).items():
            assert versions.setdefault(package, version) == version, package


def test_what_only_tests_need_is_not_installed_for_running() -> None:
    """Not one package of the tests' own comes with `make reproduce`."""
    own = {canonicalize_name(lock.name) for lock in LOCKS["requirements.lock"] + LOCKS["requirements-build.lock"]}
    tests = {canonicalize_name(lock.name) for lock in LOCKS["requirements-dev.lock"]} - own
    assert not tests & locked(ROOT / "requirements.lock", EVERYWHERE[0]).keys()


@pytest.mark.parametrize("name", LOCKS)
def test_every_entry_has_hashes_and_no_host(name: str) -> None:
    """Whatever is no comment belongs to an entry with its hashes, and no line says where to fetch anything."""
    text = (ROOT / name).read_text(encoding="utf-8")
    left = [line for line in ENTRY.sub("", text).splitlines() if line.strip() and not line.strip().startswith("#")]
    assert left == []
    assert "://" not in text


CORE = (
    "tests/bridge/host",
    "tests/bridge/trace",
    "tests/experiments/templates",
    "tests/roambus/test_command_line.py",
    "tests/spark/aggregation",
)


def oldest(wanted: Requirement) -> str:
    """The requirement, with the lower bound as the only version."""
    bounds = [specifier.version for specifier in wanted.specifier if specifier.operator == ">="]
    return f"{wanted.name}=={bounds[0]}" if bounds else str(wanted)


@pytest.mark.slow
@pytest.mark.skipif(sys.version_info >= (3, 14), reason="the oldest NumPy and SciPy have no wheels for it")
def test_the_oldest_versions_pass_the_cores_tests(tmp_path: Path) -> None:
    """Installed together, from the package index."""
    venv.create(tmp_path / "old", with_pip=True)
    python = str(tmp_path / "old" / "bin" / "python")
    tools = [f"{name}=={metadata.version(name)}" for name in ("duckdb", "hypothesis", "pytest")]
    pip = [python, "-m", "pip", "--quiet"]
    wanted = map(oldest, LOCKS["requirements.lock"])
    subprocess.run([*pip, "install", *wanted, *tools, "--editable", str(ROOT)], check=True)
    subprocess.run([*pip, "check"], check=True)
    done = subprocess.run(
        [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *CORE],
        cwd=ROOT,
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "numba")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


IMPORTED = """
import sys
from importlib.metadata import packages_distributions
from roambus.bridge.runs import run
from roambus.command_line import main

run.run_in_child = lambda make: make()
sys.argv = ["roambus", "run", "field", "--set", "nodes=2", "--set", "time_limit=1", "--out", sys.argv[1]]
try:
    main()
finally:
    modules = {name.partition(".")[0] for name, one in sys.modules.items() if getattr(one, "__file__", None)}
    of = packages_distributions()
    print(*sorted({found for name in modules for found in of.get(name, ())}))
"""
"""A run in one process, and the packages that it has imported."""


def test_what_a_run_imports_is_installed_before_the_radio_is_compiled(tmp_path: Path) -> None:
    """Else a new installation would compile it later, when the user waits."""
    (needed,) = re.findall(r'^needed="(.*)"$', (ROOT / "install.sh").read_text(encoding="utf-8"), re.MULTILINE)
    first = {"roambus", *needed.split("|"), *_names("requirements-build.lock")}
    done = subprocess.run([sys.executable, "-c", IMPORTED, tmp_path], capture_output=True, text=True, check=True)
    running = _names("requirements.lock")
    imported = {canonicalize_name(name) for name in done.stdout.splitlines()[-1].split()}
    assert imported & running <= first
    assert {*needed.split("|")} <= running


def _names(lock: str) -> set[str]:
    found = ENTRY.findall((ROOT / lock).read_text(encoding="utf-8"))
    return {canonicalize_name(Requirement(entry).name) for entry, _ in found}
