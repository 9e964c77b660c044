"""The commands that are hit: each small, with results that are the same each time, byte for byte."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.failures.stand_in import all_linked, install_stand_in
from roambus.bridge.runs.layout import LOG_FILE, STORE_FOLDER

ROAMBUS = [sys.executable, "-c", "import sys; sys.argv[0] = 'roambus'; from roambus.command_line import main; main()"]
SMALL = {"config": "C2", "speed": "2", "time_limit": "20", "publish_until": "15"}
HOST, WORKER, JAVA, SIMULATOR = "host", "worker", "java", "simulator"
NODES, SECONDS = 6, 30

STUDY = '''"""A study of one small sweep."""

from pathlib import Path

from roambus.experiments.figures.plans import Plan, agent_lines
from roambus.experiments.studies.study import Study, StudySweep


def plans(measured):
    yield Plan("rate", "Deliveries", "delivery_rate_all", "delay", agent_lines(measured, {}), x_title="delay of a link")


STUDY = Study(
    name="small",
    source="nobody",
    sweeps=(StudySweep(str(Path(__file__).with_name("small.toml")), plans, quick_seeds=1),),
)
'''
SWEEP = """template = "tree"
backend = "ideal"
seeds = 2
[set]
time_limit = 20
publish_until = 15
[axes]
delay = ["1ms", "5ms"]
[agents]
mft = { parameters = { tree = "given", link_layer = false } }
"""


@dataclass(frozen=True, slots=True)
class Subject:
    """A command, the kinds of its processes that can be hit, and what it needs."""

    name: str
    targets: Sequence[str]
    words: Callable[[Path], list[str]]
    """The command, for a folder of its own in which its results are."""
    prepare: Callable[[Path], None] = lambda folder: folder.mkdir(parents=True)
    environment: Mapping[str, str] = field(default_factory=dict)

    def command(self, folder: Path) -> list[str]:
        """How it is started."""
        return [*ROAMBUS, *self.words(folder)]


def outcome(folder: Path) -> dict[str, bytes]:
    """Every file below the folder with its bytes; of logs, which tell times, and of what is kept of these, nothing."""
    files = {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file()}
    kept = {name: path for name, path in files.items() if STORE_FOLDER not in name.parts}
    return {
        str(name): b"" if name.suffix == ".log" or LOG_FILE in name.parts else path.read_bytes()
        for name, path in kept.items()
    }


def _settings(values: Mapping[str, str]) -> list[str]:
    return [word for name, value in values.items() for word in ("--set", f"{name}={value}")]


def _run(folder: Path) -> list[str]:
    values = {"time_limit": "60", "publish_until": "50"}
    return ["run", "thesis", "--agent", "mft", "--backend", "ideal", *_settings(values), "--out", str(folder / "out")]


def _sweep(folder: Path) -> list[str]:
    options = ["--seeds", "4", "--workers", "2", "--backend", "ideal", "--out", str(folder / "out")]
    return ["sweep", "thesis", *_settings(SMALL), *options]


def _bridged(folder: Path) -> list[str]:
    values = {"time_limit": str(SECONDS), "publish_until": "20"}
    options = ["--backend", "castalia", "--deadline", "5", "--out", str(folder / "out")]
    return ["run", "thesis", "--agent", "mft", *_settings(values), *options]


def _reproduce(folder: Path) -> list[str]:
    return ["reproduce", str(folder / "small.py"), "--quick", "--workers", "2", "--out", str(folder / "out")]


def _write_study(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "small.py").write_text(STUDY, encoding="utf-8")
    (folder / "small.toml").write_text(SWEEP, encoding="utf-8")


def subjects(folder: Path, castalia: Mapping[str, str] | None) -> dict[str, Subject]:
    """All of them; the one with Castalia if the environment that is given says where it is."""
    swept = folder / "swept"

    def copy_of_sweep(copy: Path) -> None:
        if not swept.is_dir():
            subprocess.run([*ROAMBUS, *_sweep(swept)], check=True, capture_output=True)
        shutil.copytree(swept, copy)

    stand_in = install_stand_in(folder / "stand-in", all_linked(NODES, SECONDS))
    made = [
        Subject("run", (HOST,), _run),
        Subject("sweep", (HOST, WORKER), _sweep),
        Subject("stand-in", (HOST, SIMULATOR), _bridged, environment=stand_in),
        Subject("aggregate", (HOST, JAVA), lambda folder: ["aggregate", str(folder / "out")], copy_of_sweep),
        Subject("reproduce", (HOST, WORKER, JAVA), _reproduce, _write_study),
    ]
    if castalia is not None:
        made.append(Subject("castalia", (HOST, SIMULATOR), _bridged, environment=castalia))
    return {subject.name: subject for subject in made}
