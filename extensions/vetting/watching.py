"""Limits of the processes that run an agent, watched from the command's process: they hold whatever the agent does.

Before each call of the agent its process writes the event and the time into shared memory. The command
looks every 0.2 s, and kills the process with everything that it started. The kernel limits processor time and memory.
"""

from __future__ import annotations

import faulthandler
import json
import mmap
import os
import re
import resource
import select
import signal
import subprocess
import sysconfig
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from math import inf
from pathlib import Path
from struct import Struct
from typing import IO, Any, NamedTuple, cast

from roambus.bridge.system.child_process import EndedError
from roambus.bridge.system.code import is_own_file
from roambus.bridge.system.errors import UserError
from roambus.extensions.vetting.findings import Finding

RUNS = "runs"
"""The check that a run ends well."""
LONGEST_CALL_S = 10.0
"""Time in which a handler has to return."""
STEP = 6
"""In a step, the agent and its process may take as long as so many of the longest calls."""
WAIT = 10 * STEP
"""The same for the step as a whole: compiling the radio and a busy machine take time."""
MOST_MEMORY = 4 << 30
"""Bytes that each process may have: a handler that sends for ever needs them all."""
_LONGEST_FILE = 64 << 20
_LOOK_S = 0.2
_FORM = Struct("=dddIH")
"""Since when the call lasts (s of the monotonic clock, 0: no call), how long it may, all calls before (s), its process,
and the bytes of its text."""
_STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))


# In the agent's process


class EndlessError(Exception):
    """A run has more calls of handlers than any that ends."""


class Call(NamedTuple):
    """A call of the agent: its begin (s, 0: it has ended), limit, the time of all before it, process and text."""

    since: float
    longest_s: float
    before_s: float
    process: int
    text: str

    def lasts_s(self) -> float:
        """How long it has lasted."""
        return time.monotonic() - self.since if self.since else 0.0


class Calls:
    """The present activity of the agent's process, in a file that the command reads."""

    def __init__(self, file: Path | None = None) -> None:
        """Map the file, or memory of this process alone."""
        self._count = 0
        if file is None:
            self._memory = mmap.mmap(-1, mmap.PAGESIZE)
        else:
            with file.open("r+b") as opened:
                self._memory = mmap.mmap(opened.fileno(), mmap.PAGESIZE)

    @staticmethod
    def reserve(file: Path) -> None:
        """Make the file; raise OSError. A mapped file with holes would end the process on a full disk."""
        file.write_bytes(bytes(mmap.PAGESIZE))

    @contextmanager
    def during(self, text: str, longest_s: float = inf) -> Iterator[None]:
        """Limit the block, which the text describes, to a time (s), or as its process does."""
        before, since = self.current().before_s, time.monotonic()
        data = text.encode()[: mmap.PAGESIZE - _FORM.size]
        self._memory[_FORM.size : _FORM.size + len(data)] = data
        self._write(since, longest_s, before, len(data))
        try:
            yield
        finally:
            before += time.monotonic() - since
            self._write(0.0, longest_s, before, len(data))

    def _write(self, since: float, longest_s: float, before: float, length: int) -> None:
        # `pack_into` writes zeros first, which the command could read as a process.
        self._memory[: _FORM.size] = _FORM.pack(since, longest_s, before, os.getpid(), length)

    def begin_run(self) -> None:
        """Count the calls of the agent from 0."""
        self._count = 0

    def count(self, most: int) -> None:
        """Count a call; raise EndlessError if there are more than that."""
        self._count += 1
        if self._count > most:
            raise EndlessError(f"handlers were called {most} times: nodes send, or set timers, for ever")

    def current(self) -> Call:
        """Return the present call, or the last one."""
        since, longest, before, process, length = _FORM.unpack_from(self._memory)
        text = self._memory[_FORM.size : _FORM.size + length].decode(errors="replace")
        return Call(since, longest, before, process, text)


def limit_this_process(folder: Path, longest_call_s: float, steps: int) -> None:
    """Limit the process and its children; a signal makes it write its stack to the folder."""
    stack = (folder / "stack").open("w")  # it stays open to the end
    faulthandler.register(signal.SIGUSR2, file=stack)
    whole_s = int(longest_call_s * WAIT * steps) + 1
    faulthandler.dump_traceback_later(whole_s, exit=True, file=stack)  # if the command has gone
    for kind, most in (
        (resource.RLIMIT_CPU, whole_s),
        (resource.RLIMIT_DATA, MOST_MEMORY),
        (resource.RLIMIT_FSIZE, _LONGEST_FILE),
    ):
        soft, hard = resource.getrlimit(kind)
        known = [limit for limit in (soft, hard, most) if limit != resource.RLIM_INFINITY]
        resource.setrlimit(kind, (min(known), hard))


# In the command's process


class Spent(NamedTuple):
    """Time of a process: on the clock, in calls of the agent, and of the processor (s)."""

    wall_s: float
    calls_s: float
    processor_s: float


