"""Damages files: their bytes, as disks and transfers do, and the words in them, as a person or an attacker would."""

from __future__ import annotations

import re
from random import Random

NASTY = (
    *(b"1e300", b"-1e300", b"nan", b"NaN", b"inf", b"-inf", b"Infinity", b"-1", b"-0.0", b"1e-320", b"0", b"0x10"),
    *(b"9" * 400, b"1" * 5000, b"1e999999999", b"18446744073709551616", b"2147483648", b"1_000", b"true", b"null"),
    *(b'"', b"'", b"\\", b"{}", b"[]", b"[" * 3000, b"{" * 3000, b"(" * 300, b"\0", b"\xff\xfe", b"\xed\xa0\x80"),
    *(b"../../../etc/passwd", b"/dev/full", b"$\\frac{", b"<script>", b"{{ 7 * 7 }}", b"{% for %}", b"%s%n", b"\n\n"),
)
"""What stands in the place of a word."""
_WORD = re.compile(rb"[\w.+-]+")
_LONGEST = 300
"""Bytes that are changed at once."""


def damage(content: bytes, random: Random) -> bytes:
    """The content with one to three damages."""
    changed = bytearray(content)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        changed = random.choice(_DAMAGES)(changed, random)
    return bytes(changed)


def _flip(content: bytearray, random: Random) -> bytearray:
    for _ in range(random.randint(1, 8)):
        if content:
            content[random.randrange(len(content))] ^= 1 << random.randrange(8)
    return content


def _flip_end(content: bytearray, random: Random) -> bytearray:
    """Formats keep at their end what they need first."""
    if content:
        content[-random.randint(1, min(len(content), 600))] ^= 1 << random.randrange(8)
    return content


def _cut(content: bytearray, random: Random) -> bytearray:
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


def _insert(content: bytearray, random: Random) -> bytearray:
    start = random.randint(0, len(content))
    content[start:start] = random.randbytes(random.randint(1, _LONGEST))
    return content


def _repeat(content: bytearray, random: Random) -> bytearray:
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


_DAMAGES = (_flip, _flip, _flip_end, _cut, _remove, _zero, _insert, _repeat, _word, _word, _word, _line)
