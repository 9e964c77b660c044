"""Back-ends of other packages are found by their entry points, and a broken one is told with its package."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from roambus.bridge.backends.radio.backend import RadioFactory
from roambus.bridge.backends.registry import backend_names, make_factory
from roambus.bridge.system.errors import UserError
from tests.bridge.backends.conformance import documented_files

SOURCE = """
class Factory:
    name = "mine"

    def __init__(self, deadline_s=None):
        self.deadline_s = deadline_s
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed package with three back-ends, of which one takes a name of ours, and one cannot be imported."""
    (tmp_path / "theirs.py").write_text(SOURCE)
    info = tmp_path / "theirs-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    points = {"mine": "theirs:Factory", "radio": "theirs:Factory", "broken": "nowhere:Factory"}
    lines = [f"{name} = {target}\n" for name, target in points.items()]
    (info / "entry_points.txt").write_text("[roambus.backends]\n" + "".join(lines))
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("package")
def test_another_package_brings_a_back_end() -> None:
    """It is given the deadline if it takes one; ours keep their names."""
    first, second, third, *others = backend_names()
    assert (first, second, third) == ("radio", "castalia", "ideal")
    assert {"broken", "mine"} <= set(others)
    assert len(others) == len(set(others) - {"radio"})
    factory = make_factory("mine", deadline_s=7.0)
    assert (factory.name, vars(factory)) == ("mine", {"deadline_s": 7.0})
    assert make_factory("radio", deadline_s=7.0) == RadioFactory()


@pytest.mark.usefixtures("package")
def test_a_broken_one_is_reported_with_its_package() -> None:
    """Whatever its import raises."""
    with pytest.raises(UserError, match="back-end broken of package theirs: cannot import nowhere:Factory: No module"):
        make_factory("broken")


def test_another_package_runs_the_promises_by_importing_them(tmp_path: Path) -> None:
    """With the files of docs/guide/backends.md; a promise that is not kept is explained with its values."""
    bus, tests = documented_files()
    (tmp_path / "test_bus.py").write_text(tests)
    done = {}
    for limit in ("time_limit", "time_limit + 1"):
        (tmp_path / "bus.py").write_text(bus.replace("time_limit, self", f"{limit}, self"))
        command = [sys.executable, "-m", "pytest", "-q", "-k", "hello"]
        done[limit] = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert [process.returncode for process in done.values()] == [0, 1]
    assert "4000000001" in done["time_limit + 1"].stdout
