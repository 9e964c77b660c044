"""What becomes of sweeps that are hit by `kill -9` at random moments: the sweep itself, a worker, or both.

python -m benchmarks.sweep_kills --trials 50

Each trial is a real `roambus sweep` with two workers, hit once at a moment between its start and its end. A sweep that
lost a worker must complete by itself; one that was killed must complete when the same command is given again. Then
traces, `sweep.json` and metrics must be those of an undisturbed sweep, byte for byte, and no other file and no process
may be left. Not compared are `run.log`, which tells how long the run took, and what the aggregation keeps for itself,
which tells when traces were written.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from rich.box import MARKDOWN
from rich.console import Console
from rich.progress import track
from rich.table import Table

from roambus.bridge.runs.layout import LOG_FILE, STORE_FOLDER, SWEEP_FILE, TRACE_FILE
from roambus.experiments.sweeps.workspace import PREFIX
from roambus.spark.aggregation.aggregate import aggregate
from roambus.spark.engine.session import spark_session

ROAMBUS = [sys.executable, "-c", "import sys; sys.argv[0] = 'roambus'; from roambus.command_line import main; main()"]
SETTINGS = {"config": "C2", "speed": "2,8", "time_limit": "40", "publish_until": "30"}
SEEDS = 2
WORKERS = 2
PATIENCE_S = 300.0
"""How long a sweep, or what is left of one, may take to end."""

TARGETS = ("the sweep", "a worker", "both")
STARTING, READY, RUNNING, WRITING, ENDING = PHASES = (
    "starting: nothing on disk",
    "workers are being started",
    "runs going on",
    "a trace written, not in place",
    "all traces in place",
)


@dataclass(frozen=True, slots=True)
class Trial:
    """What was hit, when, and what was wrong in the end."""

    target: str
    phase: str
    complaints: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stage:
    """Where trials take place; `undisturbed` is what a sweep leaves that nobody hits, after `duration_s`."""

    folder: Path
    backend: str
    undisturbed: dict[str, bytes]
    duration_s: float

    def command(self, results: Path) -> list[str]:
        """The sweep of every trial."""
        return sweep_command(self.backend, results)


def sweep_command(backend: str, results: Path) -> list[str]:
    """A small part of the thesis' sweep."""
    settings = [text for name, value in SETTINGS.items() for text in ("--set", f"{name}={value}")]
    options = ["--seeds", str(SEEDS), "--workers", str(WORKERS), "--backend", backend, "--out", str(results)]
    return [*ROAMBUS, "sweep", "thesis", *settings, *options]


def set_stage(folder: Path, backend: str) -> Stage:
    """Makes the undisturbed sweep; a first one compiles what must be compiled."""
    for name in ("compiling", "undisturbed"):
        start = time.monotonic()
        subprocess.run(sweep_command(backend, folder / name), check=True, capture_output=True)
        duration_s = time.monotonic() - start
    return Stage(folder, backend, contents(folder / "undisturbed"), duration_s)


def contents(results: Path) -> dict[str, bytes]:
    """Every file with its bytes, once aggregated; of a log only that it is there."""
    aggregate(results)
    shutil.rmtree(results / STORE_FOLDER)
    files = [path for path in results.rglob("*") if path.is_file()]
    return {str(path.relative_to(results)): b"" if path.name == LOG_FILE else path.read_bytes() for path in files}


def trials(stage: Stage, number: int, random: Random) -> Iterator[Trial]:
    """So many sweeps that were hit before they ended."""
    attempt = done = 0
    while done < number:
        attempt += 1
        trial = _try(stage, stage.folder / f"trial-{attempt}", random)
        if trial is not None:
            done += 1
            yield trial


def _try(stage: Stage, results: Path, random: Random) -> Trial | None:
    """None if the sweep had ended before it was hit."""
    target = random.choice(TARGETS)
    sweep = _start(stage, results)
    time.sleep(random.uniform(0, stage.duration_s))
    phase = _phase(stage, results)
    if sweep.poll() is not None:
        return None
    hit = _hit(sweep, target, random)
    complaints = [*_end(sweep, hit), *_resume(stage, results)]
    return Trial(hit, phase, tuple(complaints or _differences(stage, results)))


