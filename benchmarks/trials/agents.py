"""Agents that misbehave, tried in a run, in a sweep beside an agent that behaves, and by `roambus vet`.

python -m benchmarks.trials agents [--subject messages] [--harm "in a run"] [--only NAME]

Promised is: an exit code that is not 0, the message that the agent's entry has, no traceback, no trace of that agent,
no process and no unfinished folder left, and in a sweep the traces of the agent beside it, byte for byte. Agents whose
runs look right, and are not, are found by `roambus vet`, by the right check. All agents are tried unless a number is
asked for; with --only, those whose name contains that.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.trials.harness import Asked, Chapter, Outcome
from benchmarks.trials.misbehaving.catalogue import Misbehaving
from benchmarks.trials.misbehaving.chance import CHANCE
from benchmarks.trials.misbehaving.messages import MESSAGES
from benchmarks.trials.misbehaving.processes import PROCESSES
from benchmarks.trials.misbehaving.values import VALUES
from roambus.bridge.agents import load_agent
from roambus.bridge.errors import UserError
from roambus.bridge.host.agents import make_agents
from roambus.bridge.runs.layout import TRACE_FILE
from roambus.bridge.trace.parquet import TraceWriter
from roambus.command_line import main
from roambus.experiments.sweeps.attempts import PREFIX
from roambus.python_protocol.vocabulary import Role
from tests.support.scenarios import scenario

IN_RUN, IN_SWEEP, VETTED = "in a run", "in a sweep", "vetted"
SUBJECTS = {"wrong values": VALUES, "messages": MESSAGES, "the process": PROCESSES, "chance": CHANCE}
SWEEP = """\
template = "field"
backend = "ideal"
seeds = 2
[set]
nodes = 3
side = 10
time_limit = 3
[agents]
beacon = {}
"""
PATIENCE_S = 5.0
"""So long may what belongs to a command that has ended be there still."""
TOGETHER = 12
"""So many agents misbehave in one sweep."""


@dataclass(frozen=True, slots=True)
class Done:
    """What a command has come to."""

    code: int
    printed: str


def write(agent: Misbehaving, folder: Path, out: Path) -> Path:
    """Writes the agent's file; where its source has {out} stands the folder of the results."""
    file = folder / agent.file
    file.write_text(agent.source.replace("{out}", str(out)), encoding="utf-8")
    return file


def try_in_run(agent: Misbehaving, folder: Path) -> list[str]:
    """What is not as promised when it is run alone."""
    out = folder / "run"
    write(agent, folder, out)
    settings = ("--set", "nodes=3", "--set", "side=10", "--set", "time_limit=3")
    done = roambus(folder, "run", "field", "--backend", "ideal", *settings, "--agent", agent.file, "--out", str(out))
    return [*_of_message(agent, done.printed, done), *_left(out, [])]


def try_in_sweep(agents: Sequence[Misbehaving], folder: Path, neighbour: Mapping[str, bytes]) -> dict[str, list[str]]:
    """What is not as promised of each when they run beside one whose traces are to be `neighbour`."""
    out = folder / "sweep"
    for agent in agents:
        write(agent, folder, out)
    done = _sweep([agent.file for agent in agents], folder, out)
    of_all = [*_left(out, list(neighbour)), *_changed(out, neighbour)] if (out / "traces").exists() else []
    return {agent.name: [*_of_message(agent, _lines_of(agent, done.printed), done), *of_all] for agent in agents}


def _lines_of(agent: Misbehaving, printed: str) -> str:
    """What a sweep prints of one agent; all of it if none of its runs was begun."""
    lines = [line for line in printed.splitlines() if f"agent={_label(agent.file)}/" in line]
    return "\n".join(lines) or printed


def neighbour_traces(folder: Path) -> dict[str, bytes]:
    """The traces of the agent beside, by their paths, when it is alone."""
    _sweep([], folder, folder / "sweep")
    return {str(file.relative_to(folder / "sweep")): file.read_bytes() for file in _traces(folder / "sweep")}


def _sweep(files: Sequence[str], folder: Path, out: Path) -> Done:
    lines = "".join(f'{_label(file)} = {{ use = "{file}" }}\n' for file in files)
    (folder / "sweep.toml").write_text(SWEEP + lines, encoding="utf-8")
    return roambus(folder, "sweep", "sweep.toml", "--workers", "1", "--out", str(out))


def _label(file: str) -> str:
    return file.removesuffix(".py")


def roambus(folder: Path, *words: str) -> Done:
    """Calls the command in this folder, in a process that is forked from this one: so nothing is imported again."""
    with tempfile.TemporaryFile("w+b") as printed:
        process = os.fork()
        if process == 0:
            code = 1
            try:
                os.chdir(folder)
                for stream in (1, 2):
                    os.dup2(printed.fileno(), stream)
                code = _call(words)
            finally:
                os._exit(code)  # nothing of the parent's is to be cleaned up twice, or done in its place
        _, status = os.waitpid(process, 0)
        printed.seek(0)
        return Done(os.waitstatus_to_exitcode(status), printed.read().decode(errors="replace"))


