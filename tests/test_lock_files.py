"""The lock files hold what `pyproject.toml` asks for, for every Python and machine promised, each by its hashes."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.places import ROOT

ENTRY = re.compile(r"^(\S[^\\\n]*?)((?: \\\n    --hash=sha256:[0-9a-f]{64})+)$", re.MULTILINE)
PYTHONS, MACHINES = ("3.11", "3.12", "3.13"), ("x86_64", "aarch64")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def asked(group: str) -> list[Requirement]:
    """What a group asks for, with the groups that it includes."""
    lines = PROJECT["dependency-groups"][group]
    own = [Requirement(line) for line in lines if isinstance(line, str)]
    return own + [one for line in lines if isinstance(line, dict) for one in asked(line["include-group"])]


def locked(file: Path, environment: dict[str, str]) -> dict[str, str]:
    """The versions that a lock file has for an environment."""
    found = [Requirement(entry) for entry, _ in ENTRY.findall(file.read_text(encoding="utf-8"))]
    here = [one for one in found if one.marker is None or one.marker.evaluate(environment)]
    versions = {str(canonicalize_name(one.name)): str(one.specifier).removeprefix("==") for one in here}
    assert len(versions) == len(here), "one version of each package"
    return versions


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("machine", MACHINES)
def test_everything_that_is_asked_for_is_locked(python: str, machine: str) -> None:
    """In a version that fits what is asked for."""
    environment = {"python_version": python, "python_full_version": f"{python}.9", "platform_machine": machine}
    environment |= {"sys_platform": "linux", "platform_python_implementation": "CPython"}
    own = [Requirement(line) for line in PROJECT["project"]["dependencies"]]
    for name, wanted in (("requirements-build.lock", asked("build")), ("requirements.lock", own + asked("dev"))):
        versions = locked(ROOT / name, environment)
        for one in wanted:
            if one.marker is None or one.marker.evaluate(environment):
                assert one.specifier.contains(versions[canonicalize_name(one.name)]), one


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-build.lock"])
def test_every_entry_has_hashes_and_no_host(name: str) -> None:
    """Whatever is no comment belongs to an entry with its hashes, and no line says where to fetch anything."""
    text = (ROOT / name).read_text(encoding="utf-8")
    left = [line for line in ENTRY.sub("", text).splitlines() if line.strip() and not line.strip().startswith("#")]
    assert left == []
    assert "://" not in text
