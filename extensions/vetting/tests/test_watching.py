"""Vetting ends whatever the agent does, and says where the agent was."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import indent

import pytest

from roambus.bridge.agents import load_agent
from roambus.bridge.system.errors import UserError
from roambus.extensions.vetting import scenes, watching
from roambus.extensions.vetting.examination import vet
from roambus.extensions.vetting.scenes import SCENES, Job, play
from roambus.extensions.vetting.watching import Calls, Examiner, calls_file, place_in

HEAD = """\
import os, subprocess, sys, time
from roambus import *


class Frame(Message, tag=1):
    number: U8


class A(Agent):
    @on(Frame)
    def hear(self, frame, sender, now):
        self.send(BROADCAST, frame)

    @on_timer("wait")
    @on(Started)
    def start(self, event, now):
"""


def agent(folder: Path, body: str, before: str = "") -> str:
    """The file of an agent that does this when it starts; its first line is line 16."""
    file = folder / "mine.py"
    file.write_text(f"{HEAD}{indent(body, ' ' * 8)}\n{before}", encoding="utf-8")
    return str(file)


LOOPS = "while True:\n    try:\n        {}\n    except BaseException:\n        pass"
"""Nothing that is raised in its process ends it."""


@pytest.mark.slow
@pytest.mark.parametrize("what", ["time.sleep(1)", "pass"])
def test_an_agent_that_never_returns_is_found_at_its_line(what: str, tmp_path: Path) -> None:
    """A handler that waits, and one that computes, both deaf to every error."""
    (found,) = vet(agent(tmp_path, LOOPS.format(what)), longest_call_s=3)
    assert found.check == "runs"
    assert found.problem.startswith("on ideal links, in a process of its own, node 0, at 0s, on Started: ")
    assert found.problem.endswith("it has not returned for 3 s: it loops, or waits")
    assert found.place in {f"mine.py:{line}" for line in range(16, 21)}


@pytest.mark.slow
def test_a_module_that_never_ends_is_found(tmp_path: Path) -> None:
    """The command's process does not load it."""
    (found,) = vet(agent(tmp_path, "pass", before="while True:\n    pass\n"), longest_call_s=1)
    assert found.problem == "the agent's module is read: it has not returned for 6 s: it loops, or waits"


@pytest.mark.slow
def test_many_short_waits_are_found_too(tmp_path: Path) -> None:
    """Each call returns in time, and the step does not."""
    (found,) = vet(agent(tmp_path, "self.set_timer('wait', 1)\ntime.sleep(1)"), longest_call_s=2)
    assert found.problem.endswith("handlers have taken 12 s in one run: they are slow, or wait")


@pytest.mark.slow
def test_a_message_that_never_ends_is_found_by_the_time_of_the_processor(tmp_path: Path) -> None:
    """Its `write` is called past the handlers."""
    before = "    def write(self, writer):\n        while True:\n            pass\n"
    source = Path(agent(tmp_path, "self.send(BROADCAST, Frame(1))"))
    source.write_text(source.read_text(encoding="utf-8").replace("    number: U8\n", f"    number: U8\n\n{before}"))
    (found,) = vet(str(source), longest_call_s=1)
    assert found.problem.endswith("the run has computed for 6 s, and has not ended")
    assert found.place in {"mine.py:9", "mine.py:10"}


def test_nodes_that_send_for_ever_are_found_by_the_number_of_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each frame makes more; the same number on each machine."""
    monkeypatch.setattr(scenes, "MOST_CALLS", 1000)
    source = agent(tmp_path, "self.send(BROADCAST, Frame(1))")
    job = Job(source, "", tmp_path)
    (found,) = play(job, SCENES[0], load_agent(source), Calls())
    assert "handlers were called 1000 times: nodes send, or set timers, for ever at mine.py:10 in hear" in found.problem
    assert found.place == "mine.py:10"


@pytest.mark.slow
def test_what_an_agent_starts_is_ended_too(tmp_path: Path) -> None:
    """It holds the streams of its process, which nobody waits for, and is killed with it."""
    body = f"subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)', {str(tmp_path)!r}])\nos._exit(3)"
    before = time.monotonic()
    found = vet(agent(tmp_path, body), longest_call_s=60)
    assert time.monotonic() - before < 60
    assert {finding.problem.rpartition(": ")[2] for finding in found} == {
        "the agent ended the process of its run, with exit code 3"
    }
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert str(tmp_path) not in [line.split()[-1] for line in listed.splitlines() if line.strip()]


@contextmanager
def full_disk() -> Iterator[None]:
    """No file may become longer than this: writing fails as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (6000, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def test_a_full_disk_is_not_the_agents_mistake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the folder, and the way to choose another."""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")  # or half of it would be left
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    with full_disk(), pytest.raises(UserError, match="File too large: vetting keeps its traces there, or where TMPDIR"):
        vet("flooding")


@pytest.mark.slow
def test_output_of_an_agent_is_not_taken_for_answers(tmp_path: Path) -> None:
    """Neither through Python nor past it."""
    source = agent(tmp_path, "os.write(1, b'{}\\n'); print('{}')")
    (process,) = [
        subprocess.run(
            [sys.executable, "-c", f"from roambus.extensions.vetting.examination import vet; print(vet({source!r}))"],
            capture_output=True,
            text=True,
            check=True,
        )
    ]
    assert process.stdout.strip() == "[]"


def test_the_place_of_an_endless_handler_is_its_innermost_line_in_the_agent() -> None:
    """The stack has the standard library's frames inside it, and ours around it."""
    ours = f'  File "{watching.__file__}", line 170 in main'
    stack = ["Current thread", f'  File "{signal.__file__}", line 1 in pause']
    stack += ['  File "/home/me/sleeps.py", line 13 in start', ours, '  File "<frozen runpy>", line 88 in _run_code']
    assert place_in(stack) == "sleeps.py:13"
    assert place_in([ours]) == ""


def test_a_process_that_has_made_no_call_is_asked_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its file still has zeros, and process 0 would be the command itself."""
    Calls.reserve(calls_file(tmp_path))
    asked = list[int]()
    monkeypatch.setattr("os.kill", lambda process, _: asked.append(process))
    with subprocess.Popen(["true"], stdout=subprocess.PIPE) as process:
        Examiner(process, tmp_path, -1.0).overdue()
    assert asked == [process.pid]
