"""How a process of ours ended, in words: its exit status, a signal, and whether memory was the cause."""

from __future__ import annotations

import signal
from contextlib import suppress
from pathlib import Path

_SHELL = 128
"""A shell, and Java, end with this more than the number of the signal that ended them."""
_COUNTERS = (Path("/proc/vmstat"), Path("/sys/fs/cgroup/memory.events"))


def describe_end(status: int, kills_before: int | None = None) -> str:
    """Such as "was killed by SIGKILL"; `kills_before` are the `memory_kills` of when the process was started."""
    if 0 <= status <= _SHELL:
        return f"ended with exit status {status}"
    number = -status if status < 0 else status - _SHELL
    try:
        name = signal.Signals(number).name
    except ValueError:
        return f"was killed by signal {number}" if status < 0 else f"ended with exit status {status}"
    if number == signal.SIGKILL:
        return f"was killed by {name}{_by_whom(kills_before)}"
    return f"was killed by {name}" if status < 0 else f"was ended by {name} (exit status {status})"


def _by_whom(kills_before: int | None) -> str:
    if kills_before is None:
        return ""
    if memory_kills() > kills_before:
        return ", and the kernel has ended a process for want of memory meanwhile: give it more, or fewer workers"
    return ", not by the kernel for want of memory as far as it says: somebody, or a limit of this machine's, sent it"


def memory_kills() -> int:
    """How many processes the kernel has ended for want of memory so far, as far as it tells."""
    return sum(_counted(file) for file in _counters())


def _counters() -> list[Path]:
    files = list(_COUNTERS)
    with suppress(OSError, IndexError):
        group = Path("/proc/self/cgroup").read_text(encoding="ascii").splitlines()[-1].partition("::")[2]
        files.append(Path("/sys/fs/cgroup", group.lstrip("/"), "memory.events"))
    return list(dict.fromkeys(files))


def _counted(file: Path) -> int:
    try:
        lines = file.read_text(encoding="ascii").splitlines()
    except (OSError, UnicodeDecodeError):
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("oom_kill "))
