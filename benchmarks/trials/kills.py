"""Commands that are hit at random moments: host, worker, Java or simulator gets a signal, or the file system is full.

python -m benchmarks.trials kills --trials 40
python -m benchmarks.trials kills --trials 20 --subject castalia
python -m benchmarks.trials kills --trials 10 --subject sweep --harm "full disk"

Each trial is a real command, of which one process gets a signal at some moment between start and end; with "full disk",
no byte more can be written from that moment on; with "no memory", a worker, or the process of its run, gets no byte
more than it has; with "clock back" nothing is hit, and the clock goes back by an hour whenever Python looks at it. It
must end in time, without a traceback, and take its processes with it. Then the same command is given again, and hit
again, some times, until it is left alone: it must succeed, its results must be those of an undisturbed one, byte for
byte, and no process, socket, temporary folder, empty folder or hidden file may be left. Logs, which hold times, and
aggregation's own store are not compared.

"sweep on the radio" is hit once, by SIGKILL: the sweep, a worker, or both. One that lost a worker must complete by
itself; metrics of what it leaves are compared, too. "full disk" mounts a small file system, which needs the rights for
that, and "castalia" needs OMNeT++ and Castalia.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from itertools import count, cycle, islice, product
from pathlib import Path
from random import Random

from benchmarks.trials.harness import Chapter, Outcome, TrialOptions
from benchmarks.trials.processes import Command, all_linked, castalia, install_stand_in, left_in, program
from roambus.bridge.runs.layout import LOG_FILE, STORE_FOLDER, SWEEP_FILE, TRACE_FILE
from roambus.experiments.sweeps.attempts import PREFIX
from roambus.spark.aggregation.aggregate import aggregate
from roambus.spark.engine.session import spark_session

SIGNALS = ("SIGKILL", "SIGTERM", "SIGINT", "SIGHUP")
FULL, NO_MEMORY, CLOCK_BACK = "full disk", "no memory", "clock back"
CLOCK = """import itertools, time

_real, _real_ns, _looks = time.time, time.time_ns, itertools.count(1)
time.time = lambda: _real() - 3600.0 * next(_looks)
time.time_ns = lambda: _real_ns() - 3600 * 10**9 * next(_looks)
"""
"""The module sitecustomize, which Python imports when it starts."""
HOST, WORKER, JAVA, SIMULATOR, BOTH = "host", "worker", "java", "simulator", "host and worker"
SOON_S = 0.2
"""A process that was waited for is hit within this."""
HIT_WITHIN = 0.9
"""Of the time that the command takes undisturbed: later it has mostly ended."""
DISK_MIB = 24
NODES, SECONDS = 6, 30
SMALL = {"config": "C2", "speed": "2", "time_limit": "20", "publish_until": "15"}
LARGER = {"config": "C2", "speed": "2,8", "time_limit": "40", "publish_until": "30"}
KILLED = {HOST: -signal.SIGKILL, WORKER: 0, BOTH: -signal.SIGKILL}
"""How a sweep ends that is killed: one that lost a worker completes."""
STUDY = '''"""A study of one small sweep."""

from pathlib import Path

from roambus.experiments.figures.figure import Plan, agent_lines
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
time_limit = 60
[axes]
delay = ["1ms", "5ms"]
[agents]
mft = { parameters = { tree = "given", link_layer = false } }
"""

Files = dict[str, bytes]

# The subjects


@dataclass(frozen=True, slots=True)
class Subject:
    """A command that is small, with results that are the same each time, and the processes of it that can be hit."""

    name: str
    targets: Sequence[str]
    words: Callable[[Path], list[str]]
    """The command, for a folder of its own in which its results are."""
    prepare: Callable[[Path], None] = lambda folder: folder.mkdir(parents=True)
    environment: Mapping[str, str] = field(default_factory=dict)
    at_once: int = 4
    """So often it is hit before it may end."""
    harms: Sequence[str] = SIGNALS
    codes: Mapping[str, int] = field(default_factory=dict)
    """The exit code, by what was hit, where it is certain."""
    phase: Callable[[Path, Files], str] = lambda _, __: ""
    """How far it is, by what it has in its folder and would have in the end."""
    finish: Callable[[Path], object] = lambda _: None
    """A step on its results before they are compared."""
    session: Callable[[], AbstractContextManager[object]] = nullcontext
    """The session that `finish` needs."""


def _settings(values: Mapping[str, str]) -> list[str]:
    return [word for name, value in values.items() for word in ("--set", f"{name}={value}")]


def _run(folder: Path) -> list[str]:
    values = {"time_limit": "60", "publish_until": "50"}
    return ["run", "thesis", "--agent", "mft", "--backend", "ideal", *_settings(values), "--out", str(folder / "out")]


