"""An outside package brings a command, a store, and a study with its sweep, template and metric."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from roambus.bridge.system.code import COMMANDS, named
from roambus.command_line import _load, commands
from roambus.commands.inventory import list_entries
from tests.roambus.conftest import Roambus

FILES = {
    "walks-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: walks\nVersion: 1.0\n",
    "walks-1.0.dist-info/entry_points.txt": """[roambus.studies]
walks = walks.study:STUDY
[roambus.commands]
greet = walks.command:greet
broken = walks.nowhere:greet
number = walks.command:open_shelf
list = walks.command:greet
gone = roambus.extensions.gone.command:gone
[roambus.stores]
shelf = walks.command:open_shelf
""",
    "walks/__init__.py": "",
    "walks/command.py": '''
import click
from pathlib import Path
from roambus.console.options import FOLDER
from roambus.console.output import answer


@click.command()
@click.argument("results", type=FOLDER)
def greet(results):
    """Greets RESULTS."""
    answer(f"hello {results.name}", greeted=results)


class Shelf:
    def __init__(self, text):
        self.url, self.folder = text, Path("shelf")

    def fetch(self):
        return 7

    def publish(self, below=None):
        return 0


def open_shelf(text):
    return Shelf(text)
''',
    "walks/walks.toml": """# Small walks.
template = "walk"
seeds = 2
[agents]
beacon = {}
[set]
time_limit = 3
[axes]
nodes = [2, 3]
""",
    "walks/walk.ini.j2": '# A small walk.\n{% include "field.ini.j2" %}\n',
    "walks/study.py": '''"""How small walks go."""
from roambus import metric
from roambus.experiments.studies.study import Study, StudySweep
from roambus.spark.metrics.metric import metrics_in
from roambus.spark.metrics.extra import Extra


@metric("Beacons sent")
def beacons(run) -> int:
    """Beacons that the nodes have sent."""
    return len(run.sends)


SWEEP = StudySweep("walks", lambda measured: (), extra=Extra(metrics_in(globals())), quick_seeds=1)
STUDY = Study("walks", "a walk", (SWEEP,))
''',
}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The installed package, and a working folder."""
    for name, content in FILES.items():
        file = tmp_path / "site" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    monkeypatch.syspath_prepend(tmp_path / "site")
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name in [module for module in sys.modules if module.partition(".")[0] == "walks"]:
        monkeypatch.delitem(sys.modules, name)
    yield folder
    for name in ("greet", "broken", "number"):  # the command line keeps the commands that it has loaded
        commands.commands.pop(name, None)


@pytest.mark.usefixtures("package")
def test_everything_is_listed_beside_ours(roambus: Roambus) -> None:
    """By its own name and first sentence; its sweeps are named with its study."""
    listed = roambus("list").out
    for line in ("How small walks go.", "A small walk.", "beacons"):
        assert line in listed
    assert re.search(r"^sweeps behind a study:\n(  .+\n)*  walks +walks\n", listed, re.MULTILINE)
    assert "Small walks." in roambus("show", "walks").out
    listed = roambus("--help").out.partition("Commands:")[2]
    assert "Greets RESULTS." in listed
    assert "broken" in listed


@pytest.mark.usefixtures("package")
def test_its_command_takes_options_of_ours(roambus: Roambus) -> None:
    """And the address of its store."""
    assert roambus("greet", "results").out == "hello results\n"
    done = roambus("greet", "shelf://anywhere")
    assert (done.out, done.err) == (
        "hello shelf\n",
        "shelf://anywhere: 7 files fetched to shelf\nshelf://anywhere: 0 files published\n",
    )


@pytest.mark.usefixtures("package")
def test_a_broken_command_is_named_with_its_package(roambus: Roambus) -> None:
    """In one line, and the others work."""
    done = roambus("broken")
    assert done.code == 2
    assert "error: command broken of package walks: cannot import walks.nowhere:greet" in done.err


@pytest.mark.usefixtures("package")
def test_an_entry_point_that_is_no_command_is_refused(roambus: Roambus) -> None:
    """In one line."""
    done = roambus("number")
    assert done.code == 2
    assert "error: command number of package walks: walks.command:open_shelf is not a click.Command\n" in done.err


@pytest.mark.usefixtures("package")
def test_a_command_of_ours_keeps_its_name() -> None:
    """The package has a command `list` as well, which is not called."""
    assert "list" in named(COMMANDS)
    assert _load("list") is list_entries


@pytest.mark.usefixtures("package")
def test_a_command_of_a_deleted_extension_is_refused_with_its_name(roambus: Roambus) -> None:
    """The installation's metadata still names it. No list has it; click refuses any other name."""
    assert " gone " not in roambus("--help").out
    done = roambus("gone")
    assert done.code == 2
    assert done.err == (
        "error: the command gone: this installation no longer has its extension, roambus.extensions.gone\n"
    )
    assert "No such command 'nowhere'" in roambus("nowhere").err


@pytest.mark.slow
def test_its_study_is_reproduced_with_its_own_metric(package: Path, roambus: Roambus) -> None:
    """From its first run to the report."""
    done = roambus("reproduce", "walks", "--workers", "1", "--out", str(package / "out"))
    assert done.code == 0, done.err
    assert "beacons" in (package / "out" / "metrics" / "runs.csv").read_text().splitlines()[0]
