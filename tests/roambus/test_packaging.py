"""What is given away is one package with everything that it reads, and nothing else; installed, it runs."""

from __future__ import annotations

import tarfile
from pathlib import Path, PurePosixPath

import pytest

from tests.support.distributions import Distributions, build, build_here, files_in_wheel, install, unpack
from tests.support.places import ROOT, Place
from tests.support.removed import REMOVED

PARTS = ("bridge", "experiments", "extensions", "omnet", "python_protocol", "spark")
"""The folders at the top of the checkout that are parts of the package."""
PYTHON = {".py", ".pyi", ".typed"}
PAGES = {".css", ".html", ".js", ".j2", ".lua", ".md"}
SWEEPS = {".toml", ".txt", ".properties"}
SIMULATOR = {"", ".cc", ".h", ".mk", ".ned", ".proto", ".sh"}
"""The endings of the files that the package reads; nothing that a compiler or an interpreter makes is among them."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Distributions:
    """A wheel and an sdist of this checkout."""
    return build_here(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def place(built: Distributions, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A place in which the wheel is installed."""
    return install(built.wheel, tmp_path_factory.mktemp("place"))


def sources() -> set[str]:
    """All that lies in the package's folders, except for what Python and make leave there."""
    files = [file for part in PARTS for file in (ROOT / part).rglob("*")]
    files += [file for file in (ROOT / "roambus").rglob("*") if not set(PARTS) & {*file.relative_to(ROOT).parts[:2]}]
    names = {file.relative_to(ROOT) for file in files if file.is_file()}
    kept = {
        name for name in names if not {"__pycache__", "build", "preparing"} & {*name.parts} and not is_left_out(name)
    }
    return {(PurePosixPath("roambus") / name if name.parts[0] in PARTS else name).as_posix() for name in kept}


def is_left_out(name: Path) -> bool:
    """Whether it stays in the repository: tests of extensions, and their results but for the pages."""
    folder = name.parts[2] if name.parts[0] == "extensions" and len(name.parts) > 3 else ""
    return folder == "tests" or (folder == "results" and name.suffix != ".md")


def pages() -> set[str]:
    """What `roambus docs` prints."""
    return {f"roambus/{page.relative_to(ROOT).as_posix()}" for page in (ROOT / "docs").rglob("*.md")}


def test_the_wheel_holds_every_source_and_one_importable_name(built: Distributions) -> None:
    """What is beside the package describes the distribution."""
    held = files_in_wheel(built.wheel)
    beside = {name for name in held if not name.startswith("roambus/")}
    assert set(held) - beside == sources() | pages()
    assert {PurePosixPath(name).parts[0] for name in beside} == {"roambus-0.1.0.dist-info"}


def test_the_wheel_holds_what_is_read_and_nothing_that_is_made(built: Distributions) -> None:
    """No object files, no libraries, no compiled Python; and a file of each kind that is read."""
    names = [name for name in files_in_wheel(built.wheel) if ".dist-info/" not in name]
    kinds, expected = {PurePosixPath(name).suffix for name in names}, PYTHON | PAGES | SWEEPS | SIMULATOR
    assert kinds <= expected
    assert REMOVED or kinds == expected
    assert [name for name in names if "/build/" in name or "__pycache__" in name] == []


def test_the_sdist_holds_files_and_not_links(built: Distributions) -> None:
    """The links to the folders at the top are resolved, so it unpacks anywhere."""
    with tarfile.open(built.sdist) as archive:
        members = archive.getmembers()
    assert all(member.isreg() or member.isdir() for member in members)
    names = {member.name.partition("/")[2] for member in members if member.isreg()}
    beside = {".gitignore", "CHANGELOG.md", "LICENSE", "PKG-INFO", "README.md", "pyproject.toml"}
    assert names == sources() | pages() | beside


def test_the_wheel_from_the_sdist_is_the_same(built: Distributions, tmp_path: Path) -> None:
    """File by file: an index may build it anew. What is made in the folders is left out: it depends on the machine."""
    unpacked = unpack(built.sdist, tmp_path / "sources")
    made = unpacked / "roambus" / "omnet" / "build" / "libroambus.so"
    made.parent.mkdir()
    made.touch()
    assert files_in_wheel(build(unpacked, tmp_path / "again").wheel) == files_in_wheel(built.wheel)


def test_nothing_but_roambus_becomes_importable(place: Place) -> None:
    """The folders' own names stay the user's."""
    for name in (*PARTS, "tests", "benchmarks", "docs"):
        assert place.run(f"python -c 'import {name}'").stderr.endswith(f"No module named '{name}'\n")
    where = place.succeed("python -c 'import roambus; print(roambus.__file__)'")
    assert Path(where.strip()).is_relative_to(place.python.parents[1])


def test_the_installed_command_line_runs(place: Place) -> None:
    """With agents, templates and radio parameters from the wheel; by both of its names."""
    assert "agent mft: " in place.succeed("roambus show mft")
    run = "--agent mft --set time_limit=6 --set publish_until=4 --backend ideal --out results"
    folder = place.folder / place.succeed(f"python -m roambus run thesis {run}").strip()
    assert (folder / "trace.parquet").is_file()


@pytest.mark.slow
def test_an_installed_package_has_types(place: Place) -> None:
    """A type checker sees the public interface from outside, also of what is imported late."""
    program = place.folder / "typed.py"
    program.write_text("import roambus\nreveal_type(roambus.Send.destination)\nreveal_type(roambus.results)\n")
    output = place.run("python -m mypy --no-incremental typed.py").stdout
    assert 'note: Revealed type is "int"' in output.replace("builtins.", "")
    assert "-> roambus.dataframes.Results" in output
