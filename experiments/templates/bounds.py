"""Limits the time and memory of a template: templates are data of others, and can need more than there is.

A product or a power that would be one long step of Python is refused before it begins. What takes many steps is ended
when its time is used up, and what takes too much memory finds none.

There are four bounds, because none of them covers what the others do:

1. *Operators.* Python ends no step of its own at a signal, so that `10 ** 10 ** 10` could not be interrupted.
2. *Time*, by a signal, for loops and calls.
3. *Memory*, by the process' own limit, for lists and texts that grow.
4. *Size* of the text that comes out, piece by piece, which need not be in memory as a whole until it is joined.

The sandbox of Jinja keeps a template from Python's internals. It bounds nothing of what a template computes.
"""

from __future__ import annotations

import resource
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from jinja2 import TemplateRuntimeError
from jinja2.runtime import Context
from jinja2.sandbox import SandboxedEnvironment

from roambus.bridge.limits import TEMPLATE_ITEMS, TEMPLATE_MEMORY, TEMPLATE_SIZE, TEMPLATE_TIME, Limit

_MOST_BITS = 4096
"""Whole numbers of more bits are no times, places or counts."""
_MIB = 2**20


class BoundedEnvironment(SandboxedEnvironment):
    """A sandbox whose operators make nothing huge."""

    intercepted_binops = frozenset({"*", "**"})

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Computes the operation, unless what it gives would be too large: then it raises TemplateRuntimeError."""
        match operator, left, right:
            case "*", int(), int():
                _check_bits(left.bit_length() + right.bit_length())
            case "**", int(), int() | float():
                _check_bits(max(left.bit_length(), 1) * abs(right))
            case ("*", (str() | bytes() | list() | tuple()) as items, int(number)) | (
                "*",
                int(number),
                (str() | bytes() | list() | tuple()) as items,
            ):
                check_items(len(items) * number)
        return super().call_binop(context, operator, left, right)


def _check_bits(bits: float) -> None:
    if bits > _MOST_BITS:
        raise TemplateRuntimeError(f"a number of {bits:g} bits is too large")


def check_items(number: int) -> None:
    """Raises TemplateRuntimeError for more items of a list, or characters of a text, than a template may make."""
    try:
        TEMPLATE_ITEMS.check(number)
    except ValueError as error:
        raise TemplateRuntimeError(str(error)) from None


def bounded_range(*arguments: int) -> range:
    """Python's range; raises TemplateRuntimeError if it has too many items."""
    made = range(*arguments)
    if made:
        check_items((made[-1] - made[0]) // made.step + 1)
    return made


def joined(parts: Iterator[str]) -> str:
    """The whole text; raises ValueError as soon as it is too large."""
    texts, size = [], 0
    for part in parts:
        texts.append(part)
        size += len(part)
        if size > TEMPLATE_SIZE.most * _MIB:
            TEMPLATE_SIZE.check(size / _MIB)
    return "".join(texts)


class TooLongError(Exception):
    """A template has used its time up."""


@contextmanager
def bounded() -> Iterator[None]:
    """Bounds time and memory of the block; raises ValueError with what was too much.

    Time is that of the processor. It is bounded in the main thread alone, for only that one can be interrupted.
    """
    try:
        with _memory(), _time():
            yield
    except TooLongError:
        raise ValueError(_used_up("time", TEMPLATE_TIME)) from None
    except MemoryError:
        raise ValueError(_used_up("memory", TEMPLATE_MEMORY)) from None


def _used_up(what: str, limit: Limit) -> str:
    """What was too much, why there is a limit, and how to raise it."""
    return f"it takes more {what} than the limit of {limit.most:g} {limit.unit}: {limit.reason}; {limit.way_to_raise()}"


@contextmanager
def _memory() -> Iterator[None]:
    """Limits the memory that the process may take beyond what it has now."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    taken = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    most = taken + int(TEMPLATE_MEMORY.most * _MIB)
    resource.setrlimit(resource.RLIMIT_AS, (most if soft == resource.RLIM_INFINITY else min(soft, most), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@contextmanager
def _time() -> Iterator[None]:
    """Has `_end` interrupt the block when it has used its time up; another user of the signal gets it back."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGVTALRM, _end)
    signal.setitimer(signal.ITIMER_VIRTUAL, TEMPLATE_TIME.most)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _end(_: int, __: FrameType | None) -> None:
    raise TooLongError
