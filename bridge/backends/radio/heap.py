"""The event queue is a binary heap of (time, code); at one time events come in the order in which they were pushed.

A code is sequence number, kind and index in one integer, so that comparing codes compares the order of arrival.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.backends.radio.compiled import compiled

TIME, CODE = 0, 1
INDEX_BITS, KIND_BITS = 24, 4
INDEX_MASK, KIND_MASK = (1 << INDEX_BITS) - 1, (1 << KIND_BITS) - 1
NEVER = np.iinfo(np.int64).max


@compiled
def push(heap: NDArray[np.int64], queue: Any, time: int, kind: int, index: int) -> None:
    """Adds an event of `kind` (under 16) that concerns `index` (under 2**24); `queue` counts them."""
    code = (queue.pushed << (INDEX_BITS + KIND_BITS)) | (kind << INDEX_BITS) | index
    place = queue.events
    queue.pushed += 1
    queue.events += 1
    while place > 0:
        parent = (place - 1) >> 1
        if heap[parent, TIME] <= time:
            break
        heap[place, TIME], heap[place, CODE] = heap[parent, TIME], heap[parent, CODE]
        place = parent
    heap[place, TIME], heap[place, CODE] = time, code


def put_first(heap: NDArray[np.int64], queue: Any, first: Iterable[tuple[int, int, int]]) -> None:
    """Puts the first events, each a (time, kind, index), into the empty queue: in order they are a heap."""
    for place, (time, kind, index) in enumerate(sorted(first)):
        heap[place] = time, (place << (INDEX_BITS + KIND_BITS)) | (kind << INDEX_BITS) | index
        queue["events"] = queue["pushed"] = place + 1


@compiled
def next_time(heap: NDArray[np.int64], queue: Any) -> int:
    """The time of the first event, or NEVER if there is none."""
    time: int = heap[0, TIME] if queue.events > 0 else NEVER
    return time


@compiled
def next_code(heap: NDArray[np.int64]) -> int:
    """The code of the first event; there must be one."""
    code: int = heap[0, CODE]
    return code


@compiled
def pop(heap: NDArray[np.int64], queue: Any) -> int:
    """Takes the first event off; returns its code."""
    first: int = heap[0, CODE]
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
def kind_of(code: int) -> int:
    """The kind of the event."""
    return (code >> INDEX_BITS) & KIND_MASK


@compiled
def index_of(code: int) -> int:
    """The number of the node or the frame that the event concerns."""
    return code & INDEX_MASK


@compiled
def _before(heap: NDArray[np.int64], place: int, time: int, code: int) -> bool:
    at: int = heap[place, TIME]
    return at < time or (at == time and bool(heap[place, CODE] < code))


@compiled
def _earlier_child(heap: NDArray[np.int64], events: int, place: int) -> int:
    left = 2 * place + 1
    if left >= events:
        return -1
    right = left + 1
    if right < events and _before(heap, right, heap[left, TIME], heap[left, CODE]):
        return right
    return left
