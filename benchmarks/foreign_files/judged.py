"""Says whether what came of a call is as promised: it works, or ends with one message, soon and without traceback."""

from __future__ import annotations

import contextlib
import io
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

from roambus.bridge.errors import RoambusError

PATIENCE_S = 20
"""So long may a call take; what it waits for is small."""
WORKED, REFUSED = "worked", "refused"


@dataclass(slots=True)
class Tally:
    """How often something was tried, what came of it as promised, and a line for each time that it did not."""

    outcomes: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    @property
    def tried(self) -> int:
        """How often."""
        return self.outcomes.total() + len(self.faults)

    def row(self, name: str) -> str:
        """The line of the table."""
        worked, refused = self.outcomes[WORKED], self.outcomes[REFUSED]
        return f"{name:24}{self.tried:8}{worked:8}{refused:9}{len(self.faults):14}"


HEAD = f"{'':24}{'tried':>8}{WORKED:>8}{REFUSED:>9}{'not as promised':>17}"


class TooLongError(Exception):
    """A call has taken longer than PATIENCE_S."""


def judge(call: Callable[[], object], tally: Tally, name: str) -> None:
    """Calls what reads a damaged file; a RoambusError with one message is a refusal, anything else raised a fault."""
    printed = io.StringIO()
    try:
        with _patience(), warnings.catch_warnings(), contextlib.redirect_stderr(printed):
            warnings.simplefilter("error")
            call()
    except RoambusError as error:
        fault = _fault_of_message(str(error))
        if fault:
            tally.faults.append(f"{name}: {fault}: {str(error)[:300]!r}")
        else:
            tally.outcomes[REFUSED] += 1
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        tally.faults.append(f"{name}: {type(error).__name__}: {str(error)[:200]} at {place.filename}:{place.lineno}")
    else:
        tally.outcomes[WORKED] += 1


def _fault_of_message(text: str) -> str | None:
    if not text.strip():
        return "an empty message"
    if "Traceback" in text:
        return "a traceback in the message"
    return None


def judge_command(words: Sequence[str], tally: Tally, *, may_work: bool = False) -> None:
    """Runs a command line in this process: it must end with a code other than 0, and with exactly one message."""
    name, start = " ".join(words)[:150], time.monotonic()
    try:
        with _patience():
            code, error = call_command(words)
    except TooLongError:
        tally.faults.append(f"{name}: takes longer than {PATIENCE_S} s")
        return
    except BaseException as raised:  # a traceback is what must not be
        tally.faults.append(f"{name}: {type(raised).__name__}: {str(raised)[:200]}")
        return
    messages = [line for line in error.splitlines() if line.lower().startswith("error: ")]
    if code == 0 and may_work:
        tally.outcomes[WORKED] += 1
    elif code == 0 or len(messages) != 1 or "Traceback" in error:
        took = time.monotonic() - start
        tally.faults.append(f"{name}: exit code {code}, {len(messages)} messages, {took:.1f} s: {error[-300:]!r}")
    else:
        tally.outcomes[REFUSED] += 1


def call_command(words: Sequence[str]) -> tuple[object, str]:
    """The exit code of a command line, and what it says on standard error."""
    from roambus.command_line import main  # noqa: PLC0415  # slow to import, and not always needed

    printed, before, path = io.StringIO(), sys.argv, sys.path[:]
    sys.argv = ["roambus", *words]
    try:
        with contextlib.redirect_stderr(printed), contextlib.redirect_stdout(io.StringIO()):
            main()
    except SystemExit as ended:
        return ended.code or 0, printed.getvalue()
    finally:
        sys.argv, sys.path[:] = before, path
    return 0, printed.getvalue()


@contextmanager
def _patience() -> Iterator[None]:
    def end(_: int, __: FrameType | None) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(PATIENCE_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
