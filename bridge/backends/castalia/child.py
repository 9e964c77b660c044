"""The simulator as a child process, which has a log, ends in time, and leaves nothing behind."""

from __future__ import annotations

import subprocess
from pathlib import Path

from roambus.bridge.backends.castalia.files import SIMULATOR_LOG
from roambus.bridge.backends.castalia.installation import Program
from roambus.bridge.errors import BackendError
from roambus.bridge.process import describe_end, memory_kills

LAST_LINES = 5
LAST_BYTES = 4096
GRACE_S = 0.5
"""A simulator may take so long to end after a run that failed, before it is killed."""
_LINKER_STATUS = 127
"""With it the dynamic linker ends a program that wants another library than it finds."""
_NOT_LINKED = ": it may have been built with another OMNeT++, which roambus doctor tells"


EMPTY_FILES = (".cmdenv-log", "Castalia-Trace.txt")
"""Files that OMNeT++ and Castalia make in the run's folder, and write to only if they are told to."""


class Child:
    """Castalia, started in the run's folder; what it prints goes to `simulator.log` there."""

    def __init__(self, program: Program, folder: Path, deadline_s: float) -> None:
        """Starts it; it may take `deadline_s` to end after a whole run. Raises BackendError if it cannot be started."""
        self._deadline_s = deadline_s
        self._log = folder / SIMULATOR_LOG
        self._kills_before = memory_kills()
        with self._log.open("wb") as log:
            try:
                # A session of its own: Ctrl-C reaches the host alone, which then ends it in order.
                self._process = subprocess.Popen(  # noqa: S603  # the user's own simulator, without a shell
                    program.command, cwd=folder, env=program.environment,
                    stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                    start_new_session=True,
                )  # fmt: skip
            except OSError as error:
                raise BackendError(f"{program.command[0]} cannot be started: {error.strerror}") from None

    def ended(self) -> str | None:
        """How it ended, in words; None while it runs."""
        status = self._process.poll()
        if status is None:
            return None
        advice = _NOT_LINKED if status == _LINKER_STATUS else ""
        return f"the simulator {describe_end(status, self._kills_before)}{advice}"

    def end(self, *, in_order: bool) -> None:
        """Waits a moment for its own end, then kills it, frozen or not.

        Raises BackendError if it was to end in order, and did not, or with another status than 0.
        """
        within_s = self._deadline_s if in_order else GRACE_S
        try:
            self._process.wait(within_s)
        except subprocess.TimeoutExpired:
            if in_order:
                raise BackendError(f"the simulator did not end within {within_s:g} s") from None
        finally:
            self._process.kill()
            self._process.wait()
        self._remove_empty_files()
        if in_order and (end := self.ended()) and self._process.returncode != 0:
            raise BackendError(end)

    def _remove_empty_files(self) -> None:
        for name in EMPTY_FILES:
            file = self._log.with_name(name)
            if file.is_file() and file.stat().st_size == 0:
                file.unlink()

    def last_lines(self) -> str:
        """The end of its log, to be appended to an error."""
        with self._log.open("rb") as log:
            size = log.seek(0, 2)
            log.seek(max(0, size - LAST_BYTES))
            lines = log.read().decode(errors="replace").split("\n")
        last = [line.strip() for line in lines if line.strip()][-LAST_LINES:]
        return "; its log ends:\n  " + "\n  ".join(last) if last else "; its log is empty"
