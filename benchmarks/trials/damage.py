"""Damages files: their bytes, as disks and transfers do, and the words in them, as a person or an attacker would.

Forged files are sound as files, and hold what no run or sweep leaves: other values, types, columns and keys.
"""

from __future__ import annotations

import io
import json
import math
import re
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

NASTY = (
    *(b"1e300", b"-1e300", b"nan", b"NaN", b"inf", b"-inf", b"Infinity", b"-1", b"-0.0", b"1e-320", b"0", b"0x10"),
    *(b"9" * 400, b"1" * 5000, b"1e999999999", b"18446744073709551616", b"2147483648", b"1_000", b"true", b"null"),
    *(b'"', b"'", b"\\", b"{}", b"[]", b"[" * 3000, b"{" * 3000, b"(" * 300, b"\0", b"\xff\xfe", b"\xed\xa0\x80"),
    *(b"../../../etc/passwd", b"/dev/full", b"$\\frac{", b"<script>", b"{{ 7 * 7 }}", b"{% for %}", b"%s%n", b"\n\n"),
)
"""Replacements for a word."""
_WORD = re.compile(rb"[\w.+-]+")
_LONGEST = 300
"""Bytes that are changed at once."""


def damage(content: bytes, random: Random) -> bytes:
    """The content with one to three damages."""
    changed = bytearray(content)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        changed = random.choice(_DAMAGES)(changed, random)
    return bytes(changed)


def flip(content: bytearray, random: Random) -> bytearray:
    """Flips some random bits of the file."""
    for _ in range(random.randint(1, 8)):
        if content:
            content[random.randrange(len(content))] ^= 1 << random.randrange(8)
    return content


def _flip_end(content: bytearray, random: Random) -> bytearray:
    """Formats keep at their end what they need first."""
    if content:
        content[-random.randint(1, min(len(content), 600))] ^= 1 << random.randrange(8)
    return content


