"""docs/structure.md is the house as it stands: its picture, and a sentence for each room and each chapter in it."""

from __future__ import annotations

import re

import pytest

from tests.support.house import FLOORS, ROOT, Room, rooms
from tests.support.house_picture import picture

PAGE, PICTURE = ROOT / "docs" / "structure.md", ROOT / "docs" / "structure.svg"
BEGIN, END = "<!-- rooms -->", "<!-- end of rooms -->"


def section(floor: str) -> str:
    """The heading of a floor, its sentence, its chapters, and then its rooms with theirs."""
    itself, *inner = rooms(floor)
    lines = [f"## {floor}/", "", itself.sentence, "", "| Chapter | What it is |", "|---|---|", *chapters(itself)]
    for room in inner:
        lines += [f"| **[`{room.path}/`](../{room.path}/__init__.py)** | **{room.sentence}** |", *chapters(room)]
    return "\n".join(lines) + "\n"


def chapters(room: Room) -> list[str]:
    """A row for each file of a room; a bar would end a cell of the table."""
    return [f"| `{name}` | {text.replace('|', chr(92) + '|')} |" for name, text in room.chapters]


def test_the_page_has_every_room_with_its_sentence(pytestconfig: pytest.Config) -> None:
    """What a room says of itself stands in its `__init__`; `--rewrite` writes the page and the picture."""
    text = PAGE.read_text(encoding="utf-8")
    begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    expected = "\n\n" + "\n".join(map(section, reversed(FLOORS))) + "\n"
    if pytestconfig.getoption("--rewrite"):
        PAGE.write_text(text[:begin] + expected + text[end:], encoding="utf-8")
        PICTURE.write_text(picture(), encoding="utf-8")
        return
    assert text[begin:end] == expected
    assert PICTURE.read_text(encoding="utf-8") == picture()


@pytest.mark.parametrize("floor", FLOORS)
def test_every_room_and_chapter_says_what_it_is(floor: str) -> None:
    """In whole sentences: with a capital at the beginning and a full stop at the end."""
    for room in rooms(floor):
        for name, sentence in (("__init__.py", room.sentence), *room.chapters):
            assert re.fullmatch(r"[A-Z`].{20,}[.:]", sentence), f"{room.path}/{name}: {sentence!r}"
