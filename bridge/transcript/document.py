"""A transcript as lines, some of which its author wrote, and the tool the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from roambus.bridge.errors import UserError
from roambus.bridge.texts import read_text

PROMPT = ">"
COMMENT = "#"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the file, counted from 1."""

    number: int
    text: str

    @property
    def is_command(self) -> bool:
        """Whether something is to happen here."""
        return self.text.startswith(PROMPT)

    @property
    def is_indented(self) -> bool:
        """Whether the line belongs to a keyword above it."""
        return self.text.startswith((" ", "\t"))

    @property
    def is_empty(self) -> bool:
        """Whether it is a comment, or blank: kept, and without meaning."""
        return not self.text.strip() or self.text.lstrip().startswith(COMMENT)


@dataclass(frozen=True, slots=True)
class Document:
    """The author's lines, which are the head, and then commands, comments and blank lines."""

    path: Path
    head: tuple[Line, ...]
    body: tuple[Line, ...]
    outputs: tuple[Line, ...]
    """The outputs that stand between these."""

    def commands(self) -> list[Line]:
        """The commands, in their order."""
        return [line for line in self.body if line.is_command]

    def with_outputs(self, outputs: Mapping[int, Sequence[str]]) -> str:
        """The whole file; `outputs` go below the command of their line number."""
        texts: list[str] = []
        for line in (*self.head, *self.body):
            texts += [line.text, *outputs.get(line.number, ())]
        return "\n".join(texts) + "\n"

    @contextmanager
    def at(self, number: int) -> Iterator[None]:
        """Gives a ValueError or UserError about a line the name of the file and the line's number."""
        try:
            yield
        except (ValueError, UserError) as error:
            raise UserError(f"{self.path}:{number}: {error}") from error


def read_document(path: Path) -> Document:
    """Reads a file, and forgets its outputs; raises UserError if it is no text or has no command, and OSError."""
    return parse_document(path, read_text(path))


def parse_document(path: Path, text: str) -> Document:
    """Reads the text of the file `path`, and forgets its outputs; raises UserError."""
    lines = [Line(number, line.rstrip()) for number, line in enumerate(text.splitlines(), 1)]
    first = next((index for index, line in enumerate(lines) if line.is_command), None)
    if first is None:
        raise UserError(f"{path}:{len(lines) or 1}: there is no command; write one such as > s1 subscribes f1")
    body = tuple(line for line in lines[first:] if line.is_command or line.is_empty)
    outputs = tuple(line for line in lines[first:] if not (line.is_command or line.is_empty))
    return Document(path, tuple(lines[:first]), body, outputs)