def _call(words: Sequence[str]) -> int:
    sys.stdout, sys.stderr = (
        open(stream, "w", encoding="utf-8", errors=errors, closefd=False)  # noqa: SIM115  # they stay open to the end
        for stream, errors in ((1, "strict"), (2, "backslashreplace"))  # as Python has them
    )
    sys.argv = ["roambus", *words]
    try:
        main()
    except SystemExit as ended:
        return int(ended.code or 0)
    except BaseException:  # it is told like any other
        traceback.print_exc()
        return 1
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    return 0


def _of_message(agent: Misbehaving, said: str, done: Done) -> list[str]:
    complaints = [] if done.code > 0 else [f"the exit code is {done.code}"]
    if not agent.is_told_by(said):
        complaints.append(f"it says {said[-600:]!r}, and not {agent.says!r} with {agent.place!r}")
    if "Traceback" in done.printed:
        complaints.append("there is a traceback")
    return complaints


def _traces(out: Path) -> Sequence[Path]:
    return sorted(out.rglob(TRACE_FILE))


def _left(out: Path, expected: Sequence[str]) -> Iterator[str]:
    found = {str(file.relative_to(out)) for file in _traces(out)}
    if found != set(expected):
        yield f"there are the traces {sorted(found)}, and not {sorted(expected)}"
    yield from (f"{folder.name} is left" for folder in out.glob(f"{PREFIX}*"))
    until = time.monotonic() + PATIENCE_S
    while (processes := _processes_in(out.parent)) and time.monotonic() < until:
        time.sleep(0.2)  # Python's own helper of a command ends a moment after it
    if processes:
        yield f"processes are left: {', '.join(processes)}"


def _changed(out: Path, neighbour: Mapping[str, bytes]) -> Iterator[str]:
    for place, trace in neighbour.items():
        if not (out / place).is_file() or (out / place).read_bytes() != trace:
            yield f"{place} is another one"


def _processes_in(folder: Path) -> list[str]:
    """The processes that work in this folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").resolve() == folder.resolve() and int(process.name) != os.getpid():
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue
    return found


def try_to_vet(agent: Misbehaving, folder: Path) -> list[str]:
    """What is not as promised when it is vetted."""
    write(agent, folder, folder)
    done = roambus(folder, "vet", agent.file)
    complaints = [] if done.code == 1 else [f"the exit code is {done.code}"]
    if not agent.is_told_by(done.printed):
        complaints.append(f"it finds {done.printed[-600:]!r}, and not {agent.says!r} with {agent.place!r}")
    return complaints


def is_refused(agent: Misbehaving, folder: Path) -> bool:
    """Whether it cannot even be imported or made, which ends a sweep before it begins."""
    try:
        make_agents(scenario([Role.NONE]), load_agent(str(write(agent, folder, folder))))
    except UserError:
        return True
    return False


def _in_sweeps(agents: Sequence[Misbehaving]) -> Iterator[tuple[str, list[str]]]:
    """Several together beside one that behaves; those that a sweep refuses before it begins, each alone."""
    with tempfile.TemporaryDirectory() as folder:
        neighbour = neighbour_traces(Path(folder))
        refused = [agent for agent in agents if is_refused(agent, Path(folder))]
    begun = [agent for agent in agents if agent not in refused]
    groups = [begun[start : start + TOGETHER] for start in range(0, len(begun), TOGETHER)]
    for group in (*groups, *([agent] for agent in refused)):
        with tempfile.TemporaryDirectory() as folder:
            yield from try_in_sweep(group, Path(folder), neighbour).items()


def _tried(agents: Sequence[Misbehaving], how: str) -> Iterator[tuple[str, list[str]]]:
    if how == IN_SWEEP:
        yield from _in_sweeps(agents)
        return
    for agent in agents:
        with tempfile.TemporaryDirectory() as folder:
            yield agent.name, (try_in_run if how == IN_RUN else try_to_vet)(agent, Path(folder))


def _run_chapter(asked: Asked) -> Iterator[Outcome]:
    TraceWriter().table()  # what every run imports is imported once
    for subject in asked.subjects:
        named = [agent for agent in SUBJECTS[subject] if asked.settings["only"] in agent.name]
        ways = (VETTED,) if SUBJECTS[subject] is CHANCE else (IN_RUN, IN_SWEEP)
        for how in (way for way in ways if way in asked.harms):
            for name, complaints in _tried(asked.some(named, subject), how):
                yield Outcome(subject, how, complaints=[f"{name}: {one}" for one in complaints])


CHAPTER = Chapter(_run_chapter, tuple(SUBJECTS), (IN_RUN, IN_SWEEP, VETTED), trials=0, settings={"only": ""})
