"""The user's modules find their helpers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from roambus.bridge.system.code import code_hash, project_files
from roambus.bridge.system.errors import UserError
from roambus.bridge.system.imports import import_file

HELPERS = ("helper_one", "helper_two", "pack_of_helpers", "pack_of_helpers.inner", "pack_of_helpers.agent")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The working folder; modules and search path are as before afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield tmp_path
    for name in HELPERS:
        sys.modules.pop(name, None)


def write(files: dict[str, str]) -> None:
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)


def test_a_helper_beside_a_file_is_found_from_any_folder() -> None:
    """It is among the file's code, before it is imported, and a change of it is one of the code."""
    write({"pkg/proto.py": "from helper_one import GAP\n", "pkg/helper_one.py": "from helper_two import GAP\n"})
    write({"pkg/helper_two.py": "GAP = 3\n"})
    names = {"proto.py", "helper_one.py", "helper_two.py"}
    assert {file.name for file in project_files([Path("pkg/proto.py")])} == names
    before = code_hash([Path("pkg/proto.py")])
    assert import_file("it", Path("pkg/proto.py")).GAP == 3
    assert code_hash([Path("pkg/proto.py")]) == before
    Path("pkg/helper_two.py").write_text("GAP = 4\n")
    assert code_hash([Path("pkg/proto.py")]) != before


def test_a_helper_in_the_working_folder_is_found_as_before() -> None:
    """Also by a file that lies elsewhere."""
    write({"pkg/proto.py": "from helper_one import GAP\n", "helper_one.py": "GAP = 3\n"})
    assert import_file("it", Path("pkg/proto.py")).GAP == 3
    assert {file.name for file in project_files([Path("pkg/proto.py")])} == {"proto.py", "helper_one.py"}


@pytest.mark.parametrize("other", ["helper_one.py", "b/helper_one.py"])
def test_two_helpers_of_one_name_are_refused(other: str) -> None:
    """Python knows one module of a name: the second file would silently run with the first one's helper."""
    write({"a/proto.py": "import helper_one\n", "a/helper_one.py": "GAP = 3\n", other: "GAP = 4\n"})
    write({"b/proto.py": "def late():\n    import helper_one\n"})
    first, second = (Path("a/proto.py"), Path("b/proto.py")) if other.startswith("b") else (None, Path("a/proto.py"))
    if first:
        import_file("it", first)
    else:
        sys.path.append(str(Path.cwd()))
    with pytest.raises(UserError, match=r"it: .*proto.py imports helper_one, which is .*py and .*py: rename one"):
        import_file("it", second)


def test_equal_helpers_of_one_name_are_one() -> None:
    """A copied protocol brings its helper along."""
    write({"a/proto.py": "import helper_one\n", "a/helper_one.py": "GAP = 3\n"})
    write({"b/proto.py": "import helper_one\n", "b/helper_one.py": "GAP = 3\n"})
    import_file("it", Path("a/proto.py"))
    assert import_file("it", Path("b/proto.py")).helper_one.GAP == 3


def test_a_library_is_not_hidden_by_a_file_beside() -> None:
    """Installed modules come first, as in Python."""
    write({"a/proto.py": "import json, click\n", "a/json.py": "raise ValueError\n", "a/click.py": "raise ValueError\n"})
    assert import_file("it", Path("a/proto.py")).json is sys.modules["json"]
    assert {file.name for file in project_files([Path("a/proto.py")])} == {"proto.py"}


def test_the_init_of_a_package_is_part_of_the_code() -> None:
    """Python executes it before the module that is imported from it."""
    write({"proto.py": "from pack_of_helpers.inner import GAP\n", "pack_of_helpers/__init__.py": "X = 1\n"})
    write({"pack_of_helpers/inner.py": "GAP = 3\n"})
    before = code_hash([Path("proto.py")])
    Path("pack_of_helpers/__init__.py").write_text("X = 2\n")
    assert code_hash([Path("proto.py")]) != before