@dataclass(eq=False)
class Examiner:
    """A process that runs the agent, as the command sees it."""

    process: subprocess.Popen[bytes]
    folder: Path
    longest_call_s: float
    unread: bytes = b""
    is_done: bool = False

    def __post_init__(self) -> None:
        self.calls = Calls(calls_file(self.folder))
        self.began = self._spent()
        """The time at the begin of the current step."""

    def kill(self) -> None:
        """End the process, and all that it has started."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def answers(self) -> Iterator[dict[str, Any]] | None:
        """The complete answers that have come; None at the end of the process."""
        data = os.read(cast("IO[bytes]", self.process.stdout).fileno(), 1 << 16)
        if not data:
            return None
        self.began = self._spent()
        *lines, self.unread = (self.unread + data).split(b"\n")
        return (json.loads(line) for line in lines)

    def _spent(self) -> Spent:
        """The time that the process has taken so far."""
        call = self.calls.current()
        return Spent(time.monotonic(), call.before_s + call.lasts_s(), processor_s(self.process.pid))

    def overdue(self) -> Finding | None:
        """Return a finding if the call or the step takes too long."""
        call, spent, step_s = self.calls.current(), self._spent(), STEP * self.longest_call_s
        longest_s = self.longest_call_s if call.longest_s == inf else call.longest_s
        if call.lasts_s() > longest_s:
            problem = f"it has not returned for {longest_s:g} s: it loops, or waits"
        elif spent.calls_s - self.began.calls_s > step_s:
            problem = f"handlers have taken {step_s:g} s in one run: they are slow, or wait"
        elif spent.processor_s - self.began.processor_s > step_s:
            problem = f"the run has computed for {step_s:g} s, and has not ended"
        elif spent.wall_s - self.began.wall_s > WAIT * self.longest_call_s:
            problem = f"the run has not ended after {WAIT * self.longest_call_s:g} s"
        else:
            return None
        return Finding(RUNS, f"{call.text}: {problem}", self._place(call.process))

    def _place(self, process: int) -> str:
        """The agent's line at which a process is, "mine.py:13"; empty if it does not answer."""
        file = self.folder / "stack"
        with suppress(OSError):
            os.kill(process or self.process.pid, signal.SIGUSR2)  # 0 would be the command and its group
            time.sleep(_LOOK_S)
            return place_in(file.read_text(encoding="utf-8", errors="replace").splitlines())
        return ""

    def ended(self) -> Finding:
        """Return the finding of a process that has ended before its work was done."""
        self.is_done = True
        words = (self.folder / "stderr").read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
        text = self.calls.current().text
        how = ": ".join([str(EndedError(self.process.wait())), *words])
        return Finding(RUNS, f"{text}: {how}" if text else how)


def calls_file(folder: Path) -> Path:
    """The file of a process's calls."""
    return folder / "calls"


def listen(examiners: Sequence[Examiner], advance: Callable[[], None], ends: list[dict[str, Any]]) -> Iterator[Finding]:
    """Yield findings until all have ended, or one does not; add their last answers to `ends`. Raise UserError."""
    running = {cast("IO[bytes]", examiner.process.stdout).fileno(): examiner for examiner in examiners}
    while running:
        for ready in select.select([*running], [], [], _LOOK_S)[0]:
            examiner = running[ready]
            yield from _heard(examiner, advance, ends)
            if examiner.is_done:
                del running[ready]
        for examiner in running.values():
            if (overdue := examiner.overdue()) is not None:
                yield overdue
                return


def _heard(examiner: Examiner, advance: Callable[[], None], ends: list[dict[str, Any]]) -> Iterator[Finding]:
    """Yield the findings of an examiner's new answers."""
    answers = examiner.answers()
    if answers is None:
        yield examiner.ended()
        return
    for answer in answers:
        if "error" in answer:
            raise UserError(answer["error"])
        if "end" in answer:
            examiner.is_done = True
            ends.append(answer["end"])
            return
        yield from (Finding(**finding) for finding in answer["findings"])
        advance()


def processor_s(process: int) -> float:
    """The processor time of a process (s); 0 if the system does not say."""
    with suppress(OSError):
        fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(") ")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")  # utime and stime
    return 0.0


def place_in(stack: Sequence[str]) -> str:
    """The innermost line of a user's file in a stack, "mine.py:13"; empty if there is none."""
    frames = (re.search(r'File "(.*)", line (\d+)', line) for line in stack)
    places = ((Path(match[1]), match[2]) for match in frames if match)
    return next((f"{file.name}:{line}" for file, line in places if _is_users(file)), "")


def _is_users(file: Path) -> bool:
    is_library = file.is_relative_to(_STANDARD_LIBRARY) or "site-packages" in file.parts
    return not (is_library or is_own_file(file) or file.name.startswith("<"))
