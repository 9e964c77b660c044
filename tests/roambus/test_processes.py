"""The command line as real processes: what is left when it is stopped, killed, or has no room to write."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from roambus import command_line
from roambus.experiments.sweeps.attempts import PREFIX
from tests.support.agents import write_agent
from tests.support.files import files_below

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "roambus"]


def start(
    folder: Path, *arguments: str, prefix: Sequence[str] = (), command: Sequence[str] = COMMAND
) -> subprocess.Popen[str]:
    """In a session of its own, as in a terminal: what is sent to the group reaches the workers too."""
    return subprocess.Popen(
        [*prefix, *command, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 40
    while not condition():
        assert time.monotonic() < deadline, "nothing happened in 40 s"
        time.sleep(0.02)


def traces(folder: Path) -> list[Path]:
    """Those in place: what a sweep has not moved there yet does not count."""
    return sorted(path for path in files_below(folder, "trace.parquet") if PREFIX not in str(path))


def session_processes(session: int) -> list[int]:
    """The live processes of a session (field 6 of /proc/PID/stat)."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(path.parent.name))
    return found


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The embedded radio and all modules are compiled: under a limit, Python would leave cut ones for good."""
    parts = [str(ROOT / "roambus" / part) for part in ("bridge", "commands", "experiments", "python_protocol", "spark")]
    subprocess.run([sys.executable, "-m", "compileall", "-q", *parts], check=False)  # to where a command looks for them
    folder = tmp_path_factory.mktemp("compiled")
    agent = write_agent(folder, "mine", "pass")
    settings = ["--agent", str(agent), "--set", "nodes=2", "--set", "time_limit=1"]
    start(folder, "run", "field", *settings).communicate(timeout=60)


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("kilobytes", [0, *(pytest.param(size, marks=pytest.mark.slow) for size in (2, 5))])
def test_a_full_disk_is_reported_once(folder: Path, kilobytes: int) -> None:
    """Whichever file does not fit any more: one message, and no run is half there.

    A limit on the size of files stands for the disk: writing fails in the same places.
    """
    write_agent(folder, "mine", "print('x' * 10_000)")
    limit = (
        f'export PYTHONDONTWRITEBYTECODE=1; ulimit -f {kilobytes}; exec "$@"'  # else half of a module's code is kept
    )
    running = start(
        folder, "sweep", "mine.toml", "--workers", "1", "--out", "out", prefix=["bash", "-c", limit, "bash"]
    )
    _, errors = running.communicate(timeout=60)
    assert running.returncode == 2
    assert re.search(r"error: out/\S+: File too large\n\Z", errors)
    assert "Traceback" not in errors
    assert {path.parent for path in files_below(folder, "run.ini")} == {path.parent for path in traces(folder)}
    assert not list(folder.rglob(".trace*"))


SMALL = ("run", "field", "--agent", "mine.py", "--set", "nodes=2", "--set", "time_limit=1", "--backend", "ideal")


@pytest.mark.parametrize("words", [SMALL, pytest.param(("sweep", "mine.toml"), marks=pytest.mark.slow)])
def test_closed_streams_are_no_mistake(folder: Path, words: Sequence[str]) -> None:
    """Of a command and of its workers: what would be printed is lost, and nothing else."""
    write_agent(folder, "mine", "print('unheard', flush=True)")
    closed = ["bash", "-c", 'exec "$@" <&- >&- 2>&-', "bash"]
    running = start(folder, *words, "--out", "out", prefix=closed)
    running.communicate(timeout=60)
    assert running.returncode == 0
    assert traces(folder)


@pytest.fixture
def slow(folder: Path) -> Path:
    """A sweep whose runs with two nodes are quick, and with four are not."""
    write_agent(folder, "mine", "if self.node > 1:\n    time.sleep(0.25)")
    return folder


@pytest.mark.slow
def test_folders_called_like_ours_are_not_taken_for_ours(folder: Path) -> None:
    """A user's own experiments are often called so; an agent of the folder is found nevertheless."""
    for name in ("bridge", "experiments", "python_protocol", "spark"):
        (folder / name).mkdir()
        (folder / name / "__init__.py").touch()
    sweep = (folder / "mine.toml").read_text().replace("mine.py", "mine:Ticking").replace("seeds = 3", "seeds = 1")
    (folder / "mine.toml").write_text(sweep)
    as_installed = [sys.executable, "-P", *COMMAND[1:]]  # a console script does not look in the working folder
    running = start(folder, "sweep", "mine.toml", "--out", "out", command=as_installed)
    output, errors = running.communicate(timeout=60)
    assert "failed 0" in output, errors


