"""Makes one attempt at a run of a sweep: in a private folder, which is moved in place when the run has ended.

Attempts at the same run may go on at the same time, and any of them can be killed: none touches what another one
writes. Where two end, they have the same trace, byte for byte, and the first one stays.
"""

from __future__ import annotations

import errno
import io
from contextlib import redirect_stdout, suppress
from dataclasses import replace
from pathlib import Path

from roambus.bridge.backends.factory import BackendFactory
from roambus.bridge.process import termination_interrupts
from roambus.bridge.runs.guard import EndedError, guarded, unclosable
from roambus.bridge.runs.identity import run_key
from roambus.bridge.runs.layout import LOG_FILE
from roambus.bridge.runs.plan import RunPlan
from roambus.bridge.runs.run import discard_files, errors_named, execute, is_complete, record_ended
from roambus.experiments.sweeps.workspace import new_folder, remove_at_once


def attempt_apart(plan: RunPlan, backend: BackendFactory, workspace: Path, key: str) -> str | None:
    """Does what `attempt` does in a process of its own, in which agents are refused what they may not.

    Raises EndedError if somebody has killed that process. One that an agent has ended is the run's error.
    """
    try:
        return guarded(lambda: attempt(plan, backend, workspace, key))
    except EndedError as error:
        if error.was_killed:
            raise
        return _first_line(record_ended(plan, backend, error))


def attempt(plan: RunPlan, backend: BackendFactory, workspace: Path, key: str | None = None) -> str | None:
    """Makes the run in `workspace`; returns the first line of its error, or None. `key` is the run's, if it is known.

    What an agent prints goes to the run's log. Raises OSError if results cannot be written, and KeyboardInterrupt after
    SIGTERM, too.
    """
    private = replace(plan, results=new_folder(workspace))
    try:
        key = key or run_key(plan, backend)
        failure = _execute(private, backend, key)
        _name_the_place(private, plan)
        move_in_place(private, plan, key)
    finally:
        remove_at_once(private.results)
    return failure and failure.replace(str(private.results), str(plan.results))


def _execute(plan: RunPlan, backend: BackendFactory, key: str) -> str | None:
    kept = _Kept()
    printed = io.TextIOWrapper(kept, encoding="utf-8", write_through=True)
    unclosable(printed)
    failure = None
    try:
        with redirect_stdout(printed), termination_interrupts():
            execute(plan, backend, key)
    except OSError:
        raise
    except Exception as error:
        failure = _first_line(error)
    log = plan.folder / LOG_FILE
    with errors_named(log), log.open("ab") as file:
        file.write(kept.content())
    return failure


class _Kept(io.BytesIO):
    """What was printed, also if it was closed."""

    _content: bytes | None = None

    def close(self) -> None:
        if not self.closed:
            self._content = self.getvalue()
        super().close()

    def content(self) -> bytes:
        """All of it."""
        return self.getvalue() if self._content is None else self._content


def _first_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0]


def _name_the_place(private: RunPlan, plan: RunPlan) -> None:
    """Writes the run's folder into the errors of its log, in place of the private one that is soon gone."""
    log = private.folder / LOG_FILE
    text = log.read_text(encoding="utf-8")
    if str(private.results) in text:
        log.write_text(text.replace(str(private.results), str(plan.results)), encoding="utf-8")


def move_in_place(private: RunPlan, plan: RunPlan, key: str) -> None:
    """Makes the ended run's folder the one of `plan`, unless another attempt was first to complete; raises OSError."""
    while not is_complete(plan.folder, key):
        try:
            private.folder.rename(plan.folder)
        except FileNotFoundError:
            if not private.folder.exists():  # the sweep has ended without us
                raise
            plan.folder.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            if error.errno not in {errno.EEXIST, errno.ENOTEMPTY}:
                raise
            _displace(plan.folder, private)
        else:
            return


def _displace(old: Path, private: RunPlan) -> None:
    """Takes away what an earlier run left, but keeps what somebody else put beside it."""
    displaced = private.results / "displaced"
    with suppress(FileNotFoundError):  # another attempt was faster
        old.rename(displaced)
        discard_files(displaced)
        for file in displaced.iterdir():
            if not (private.folder / file.name).exists():
                file.rename(private.folder / file.name)
