"""Files that the user's code reads are known, also those that a library or a helper opens for it."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from roambus.bridge.system.imports import import_file, import_module
from roambus.bridge.system.reading import files_read, reading

HELPERS = ("helper_one", "pack_of_readers", "pack_of_readers.agent")
READS = """\
import importlib.util, json, os, sqlite3
from pathlib import Path

import pandas
import helper_one

HERE = Path(__file__).parent
with open(HERE / "table.json") as file:
    DATA = json.load(file)
RAW = (HERE / "data" / "raw.bin").read_bytes()
(HERE / "written.txt").write_text("x")
(HERE / "written.txt").read_text()
with open(HERE / "log.txt", "a") as file:
    file.write("x")
Path("/proc/self/stat").read_text()
spec = importlib.util.spec_from_file_location("plug", HERE / "plug.py")
plug = importlib.util.module_from_spec(spec)
spec.loader.exec_module(plug)


def later():
    pandas.read_csv(HERE / "later.csv")
    os.close(os.open(HERE / "low.bin", os.O_RDONLY))
    sqlite3.connect(HERE / "facts.db").close()
    helper_one.read(HERE / "helped.txt")
    Path("../absent.txt").exists()
    try:
        open(HERE / "absent.txt")
    except FileNotFoundError:
        pass
"""


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


def lay() -> Path:
    write({"pkg/proto.py": READS, "pkg/helper_one.py": "def read(file):\n    file.read_text()\n"})
    write({"pkg/plug.py": "from pathlib import Path\nX = Path(__file__).with_name('plugged.txt').read_text()\n"})
    write({"pkg/table.json": "{}", "pkg/data/raw.bin": "x", "pkg/plugged.txt": "", "pkg/log.txt": "old"})
    write({"pkg/later.csv": "a\n1\n", "pkg/low.bin": "", "pkg/helped.txt": ""})
    sqlite3.connect("pkg/facts.db").close()
    return Path("pkg/proto.py").resolve()


def names(files: dict[Path, str]) -> set[str]:
    return {str(file.relative_to(Path("pkg").resolve())) for file in files}


def test_files_that_a_module_reads_while_it_is_imported_are_known() -> None:
    """Data, and modules that no import names, with what these read; not what it imports, or has written itself."""
    file = lay()
    import_file("it", file)
    found = files_read([file])
    assert names(found) == {"table.json", "data/raw.bin", "plug.py", "plugged.txt"}
    assert found[file.parent / "table.json"] == sha256(b"{}").hexdigest()


def test_files_that_are_opened_later_are_known() -> None:
    """Through a library or a helper, too, and only in the block."""
    file = lay()
    module = import_file("it", file)
    before = names(files_read([file]))
    module.later()
    assert names(files_read([file])) == before
    with reading():
        module.later()
    assert names(files_read([file])) - before == {"later.csv", "low.bin", "facts.db", "helped.txt"}


def test_a_hash_is_that_of_the_first_reading() -> None:
    """A file that changes in a long run was another one when the run began."""
    file = lay()
    module = import_file("it", file)
    with reading():
        module.later()
        write({"pkg/helped.txt": "changed"})
        module.later()
    assert files_read([file])[file.parent / "helped.txt"] == sha256(b"").hexdigest()


def test_what_ours_opens_is_no_data_of_the_user() -> None:
    """Although the outermost caller is the user's, such as this test. A FIFO is no data, and does not block."""
    os.mkfifo("fifo")
    with reading():
        import_module("it", "roambus.bridge.keys")
        with pytest.raises(OSError, match="No such device"):
            os.open("fifo", os.O_WRONLY | os.O_NONBLOCK)
        os.close(os.open("fifo", os.O_RDONLY | os.O_NONBLOCK))
    assert Path("fifo").resolve() not in files_read([Path(__file__)])


def test_files_that_a_named_module_reads_are_known_as_well() -> None:
    """Of a package in the working folder; of any other module nothing is known."""
    text = 'from pathlib import Path\nDATA = Path(__file__).with_name("table.json").read_text()\n'
    write({"pack_of_readers/__init__.py": "", "pack_of_readers/agent.py": text, "pack_of_readers/table.json": "{}"})
    import_module("it", "pack_of_readers.agent")
    assert {file.name for file in files_read([Path("pack_of_readers/agent.py")])} == {"table.json"}
    assert files_read([Path(sqlite3.__file__)]) == {}
