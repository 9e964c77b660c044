"""The discrete-event engine: how the loop is compiled, its queue of events, and its random streams.

1. LLVM inlines each `compiled` function into the one `entry_point`, which Numba caches on disk under a name that ends
   in a fingerprint of every source of this folder.
2. Events are rows (time, code) of a binary heap. A code holds a sequence number, the kind and the number of a node or
   frame, so that events at one time come in the order pushed. A stale event is recognised by the state that it meets.
3. Random numbers come from SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), one stream for each purpose; NumPy's
   generators would cost several times as much.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.system.code import hash_files
from roambus.bridge.system.process import import_elsewhere

_numba: Any = import_elsewhere("numba")
_settings: Any = import_elsewhere("numba.core.config")
_settings._config_fname = ""  # Numba would read settings from the working folder whenever it compiles
_settings.DISABLE_JIT = 0  # NUMBA_DISABLE_JIT is for the user's own functions: the loop does not run without a compiler

F = TypeVar("F", bound=Callable[..., Any])

PACKAGE = Path(__file__).parent

typeof: Any = _numba.typeof
int64: Any = _numba.int64

_OPTIONS = {
    "error_model": "numpy",
    "_nrt": False,  # nothing here makes an array, and counting references to the given ones takes four times as long
}


def compiled(function: F) -> F:
    """Make a function a part of the compiled loop; Python can call it by its `py_func` only.

    LLVM always inlines it: each call would hand over the whole State.
    """
    options = {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return cast("F", _numba.njit(**options, **_OPTIONS)(function))


def with_names(function: Callable[..., Any], names: dict[str, Any]) -> Any:
    """Return a copy of a function with other meanings of its global names."""
    return FunctionType(function.__code__, names, function.__name__)


def compiled_with(functions: Iterable[Callable[..., Any]], **names: Any) -> dict[str, Any]:
    """Compile copies of a module's functions, callees first, with other meanings of its global names.

    Returns these copies by name: Numba cannot cache closures over compiled functions.
    """
    plain = [getattr(function, "py_func", function) for function in functions]
    meanings = {**plain[0].__globals__, **names}
    for function in plain:
        meanings[function.__name__] = compiled(with_names(function, meanings))
    return {function.__name__: meanings[function.__name__] for function in plain}


def fingerprint(folder: Path = PACKAGE) -> str:
    """Hash the behaviour of the Python sources below `folder`."""
    return hash_files(set(folder.rglob("*.py"))).hex()[:16]


def entry_point(function: Callable[..., Any], variant: str) -> Any:
    """Compile a function that Python calls. Its cache has a name that changes with the package and with the variant."""
    function.__qualname__ = f"{function.__qualname__}_{variant}_{fingerprint()}"
    try:
        return _numba.njit(cache=True, **_OPTIONS)(function)
    except RuntimeError:  # no folder for a cache can be written to: each process compiles
        return _numba.njit(**_OPTIONS)(function)


TIME, CODE = 0, 1
"""The columns of the queue."""
INDEX_BITS, KIND_BITS = 24, 4
"""At most 16 million nodes or frames at a time, and 2**35 events in a run."""
INDEX_MASK, KIND_MASK = (1 << INDEX_BITS) - 1, (1 << KIND_BITS) - 1
NEVER = np.iinfo(np.int64).max


@compiled
def push(heap: NDArray[np.int64], queue: Any, time: int, kind: int, index: int) -> None:
    """Add an event of `kind` (under 16) that concerns `index` (under 2**24); `queue` counts them."""
    # Sequence number, kind, index: all later events at one time compare as greater, whatever their kind.
    code = (queue.pushed << (INDEX_BITS + KIND_BITS)) | (kind << INDEX_BITS) | index
    place = queue.events
    queue.pushed += 1
    queue.events += 1
    while place > 0:
        parent = (place - 1) >> 1
        if heap[parent, TIME] <= time:  # no need to compare codes, for the new event has the highest of all
            break
        heap[place, TIME], heap[place, CODE] = heap[parent, TIME], heap[parent, CODE]
        place = parent
    heap[place, TIME], heap[place, CODE] = time, code


@compiled
def pop(heap: NDArray[np.int64], queue: Any) -> int:
    """Take the first event off, and return its code."""
    first = int(heap[0, CODE])
    queue.events -= 1
    time, code = heap[queue.events, TIME], heap[queue.events, CODE]
    place = 0
    while True:
        child = _earlier_child(heap, queue.events, place)
        if child < 0 or not _before(heap, child, time, code):
            break
        heap[place, TIME], heap[place, CODE] = heap[child, TIME], heap[child, CODE]
        place = child
    heap[place, TIME], heap[place, CODE] = time, code
    return first


@compiled
def next_time(heap: NDArray[np.int64], queue: Any) -> int:
    """The time of the first event, or NEVER if there is none."""
    return int(heap[0, TIME]) if queue.events > 0 else NEVER


@compiled
def kind_of(code: int) -> int:
    """The kind of the event."""
    return (code >> INDEX_BITS) & KIND_MASK


@compiled
def index_of(code: int) -> int:
    """The number of the node or the frame that the event concerns."""
    return code & INDEX_MASK


def put_first(heap: NDArray[np.int64], queue: Any, first: Iterable[tuple[int, int, int]]) -> None:
    """Put the first events, each a (time, kind, index), into the empty queue."""
    for place, (time, kind, index) in enumerate(sorted(first)):
        heap[place] = time, (place << (INDEX_BITS + KIND_BITS)) | (kind << INDEX_BITS) | index
        queue["events"] = queue["pushed"] = place + 1


@compiled
def _before(heap: NDArray[np.int64], place: int, time: int, code: int) -> bool:
    """Whether the event at a place comes before another one; at one time the codes decide."""
    at = heap[place, TIME]
    return bool(at < time or (at == time and heap[place, CODE] < code))


@compiled
def _earlier_child(heap: NDArray[np.int64], events: int, place: int) -> int:
    """The place of the earlier child of a place, or -1 without any."""
    left = 2 * place + 1
    if left >= events:
        return -1
    right = left + 1
    if right < events and _before(heap, right, heap[left, TIME], heap[left, CODE]):
        return right
    return left


STREAMS = 6
BIT_ERRORS, BACKOFF, _, VARIATION, MEASURED_LOSS, OUTSIDE = (np.int64(stream) for stream in range(STREAMS))
"""The streams: draws for one purpose do not shift the others. Plain ints would make Numba compile again."""

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_SHIFT_1, _SHIFT_2, _SHIFT_3, _TO_53_BITS = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)


@compiled
def uniform(run: Any, stream: np.int64) -> float:
    """Draw a number in [0, 1) with 53 random bits.

    The state of a stream counts up by the golden ratio, and the number is a hash of it.
    """
    state = run.streams[stream] + _GAMMA
    run.streams[stream] = state
    mixed = (state ^ (state >> _SHIFT_1)) * _MIX_1
    mixed = (mixed ^ (mixed >> _SHIFT_2)) * _MIX_2
    mixed ^= mixed >> _SHIFT_3
    return float(mixed >> _TO_53_BITS) * 2.0**-53


@compiled
def exponential(run: Any, stream: np.int64, mean: float) -> float:
    """A number from the exponential distribution."""
    return -mean * math.log(1.0 - uniform(run, stream))


@compiled
def normal(run: Any, stream: np.int64) -> float:
    """Draw from the standard normal distribution (Box and Muller)."""
    radius = math.sqrt(-2.0 * math.log(1.0 - uniform(run, stream)))
    return radius * math.cos(2.0 * math.pi * uniform(run, stream))