def cut(content: bytearray, random: Random) -> bytearray:
    """Keeps only a beginning of the file, of random length."""
    return content[: random.choice((0, 1, 4, len(content) // 2, max(0, len(content) - random.randint(1, 40))))]


def _remove(content: bytearray, random: Random) -> bytearray:
    start = random.randint(0, len(content))
    del content[start : start + random.randint(1, _LONGEST)]
    return content


def _zero(content: bytearray, random: Random) -> bytearray:
    start = random.randint(0, len(content))
    end = min(len(content), start + random.randint(1, _LONGEST))
    content[start:end] = bytes(end - start)
    return content


def insert(content: bytearray, random: Random) -> bytearray:
    """Bytes that do not belong there."""
    start = random.randint(0, len(content))
    content[start:start] = random.randbytes(random.randint(1, _LONGEST))
    return content


def repeat(content: bytearray, random: Random) -> bytearray:
    """A part, again and again."""
    start = random.randint(0, len(content))
    part = content[start : start + random.randint(1, _LONGEST)]
    content[start:start] = part * random.choice((1, 2, 50))
    return content


def _word(content: bytearray, random: Random) -> bytearray:
    words = list(_WORD.finditer(content))
    if words:
        word = random.choice(words)
        content[word.start() : word.end()] = random.choice(NASTY)
    return content


def _line(content: bytearray, random: Random) -> bytearray:
    """Removes a line, or repeats one, or has two change places."""
    lines = bytes(content).splitlines(keepends=True)
    if len(lines) < 2:
        return content
    a, b = random.sample(range(len(lines)), 2)
    match random.randrange(3):
        case 0:
            del lines[a]
        case 1:
            lines.insert(b, lines[a])
        case _:
            lines[a], lines[b] = lines[b], lines[a]
    return bytearray(b"".join(lines))


_DAMAGES = (flip, flip, _flip_end, cut, _remove, _zero, insert, repeat, _word, _word, _word, _line)


# Forged

VALUES: tuple[Any, ...] = (
    *(None, True, 0, -1, 2**31, 2**63, 2**64, 10**400, 1e300, -1e300, math.nan, math.inf, 0.5, -0.0, "", "x", "../.."),
    *("/", [], {}, [[]], [{}], {"": None}, ["x", {}], ["x"], [1, 2], "\0", "\ud800", "$\\frac{", "<b>", "a" * 300, "é"),
    "1e300",
)
_NUMBERS = (math.nan, math.inf, -math.inf, 1e300, -1e300, -1.0, 1e10, 5e-324, 0.0, 1e9 + 1)
_WHOLE = (-1, -(2**31), 2**31 - 1, 65534, 65535, 65536, 0)
_TEXTS = (
    *(
        "",
        "x",
        "-1",
        "1e300 1e300",
        "nan nan",
        "inf 0",
        "-5 1",
        "1 2 3",
        "\0",
        "$\\frac{",
        "<script>",
        "9" * 500,
        "{a=1}",
    ),
    None,
)
_MOST_CHANGES = 3


def forge_json(content: bytes, random: Random) -> bytes:
    """The JSON with some of its values, anywhere in it, replaced, removed, or put in."""
    tree = json.loads(content)
    for _ in range(random.randint(1, _MOST_CHANGES)):
        tree = _changed(tree, random)
    return json.dumps(tree).encode(errors="surrogatepass")


def forged(text: bytes, random: Random) -> bytes:
    """The text with a value in it that is another one, if it is JSON; else the text damaged."""
    try:
        return forge_json(text, random)
    except ValueError:
        return damage(text, random)


def _changed(tree: Any, random: Random) -> Any:
    if isinstance(tree, dict | list) and tree and random.random() < 0.85:
        key = random.choice(list(tree) if isinstance(tree, dict) else range(len(tree)))
        match random.randrange(8):
            case 0:
                del tree[key]
            case 1 if isinstance(tree, dict):
                tree[random.choice(("", "study", "seed", "agent", "x" * 300, "mean"))] = random.choice(VALUES)
            case _:
                tree[key] = _changed(tree[key], random)
        return tree
    return random.choice(VALUES)


def forge_table(content: bytes, random: Random) -> bytes:
    """The Parquet file with some values, or columns, that are others; damaged, if Arrow can write no such table."""
    table, sink = pq.read_table(io.BytesIO(content)), io.BytesIO()
    try:
        for _ in range(random.randint(1, _MOST_CHANGES)):
            table = _other_table(table, random)
        pq.write_table(table, sink, write_page_checksum=True)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return damage(content, random)
    return sink.getvalue()


def _other_table(table: pa.Table, random: Random) -> pa.Table:
    if table.schema.metadata and random.random() < 0.1:
        told = dict(table.schema.metadata)
        name = random.choice(sorted(told))
        return table.replace_schema_metadata({**told, name: random.choice((*NASTY, forged(told[name], random)))})
    if not table.num_columns or random.random() < 0.1:
        return random.choice((table.slice(0, 0), pa.table({"x": [1]}), table.replace_schema_metadata({"pandas": b"{"})))
    place = random.randrange(table.num_columns)
    field = table.schema.field(place)
    if random.random() < 0.1:
        return table.remove_column(place)
    if random.random() < 0.1:
        return table.set_column(
            place, pa.field(field.name, pa.string()), [table.column(place).cast(pa.string(), safe=False)]
        )
    return table.set_column(place, field, [_other_column(table.column(place).combine_chunks(), field.type, random)])


def _other_column(column: pa.Array, kind: pa.DataType, random: Random) -> pa.Array:
    values = column.to_pylist()
    choices: tuple[Any, ...] = _TEXTS
    if pa.types.is_floating(kind):
        choices = _NUMBERS
    elif pa.types.is_integer(kind):
        choices = _WHOLE
    elif not pa.types.is_string(kind):
        return column
    share = random.choice((0.01, 0.3, 1.0))
    changed = [random.choice(choices) if random.random() < share else value for value in values]
    if changed:
        changed[random.randrange(len(changed))] = random.choice(choices)
    return pa.array(changed, kind)
