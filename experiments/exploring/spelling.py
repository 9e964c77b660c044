"""Digests of values, which are the same in every process that has an equal value.

A number stands for a value in one process only. So processes that search together tell each other of states by digests
of what they are made of. Two different states with one digest of 16 bytes are not to be expected before there are some
10^18 states.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from hashlib import blake2b
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from roambus.bridge.errors import UserError

DIGEST_BYTES = 16


def digest_of(value: Hashable) -> bytes:
    """The digest of a value that cannot change; raises UserError for one that only its own process knows."""
    digest = blake2b(digest_size=DIGEST_BYTES)
    for part in _spell(value):
        digest.update(len(part).to_bytes(4, "big"))
        digest.update(part)
    return digest.digest()


def _spell(value: Any) -> Iterator[bytes]:
    """What tells a value from all others, as parts."""
    kind = type(value)
    yield f"{kind.__module__}.{kind.__qualname__}".encode()
    if isinstance(value, Enum):
        yield value.name.encode()
    elif isinstance(value, tuple):
        yield from _spell_all(value)
    elif isinstance(value, frozenset):
        yield from sorted(digest_of(one) for one in value)
        yield b"}"
    elif isinstance(value, type | BuiltinFunctionType | ModuleType | FunctionType):
        yield from _spell_named(value)
    elif is_dataclass(value):
        yield from _spell_all(getattr(value, one.name) for one in fields(value) if one.compare)
    else:
        yield _plain(value)


def _spell_all(values: Any) -> Iterator[bytes]:
    for one in values:
        yield from _spell(one)
    yield b")"


def _spell_named(value: Any) -> Iterator[bytes]:
    """Something of a module; of a function also what it is made of, for several can have one name."""
    yield f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', value.__name__)}".encode()
    if isinstance(value, FunctionType):
        code = value.__code__
        yield code.co_code
        yield from _spell_all((code.co_firstlineno, repr(code.co_consts), repr(code.co_names)))
        yield from _spell((value.__defaults__, tuple(sorted((value.__kwdefaults__ or {}).items()))))


def _plain(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    if value is None or isinstance(value, int | float | complex | str | range):
        return repr(value).encode()
    raise UserError(f"{value!r} cannot be told to another process: explore with --jobs 1")