def _start(stage: Stage, results: Path) -> subprocess.Popen[bytes]:
    command = stage.command(results)
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)


def _phase(stage: Stage, results: Path) -> str:
    """How far the sweep is, by what it has on disk."""
    attempts = list(results.glob(f"{PREFIX}*/*/"))
    if not (results / SWEEP_FILE).exists():
        return STARTING
    if len(list(results.glob(f"traces/**/{TRACE_FILE}"))) == sum(TRACE_FILE in name for name in stage.undisturbed):
        return ENDING
    if any(path for attempt in attempts for path in attempt.rglob(f"*{TRACE_FILE}*")):
        return WRITING
    return RUNNING if attempts else READY


def _hit(sweep: subprocess.Popen[bytes], target: str, random: Random) -> str:
    """Kills; says what (the sweep, if there is no worker yet)."""
    workers = [process for process in session_processes(sweep.pid) if _is_worker(process)]
    if not workers:
        target = TARGETS[0]
    victims = [sweep.pid] if target != TARGETS[1] else []
    victims += [random.choice(workers)] if target != TARGETS[0] else []
    random.shuffle(victims)
    for process in victims:
        os.kill(process, signal.SIGKILL)
    return target


def _is_worker(process: int) -> bool:
    try:
        return b"spawn_main" in Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return False


def session_processes(session: int) -> list[int]:
    """The live processes of a session (field 6 of /proc/PID/stat)."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(path.parent.name))
    return found


def _end(sweep: subprocess.Popen[bytes], hit: str) -> list[str]:
    code = sweep.wait(PATIENCE_S)
    wanted = 0 if hit == TARGETS[1] else -signal.SIGKILL
    complaints = [] if code == wanted else [f"the sweep ended with {code}, not {wanted}"]
    deadline = time.monotonic() + PATIENCE_S
    while left := session_processes(sweep.pid):
        if time.monotonic() > deadline:
            return [*complaints, f"processes {left} are left"]
        time.sleep(0.05)
    return complaints


def _resume(stage: Stage, results: Path) -> list[str]:
    done = subprocess.run(stage.command(results), capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    return [] if done.returncode == 0 else [f"resumed, it ended with {done.returncode}: {done.stderr.strip()}"]


def _differences(stage: Stage, results: Path) -> list[str]:
    found = contents(results)
    names = sorted(found.keys() | stage.undisturbed.keys())
    differing = [f"{name} differs" for name in names if found.get(name) != stage.undisturbed.get(name)]
    empty = [path for path in results.rglob("*") if path.is_dir() and not any(path.iterdir())]
    return differing + [f"{path} is left" for path in (*results.glob(f"{PREFIX}*"), *empty)]


def table(outcomes: Sequence[Trial]) -> Table:
    """How many trials hit what, and when."""
    counts = Counter((trial.phase, trial.target) for trial in outcomes)
    result = Table("moment", *TARGETS, "not as undisturbed", box=MARKDOWN)
    for phase in PHASES:
        bad = sum(bool(trial.complaints) for trial in outcomes if trial.phase == phase)
        result.add_row(phase, *(str(counts[phase, target]) for target in TARGETS), str(bad))
    return result


def main() -> None:
    """Runs the trials, prints the table; exit code 1 if any sweep did not end as an undisturbed one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--trials", type=int, default=50)
    parser.add_argument("--backend", default="radio")
    parser.add_argument("--seed", type=int, default=0, help="of the moments and what is hit")
    options = parser.parse_args()
    console = Console(width=120)
    with tempfile.TemporaryDirectory(prefix="roambus-kills-") as folder, spark_session():
        stage = set_stage(Path(folder), options.backend)
        hits = trials(stage, options.trials, Random(options.seed))
        outcomes = list(track(hits, "sweeps", options.trials, console=console, transient=True))
    console.print(table(outcomes))
    for trial in outcomes:
        for complaint in trial.complaints:
            console.print(f"{trial.target}, {trial.phase}: {complaint}")
    sys.exit(any(trial.complaints for trial in outcomes))


if __name__ == "__main__":
    main()