def test_ctrl_c_ends_a_sweep_and_its_workers(slow: Path) -> None:
    """Exit code 130, one message, no half-written run; the same command goes on."""
    running = start(slow, "sweep", "mine.toml", "--out", "out")
    until(lambda: len(traces(slow)) >= 1 and len(files_below(slow, "run.ini")) > len(traces(slow)))
    os.killpg(running.pid, signal.SIGINT)
    _, errors = running.communicate(timeout=40)
    assert running.returncode == 130
    assert errors.splitlines()[-1].startswith("error: interrupted; the same command makes the missing runs")
    assert "Traceback" not in errors
    until(lambda: session_processes(running.pid) == [])  # multiprocessing's own tracker ends a moment later
    assert {path.parent for path in files_below(slow, "run.ini")} == {path.parent for path in traces(slow)}
    complete = len(traces(slow))
    assert 1 <= complete < 6
    resumed, _ = start(slow, "sweep", "mine.toml", "--workers", "1", "--out", "out").communicate(timeout=60)
    assert f"runs done {6 - complete}, already there {complete}" in resumed


@pytest.mark.slow
def test_a_sweep_killed_at_any_moment_resumes(slow: Path) -> None:
    """Its workers end with it, and what they had begun is done again."""
    running = start(slow, "sweep", "mine.toml", "--out", "out")
    until(lambda: len(traces(slow)) >= 1 and len(files_below(slow, "run.ini")) > len(traces(slow)))
    os.kill(running.pid, signal.SIGKILL)
    running.communicate(timeout=40)
    until(lambda: session_processes(running.pid) == [])
    complete = len(traces(slow))
    resumed, _ = start(slow, "sweep", "mine.toml", "--workers", "1", "--out", "out").communicate(timeout=60)
    assert f"runs done {6 - complete}, already there {complete}" in resumed
    assert len(traces(slow)) == 6


def test_ctrl_c_ends_a_single_run(slow: Path) -> None:
    """Nothing of it is left; where a handler was running, the message says which."""
    running = start(slow, "run", "field", "--agent", "mine.py", "--set", "nodes=4", "--out", "out")
    until(lambda: bool(files_below(slow, "run.ini")))
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=40)
    assert running.returncode == 130
    assert re.fullmatch(r"error: interrupted(: agent Ticking, node \d, .* at mine\.py:\d+ in tick)?", errors.strip())
    assert not (slow / "out").exists()


LOOP = """\
from roambus import Agent, Started, on


class Loop(Agent):
    @on(Started)
    def start(self, event, now):
        open("begun", "w").close()
        while True:
            pass
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_handler_that_never_ends_is_named_when_it_is_interrupted(tmp_path: Path, number: int) -> None:
    """With its node, event and line, whether a terminal interrupts all processes or somebody only the command."""
    (tmp_path / "loop.py").write_text(LOOP)
    running = start(tmp_path, "run", "field", "--backend", "ideal", "--agent", "loop.py", "--out", "out")
    until((tmp_path / "begun").exists)
    if number == signal.SIGINT:
        os.killpg(running.pid, number)
    else:
        running.send_signal(number)
    _, errors = running.communicate(timeout=60)
    assert running.returncode == 130
    place = r"interrupted: agent Loop, node 0, simulation time 0s, on Started\(\) at loop.py:[89] in start"
    assert re.search(place, errors), errors
    assert session_processes(running.pid) == []
    assert not (tmp_path / "out").exists()


def test_ctrl_c_while_modules_are_read_ends_the_command_without_a_word() -> None:
    """Nothing is there to be cleaned up, and Python's traceback would name a line of an import."""
    program = (
        "import sys, signal; sys.argv = ['/bin/roambus', '--version']; import roambus; "
        "first = signal.getsignal(signal.SIGINT); from roambus.command_line import main; "
        "import atexit; atexit.register(lambda: print(first == 0, signal.getsignal(2))); main()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "True <built-in function default_int_handler>"


def test_the_command_line_answers_before_slow_libraries_are_imported() -> None:
    """Neither what draws, nor what computes metrics, is imported before a command needs it."""
    program = (
        "import sys, roambus.command_line; "
        "print({'matplotlib', 'pyspark', 'pandas', 'numpy', 'pyarrow', 'scipy', 'numba'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("kilobytes", [150_000, 210_000, 212_000, 299_000])
def test_with_little_memory_a_run_ends_with_one_message(tmp_path: Path, kilobytes: int) -> None:
    """Before memory ends in the import of a library, where Python loops for ever, or ends by SIGSEGV."""
    limit = f'export PYTHONDONTWRITEBYTECODE=1; ulimit -v {kilobytes}; exec "$@"'
    words = ["run", "field", "--backend", "ideal", "--set", "nodes=2", "--set", "time_limit=1", "--out", "out"]
    running = start(tmp_path, *words, prefix=["bash", "-c", limit, "bash"])
    _, errors = running.communicate(timeout=60)
    assert running.returncode == 1
    assert errors.startswith(f"error: there is not enough memory: a process may have {kilobytes:,} KiB here")
    assert errors.count("\n") == 1
    assert session_processes(running.pid) == []


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        ImportError("libarrow.so.2600: failed to map segment from shared object"),
        SystemError("<function _handle_fromlist at 0x7f> returned NULL without setting an exception"),
        SystemError("error return without exception set"),
    ],
)
def test_a_lack_of_memory_is_no_mistake_in_roambus(error: Exception) -> None:
    """Wherever it is noticed, it has one message and the exit code of what went wrong."""
    message, code = command_line._expected(error) or ("", 0)
    assert message.startswith("there is not enough memory (")
    assert code == 1
