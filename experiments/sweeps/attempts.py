"""One attempt at a run of a sweep, in a private folder.

Attempts at a run can overlap, and any can be killed, so none touches another's files:

- A command has a workspace in the results, with a folder for each attempt, on the same disk. An ended run moves into
  place in one step; the first stays, since all are equal byte for byte.
- The next command removes a killed one's workspace, whose lock is free. Without file locks it stays.
- The log gets an agent's output, and messages name the run's folder.
"""

from __future__ import annotations

import errno
import fcntl
import io
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import replace
from pathlib import Path

from roambus.bridge.backend import BackendFactory
from roambus.bridge.runs.layout import FAILED_FILE, LOG_FILE
from roambus.bridge.runs.run import (
    RunPlan,
    discard_files,
    errors_named,
    execute,
    is_complete,
    record_ended,
    run_key,
)
from roambus.bridge.system.child_process import EndedError, run_in_child
from roambus.bridge.system.files import locked
from roambus.bridge.system.interrupts import termination_interrupts

PREFIX = ".unfinished-"
LOCK_FILE = "lock"


@contextmanager
def workspace(results: Path) -> Iterator[Path]:
    """Make this command's folder below `results`, removed at the end; raises OSError."""
    with locked(results):
        _remove_abandoned(results)
        folder = new_folder(results, PREFIX)
        lock = os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o600)
        with suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        yield folder
    finally:
        remove_at_once(folder)
        os.close(lock)


def new_folder(parent: Path, prefix: str = "") -> Path:
    """Make a uniquely named folder in this one; raises OSError."""
    # Since Python 3.12 what it gives is absolute, and messages name files as the user does.
    return parent / Path(tempfile.mkdtemp(prefix=prefix, dir=parent)).name


def remove_at_once(folder: Path) -> None:
    """Rename the folder, so that no process adds to it, then remove it."""
    removed = folder.with_name(f"{folder.name}-removed")
    with suppress(OSError):
        folder.rename(removed)
    shutil.rmtree(removed, ignore_errors=True)


def tidy(results: Path) -> None:
    """Remove killed commands' remains below `results`, if it exists; raises OSError."""
    if results.is_dir():
        with locked(results):
            _remove_abandoned(results)


def _remove_abandoned(results: Path) -> None:
    for folder in results.glob(f"{PREFIX}*"):
        if _is_abandoned(folder):
            remove_at_once(folder)


def is_shared(results: Path) -> bool:
    """Return whether another command makes runs there."""
    return any(not _is_abandoned(folder) for folder in results.glob(f"{PREFIX}*"))


def _is_abandoned(folder: Path) -> bool:
    try:
        lock = os.open(folder / LOCK_FILE, os.O_RDWR)
    except FileNotFoundError:  # killed between two steps
        return True
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(lock)
    return True


def attempt_in_child(plan: RunPlan, backend: BackendFactory, workspace: Path, key: str) -> str | None:
    """Do `attempt` in a child process; raises EndedError if killed."""
    try:
        return run_in_child(lambda: attempt(plan, backend, workspace, key))
    except EndedError as error:
        if error.was_killed:
            raise
        return _first_line(record_ended(plan, backend, error))


def attempt(plan: RunPlan, backend: BackendFactory, workspace: Path, key: str | None = None) -> str | None:
    """Make the run in `workspace`; return its error's first line, or None.

    The log gets the agent's output. Raises OSError, and KeyboardInterrupt also after SIGTERM.
    """
    private = replace(plan, results=new_folder(workspace))
    try:
        key = key or run_key(plan, backend)
        failure = _execute(private, backend, key)
        log = private.folder / LOG_FILE
        text = log.read_text(encoding="utf-8")
        # Errors name the run's folder, not the private one that is soon gone. Most logs name neither.
        if str(private.results) in text:
            log.write_text(text.replace(str(private.results), str(plan.results)), encoding="utf-8")
        move_in_place(private, plan, key)
    finally:
        remove_at_once(private.results)
    return failure and failure.replace(str(private.results), str(plan.results))


def _execute(plan: RunPlan, backend: BackendFactory, key: str) -> str | None:
    kept = _Kept()
    printed = io.TextIOWrapper(kept, encoding="utf-8", write_through=True)
    failure = None
    try:
        with redirect_stdout(printed), termination_interrupts():
            execute(plan, backend, key)
    except OSError:
        raise
    except Exception as error:
        failure = _first_line(error)
        # Next time there may be enough memory: the run has failed for now, and the same sweep tries it again. Nobody
        # can tell a machine that has none left from an agent that takes all that there is.
        if any(isinstance(cause, MemoryError) for cause in (error, error.__cause__, error.__context__)):
            (plan.folder / FAILED_FILE).unlink(missing_ok=True)
    log = plan.folder / LOG_FILE
    kept.close()
    with errors_named(log), log.open("ab") as file:
        file.write(kept.content)
    return failure


class _Kept(io.BytesIO):
    """Printed text; `content` has it after closing, which an agent can do, too."""

    content = b""

    def close(self) -> None:
        if not self.closed:
            self.content = self.getvalue()
        super().close()


def _first_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0]


def move_in_place(private: RunPlan, plan: RunPlan, key: str) -> None:
    """Make the ended run's folder that of `plan`, unless another attempt was first; raises OSError."""
    while not is_complete(plan.folder, key):
        try:
            private.folder.rename(plan.folder)
        except FileNotFoundError:
            if not private.folder.exists():  # the sweep has ended without us
                raise
            plan.folder.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            # Which of the two it is when the folder is there depends on the file system.
            if error.errno not in {errno.EEXIST, errno.ENOTEMPTY}:
                raise
            _displace(plan.folder, private)
        else:
            return


def _displace(old: Path, private: RunPlan) -> None:
    displaced = private.results / "displaced"
    with suppress(FileNotFoundError):  # another attempt was faster
        old.rename(displaced)
        discard_files(displaced)
        for file in displaced.iterdir():
            if not (private.folder / file.name).exists():
                file.rename(private.folder / file.name)