def _sweep(folder: Path, values: Mapping[str, str] = SMALL, backend: str = "ideal", seeds: int = 4) -> list[str]:
    options = ["--seeds", str(seeds), "--workers", "2", "--backend", backend, "--out", str(folder / "out")]
    return ["sweep", "thesis", *_settings(values), *options]


def _bridged(folder: Path) -> list[str]:
    values = {"time_limit": str(SECONDS), "publish_until": "20"}
    options = ["--backend", "castalia", "--deadline", "5", "--out", str(folder / "out")]
    return ["run", "thesis", "--agent", "mft", *_settings(values), *options]


def _reproduce(folder: Path) -> list[str]:
    return ["reproduce", str(folder / "small.py"), "--quick", "--workers", "2", "--out", str(folder / "out")]


def _export(folder: Path) -> list[str]:
    return ["export", str(folder / "out"), "--format", "sca,vec"]


def _write_study(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "small.py").write_text(STUDY, encoding="utf-8")
    (folder / "small.toml").write_text(SWEEP, encoding="utf-8")


def _phase_of_sweep(folder: Path, wanted: Files) -> str:
    results = folder / "out"
    attempts = list(results.glob(f"{PREFIX}*/*/"))
    if not (results / SWEEP_FILE).exists():
        return "starting: nothing on disk"
    if len(list(results.glob(f"traces/**/{TRACE_FILE}"))) == sum(TRACE_FILE in name for name in wanted):
        return "all traces in place"
    if any(path for attempt in attempts for path in attempt.rglob(f"*{TRACE_FILE}*")):
        return "a trace written, not in place"
    return "runs going on" if attempts else "workers are being started"


def subjects(folder: Path, *, backend: str = "radio") -> dict[str, Subject]:
    """All of them, prepared in `folder`; the one with Castalia if the environment says where that is."""
    swept = folder / "swept"

    def copy_of_sweep(copy: Path) -> None:
        if not swept.is_dir():
            swept.mkdir()
            if wrong := again(Subject("sweep", (), _sweep), swept):
                raise RuntimeError(f"a sweep fails undisturbed: {wrong}")
        shutil.copytree(swept, copy)

    def copy_of_metrics(copy: Path) -> None:
        copy_of_sweep(copy)
        aggregate(copy / "out")

    stand_in = install_stand_in(folder / "stand-in", all_linked(NODES, SECONDS))
    made = [
        Subject("run", (HOST,), _run),
        Subject("sweep", (HOST, WORKER), _sweep, harms=(*SIGNALS, NO_MEMORY)),
        Subject("stand-in", (HOST, SIMULATOR), _bridged, environment=stand_in),
        Subject("aggregate", (HOST, JAVA), lambda folder: ["aggregate", str(folder / "out")], copy_of_sweep),
        Subject("figures", (HOST,), lambda folder: ["figures", str(folder / "out")], copy_of_metrics),
        Subject("export", (HOST,), _export, copy_of_metrics),
        Subject("reproduce", (HOST, WORKER, JAVA), _reproduce, _write_study, harms=(*SIGNALS, NO_MEMORY)),
        Subject(
            "sweep on the radio", (HOST, WORKER, BOTH), lambda folder: _sweep(folder, LARGER, backend, seeds=2),
            at_once=1, harms=SIGNALS[:1], codes=KILLED, phase=_phase_of_sweep,
            finish=lambda folder: aggregate(folder / "out"), session=spark_session,
        ),
    ]  # fmt: skip
    if (found := castalia()) is not None:
        made.append(Subject("castalia", (HOST, SIMULATOR), _bridged, environment=found))
    return {subject.name: subject for subject in made}


# What is done to them


def hit(command: Command, target: str, how: str, random: Random) -> str:
    """Sends the signal to a process of the kind, once there is one; says to what it was sent, if to anything."""
    while command.host.poll() is None:
        kinds = {process: kind_of(process, command.host.pid) for process in command.live()}
        workers = [process for process, kind in kinds.items() if kind == WORKER]
        if target == BOTH and workers:
            victims = random.sample([command.host.pid, random.choice(workers)], 2)
        else:
            victims = [process for process, kind in kinds.items() if kind == target]
            victims = [random.choice(victims)] if victims else []
        if victims:
            time.sleep(random.uniform(0, SOON_S))
            sent = [_sent(process, how) for process in victims]
            return target if all(sent) else ""
        time.sleep(SOON_S / 20)
    return ""


