"""Mutations of a conversation: of a frame's bytes, of a message's fields, of the order of frames."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, cast

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError, Message

from benchmarks.trials.damage import cut, flip, insert, repeat
from roambus.bridge.wire.wire_pb2 import Failed, Finished, FromSimulator, Step

Frames = list[bytes]
Mutation = Callable[[Frames, Random], Frames]
"""Changes one frame, or the place of one, in a copy."""

LONGEST = 400
"""Bytes or elements that are put in at once, as a rule."""
HUGE = 20_000
HUGE_SHARE = 0.002
"""How often there are HUGE elements instead."""

_INTEGERS = (0, 1, 2, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1, -1, -(2**31), -(2**63))
_DOUBLES = (0.0, -0.0, 1e-320, 1e308, -1e308, math.inf, -math.inf, math.nan, 0.5, 2.0)
_RANGES = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, 2**64 - 1),
}


def mutate(frames: Sequence[bytes], others: Sequence[bytes], random: Random) -> tuple[str, Frames]:
    """The conversation, with one mutation, and the kind of it; `others` are frames of other conversations."""
    kind = random.choice(("bytes", "bytes", "fields", "fields", "fields", "order"))
    if kind == "order" and random.random() < 0.3:
        return kind, _insert([*frames], random.choice(others), random)
    return kind, _KINDS[kind]([*frames], random)


# The bytes of a frame


def _bytes(frames: Frames, random: Random) -> Frames:
    place = random.randrange(len(frames))
    frames[place] = bytes(random.choice(_BYTE_EDITS)(bytearray(frames[place]), random))
    return frames


def _overwrite(frame: bytearray, random: Random) -> bytearray:
    start = random.randint(0, len(frame))
    frame[start : start + random.randint(1, 8)] = random.randbytes(random.randint(0, 8))
    return frame


def _varint(frame: bytearray, random: Random) -> bytearray:
    start = random.randint(0, len(frame))
    frame[start:start] = b"\xff" * 9 + b"\x01"
    return frame


def _replace_all(_: bytearray, random: Random) -> bytearray:
    return bytearray(random.randbytes(random.randint(0, LONGEST)))


def _nest(_: bytearray, random: Random) -> bytearray:
    """Groups in groups: only a limit keeps a parser from its stack's end."""
    return bytearray(b"\x7b" * random.randint(1, HUGE))


_BYTE_EDITS = (flip, flip, _overwrite, _varint, insert, cut, repeat, _replace_all, _nest)


# The fields of a message


def _fields(frames: Frames, random: Random) -> Frames:
    place = random.randrange(len(frames))
    try:
        message = FromSimulator.FromString(frames[place])
    except DecodeError:
        return frames
    _change_a_field(_some_part(message, random), random)
    frames[place] = message.SerializeToString()
    return frames


def _some_part(message: Message, random: Random) -> Message:
    """The body, or a message somewhere within it."""
    part = getattr(message, message.WhichOneof("body") or "step")
    while random.random() < 0.7:
        parts = [one for field, value in part.ListFields() if field.message_type for one in _several(field, value)]
        if not parts:
            break
        part = random.choice(parts)
    return part  # type: ignore[no-any-return]  # a message's fields have no types


def _several(field: FieldDescriptor, value: Any) -> Sequence[Any]:
    return value if field.is_repeated else [value]


def _change_a_field(message: Message, random: Random) -> None:
    field = random.choice(cast("list[FieldDescriptor]", message.DESCRIPTOR.fields))
    if field.is_repeated:
        _change_list(getattr(message, field.name), field, random)
    elif field.message_type is None and random.random() < 0.9:
        setattr(message, field.name, _extreme(field, getattr(message, field.name), random))
    else:
        message.ClearField(field.name)


def _change_list(values: Any, field: FieldDescriptor, random: Random) -> None:
    count = HUGE if random.random() < HUGE_SHARE else random.randint(1, 4)
    match random.randrange(4):
        case 0 if values:
            del values[random.randrange(len(values)) :]
        case 1 if values:
            values.extend([values[random.randrange(len(values))]] * count)
        case 2 if values and field.message_type is None:
            values[random.randrange(len(values))] = _extreme(field, values[0], random)
        case _ if field.message_type is None:
            values.extend([_extreme(field, field.default_value or 0, random)] * count)
        case _:
            for _ in range(count):
                values.add()


def _extreme(field: FieldDescriptor, now: Any, random: Random) -> Any:
    match field.cpp_type:
        case FieldDescriptor.CPPTYPE_DOUBLE:
            return random.choice(_DOUBLES)
        case FieldDescriptor.CPPTYPE_BOOL:
            return not now
        case FieldDescriptor.CPPTYPE_STRING:
            return _text(field, random)
        case _:
            lowest, highest = _RANGES[field.cpp_type]
            value = random.choice((*_INTEGERS, now + 1, now - 1, now + random.randint(-(10**6), 10**6)))
            return min(max(value, lowest), highest)


def _text(field: FieldDescriptor, random: Random) -> bytes | str:
    size = HUGE if random.random() < HUGE_SHARE else random.randint(0, LONGEST)
    if field.type == FieldDescriptor.TYPE_BYTES:
        return random.randbytes(size)
    return "".join(random.choices("aß\0\n\x1b\U0001f4e1", k=size))


# The order of frames


def _order(frames: Frames, random: Random) -> Frames:
    return random.choice(_ORDERS)(frames, random)


def _duplicate(frames: Frames, random: Random) -> Frames:
    return _insert(frames, random.choice(frames), random)


def _drop(frames: Frames, random: Random) -> Frames:
    del frames[random.randrange(len(frames))]
    return frames


def _swap(frames: Frames, random: Random) -> Frames:
    first, second = random.randrange(len(frames)), random.randrange(len(frames))
    frames[first], frames[second] = frames[second], frames[first]
    return frames


def _stray(frames: Frames, random: Random) -> Frames:
    body = random.choice(({"failed": Failed(reason="enough")}, {"step": Step()}, {"finished": Finished()}, {}))
    return _insert(frames, FromSimulator(**body).SerializeToString(), random)


def _insert(frames: Frames, frame: bytes, random: Random) -> Frames:
    frames.insert(random.randint(0, len(frames)), frame)
    return frames


_ORDERS = (_duplicate, _drop, _swap, _stray)
_KINDS: dict[str, Mutation] = {"bytes": _bytes, "fields": _fields, "order": _order}
