"""The tutorial, followed literally: in an empty folder, from its first line to its last."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tests.support.documents import page
from tests.support.places import Place, make_place

TUTORIAL = page("tutorial")
BLOCK = re.compile(r"```(?P<kind>\w+)\n(?P<text>.*?)```", re.DOTALL)
FILE = re.compile(r"`(rumour/[\w./]+)`")
pytestmark = pytest.mark.slow
PROMPT = "$ "
"""Begins a block that shows a command with all that it prints, and that may fail."""
LISTINGS = {"python", "text", "toml"}


class Step(NamedTuple):
    """A block of the tutorial, and the paragraph before it."""

    before: str
    kind: str
    text: str


def steps() -> Iterator[Step]:
    text, end = TUTORIAL.read_text(encoding="utf-8"), 0
    for match in BLOCK.finditer(text):
        paragraph = text[end : match.start()].strip().rpartition("\n\n")[2]
        yield Step(paragraph, match["kind"], match["text"])
        end = match.end()


class Reader:
    """Does what the tutorial says, block by block."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._printed = ""

    def follow(self, step: Step) -> None:
        """Runs commands, saves listings, and compares what is shown with what the commands before it printed."""
        if step.kind == "sh":
            self._printed = "".join(self._place.succeed(line) for line in step.text.splitlines())
        elif step.text.startswith(PROMPT):
            command, _, shown = step.text.removeprefix(PROMPT).partition("\n")
            done = self._place.run(command)
            assert done.stdout + done.stderr == shown
        elif step.kind == "console":
            assert step.text in self._printed
        else:
            assert step.kind in LISTINGS
            file = self._place.folder / self._file_of(step)
            assert file.is_file(), "listings replace files that `roambus new` has written"
            file.write_text(step.text, encoding="utf-8")

    @staticmethod
    def _file_of(step: Step) -> str:
        files: list[str] = FILE.findall(step.before)
        assert len(files) == 1, f"which file is this? {step.before}"
        return files[0]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """An empty folder in which the tutorial was followed."""
    place = make_place(tmp_path_factory.mktemp("tutorial"))
    reader = Reader(place)
    for step in steps():
        reader.follow(step)
    return place


def test_the_tutorial_ends_with_figures(done: Place) -> None:
    """Every command and listing on the way worked as it stands there."""
    figures = done.folder / "results" / "compare" / "figures"
    assert {path.suffix for path in figures.iterdir()} == {".png", ".svg", ".txt"}


def test_the_pictures_of_the_tutorial_are_its_figures(done: Place) -> None:
    """What it shows is what its reader gets, to the byte."""
    shown = re.findall(r"!\[[^\]]*\]\(tutorial-([\w-]+)\.png\)", TUTORIAL.read_text(encoding="utf-8"))
    assert shown
    figures = done.folder / "results" / "compare" / "figures"
    for name in shown:
        drawn = (figures / f"{name}.png").read_bytes()
        assert drawn == TUTORIAL.with_name(f"tutorial-{name}.png").read_bytes(), f"copy {name}.png into the guide"