def _sent(process: int, how: str) -> bool:
    with suppress(ProcessLookupError, FileNotFoundError):
        if how == NO_MEMORY:
            pages = int(Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[0])
            resource.prlimit(process, resource.RLIMIT_AS, (pages * resource.getpagesize(), resource.RLIM_INFINITY))
        else:
            os.kill(process, signal.Signals[how])
        return True
    return False


def kind_of(process: int, host: int) -> str:
    """The kind of a command's process; empty for helpers, such as shells."""
    if process == host:
        return HOST
    name = Path(program(process) or "").name
    if name in {"java", "CastaliaBin", "stand-in"}:
        return JAVA if name == "java" else SIMULATOR
    with suppress(OSError):
        if b"spawn_main" in Path(f"/proc/{process}/cmdline").read_bytes():
            return WORKER
    return ""


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """A file system of some MiB at `folder`; raises CalledProcessError if it may not be mounted."""
    folder.mkdir(parents=True)
    options = ["-t", "tmpfs", "-o", f"size={DISK_MIB}m", "none", str(folder)]
    subprocess.run(["mount", *options], check=True, capture_output=True)  # wherever the system has it
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True, capture_output=True)  # as above


def fill(disk: Path) -> Path:
    """Leaves no byte free; the file that takes all the room."""
    filler = disk / "filler"
    for piece in (1 << 20, 512):
        with suppress(OSError), filler.open("ab", buffering=0) as file:
            while file.write(bytes(piece)):
                pass
    return filler


# What is promised


@dataclass(frozen=True, slots=True)
class Stage:
    """Where a command is tried; `wanted` is what it leaves undisturbed, after `duration_s`."""

    subject: Subject
    folder: Path
    wanted: Files
    duration_s: float


def outcome(folder: Path) -> Files:
    """Every file below the folder with its bytes; logs, which hold times, count as empty."""
    files = {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file()}
    kept = {name: path for name, path in files.items() if STORE_FOLDER not in name.parts}
    return {
        str(name): b"" if name.suffix == ".log" or LOG_FILE in name.parts else path.read_bytes()
        for name, path in kept.items()
    }


def set_stage(subject: Subject, folder: Path) -> Stage:
    """Lets the command end twice undisturbed; leaves out what differs even then, such as the time of a report."""
    results = []
    for name in ("first", "second"):
        start = time.monotonic()
        subject.prepare(folder / name)
        wrong = again(subject, folder / name)
        if wrong:
            raise RuntimeError(f"{subject.name} fails undisturbed: {wrong}")
        duration_s = time.monotonic() - start
        subject.finish(folder / name)
        results.append(outcome(folder / name))
    before, after = results
    return Stage(subject, folder, {name: it for name, it in before.items() if after.get(name) == it}, duration_s)


def again(subject: Subject, folder: Path) -> list[str]:
    """The command, undisturbed; what is wrong with its end."""
    with _started(subject, folder) as command:
        complaints = command.end()
        if command.host.returncode != 0 or "Traceback" in command.errors():
            complaints.append(f"exit code {command.host.returncode}: {command.errors()[-1500:]}")
    return [f"resumed: {complaint}" for complaint in complaints]


def _started(subject: Subject, folder: Path, how: str = "") -> Command:
    environment = dict(subject.environment)
    if how == CLOCK_BACK:
        clock = folder.with_name(f"{folder.name}.clock")
        clock.mkdir(exist_ok=True)
        (clock / "sitecustomize.py").write_text(CLOCK, encoding="utf-8")
        environment["PYTHONPATH"] = str(clock)
    return Command(subject.words(folder), folder, environment=environment, folder=folder)


def trials(stage: Stage, number: int, random: Random, harms: Sequence[str] = SIGNALS) -> Iterator[Outcome]:
    """At least so many trials that were hit before their command ended, targets and signals in turns."""
    pairs = [
        (target, harm)
        for target, harm in product(stage.subject.targets, stage.subject.harms)
        if harm in harms and (harm != NO_MEMORY or target == WORKER)
    ]
    random.shuffle(pairs)
    with ExitStack() as stack:
        disk = stack.enter_context(small_disk(stage.folder / "disk")) if FULL in harms else None
        others = [("", how) for how in (FULL, CLOCK_BACK) if how in harms]
        turns, done = cycle([*pairs, *others]), 0
        for attempt in count():
            blows = list(islice(turns, min(stage.subject.at_once, number - done)))
            if not blows:
                return
            folder = (disk or stage.folder) / f"trial-{attempt}"
            for trial in _try(stage, folder, blows, random, disk):
                if trial.complaints or trial.felt:
                    done += 1
                    yield trial
            for path in folder.parent.glob(f"{folder.name}*"):
                shutil.rmtree(path) if path.is_dir() else path.unlink()


