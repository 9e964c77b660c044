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
from roambus.bridge.interrupts import termination_interrupts
from roambus.bridge.runs.identity import run_key
from roambus.bridge.runs.plan import RunPlan
from roambus.bridge.runs.run import LOG_FILE, discard_files, errors_named, execute, is_complete
from roambus.experiments.sweeps.workspace import new_folder, remove_at_once


def attempt(plan: RunPlan, backend: BackendFactory, workspace: Path) -> str | None:
    """Makes the run in `workspace`; returns the first line of its error, or None.

    What an agent prints goes to the run's log. Raises OSError if results cannot be written, and KeyboardInterrupt after
    SIGTERM, too.
    """
    private = replace(plan, results=new_folder(workspace))
    try:
        failure = _execute(private, backend)
        _name_the_place(private, plan)
        move_in_place(private, plan, run_key(plan, backend))
    finally:
        remove_at_once(private.results)
    return failure and failure.replace(str(private.results), str(plan.results))


def _execute(plan: RunPlan, backend: BackendFactory) -> str | None:
    printed = io.StringIO()
    failure = None
    try:
        with redirect_stdout(printed), termination_interrupts():
            execute(plan, backend)
    except OSError:
        raise
    except Exception as error:
        failure = f"{type(error).__name__}: {error}".splitlines()[0]
    log = plan.folder / LOG_FILE
    with errors_named(log), log.open("a", encoding="utf-8") as file:
        file.write(printed.getvalue())
    return failure


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