def _try(
    stage: Stage, folder: Path, blows: Sequence[tuple[str, str]], random: Random, disk: Path | None
) -> Iterator[Outcome]:
    """The command again and again in one folder, hit each time, and at last undisturbed."""
    stage.subject.prepare(folder)
    for place, (target, how) in enumerate(blows, 1):
        moment_s = random.uniform(0, stage.duration_s * HIT_WITHIN)
        filled = disk if how == FULL else None
        trial = _hit_once(stage, folder, (target, how, moment_s), random, filled)
        last = _resumed(stage, folder) if place == len(blows) else []
        yield Outcome(
            stage.subject.name, trial.harm, complaints=[*trial.complaints, *last], said=trial.said, felt=trial.felt
        )


def _hit_once(stage: Stage, folder: Path, blow: tuple[str, str, float], random: Random, disk: Path | None) -> Outcome:
    target, how, moment_s = blow
    filler = None
    with _started(stage.subject, folder, how) as command:
        with suppress(subprocess.TimeoutExpired):
            command.host.wait(None if how == CLOCK_BACK else moment_s)
        felt, phase = command.host.poll() is None, stage.subject.phase(folder, stage.wanted)
        if disk is not None:
            filler = fill(disk)
        elif how == CLOCK_BACK:
            felt = True
        elif felt:
            felt = bool(hit(command, target, how, random))
        complaints = command.end()
        wanted = 0 if how == CLOCK_BACK else stage.subject.codes.get(target) if felt else None
        complaints += _wrong_end(command, how, wanted)
        said = f"hit at {moment_s:.2f} s; it said: {command.errors()[-1500:]}"
    if filler is not None:
        filler.unlink(missing_ok=True)
    harm = ", ".join(part for part in (f"{how} {target}".strip(), phase) if part)
    return Outcome(stage.subject.name, harm, complaints=complaints, said=said, felt=felt)


def _wrong_end(command: Command, how: str, wanted: int | None) -> list[str]:
    errors, code = command.errors(), command.host.returncode
    is_before = is_before_main(errors) or (how == NO_MEMORY and is_before_work(errors))
    complaints = ["a traceback"] if "Traceback" in errors and not is_before else []
    if how != FULL and code > 0 and "error: " not in errors and "failed" not in errors:
        complaints.append(f"exit code {code} without a message")
    if how == FULL and "Traceback" not in errors and code not in {0, 1, 2, 3}:
        complaints.append(f"exit code {code}")
    if wanted is not None and code != wanted:
        complaints.append(f"exit code {code}, not {wanted}")
    return complaints


def is_before_main(errors: str) -> bool:
    """Whether Ctrl-C came while Python was still importing the command line, where no code can handle it.

    Python wraps the exception if it comes while a class is made.
    """
    return "KeyboardInterrupt" in errors and "in main\n" not in errors


def is_before_work(errors: str) -> bool:
    """Whether memory ran out while Python was still starting a worker and importing what it needs.

    No code can handle that there: Python itself prints it. The sweep goes on with another worker.
    """
    refused = r"^(MemoryError|ImportError|SystemError|OSError: \[Errno 12\])"
    return "in _serve\n" not in errors and re.search(refused, errors, re.M) is not None


def _resumed(stage: Stage, folder: Path) -> list[str]:
    """The complaints after the command was left alone."""
    complaints = again(stage.subject, folder)
    if complaints:
        return complaints
    stage.subject.finish(folder)
    found = outcome(folder)
    differing = [f"{name} differs" for name, content in stage.wanted.items() if found.get(name) != content]
    hidden = [path for path in folder.rglob("*") if path.name.startswith(".") and STORE_FOLDER not in path.parts]
    empty = [path for path in folder.rglob("*") if path.is_dir() and not any(path.iterdir())]
    return [
        *differing,
        *(f"{path} is left" for path in (*hidden, *empty)),
        *left_in(folder.with_name(f"{folder.name}.tmp")),
    ]


def _run_chapter(asked: TrialOptions) -> Iterator[Outcome]:
    for name, subject in subjects(asked.folder).items():
        if name in asked.subjects:
            with subject.session():
                stage = set_stage(subject, asked.folder / name)
                yield from trials(stage, asked.trials, asked.random(name), asked.harms)


CHAPTER = Chapter(
    _run_chapter,
    subjects=(
        "run",
        "sweep",
        "stand-in",
        "aggregate",
        "figures",
        "export",
        "reproduce",
        "sweep on the radio",
        "castalia",
    ),
    harms=(*SIGNALS, NO_MEMORY, CLOCK_BACK, FULL),
    trials=40,
    on_request=(CLOCK_BACK, FULL),
)
