"""One thing that can be found by its name, with all that there is to know of it before it is used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Row = Mapping[str, str]
"""One line of a table: its columns by their names, of which the first one names what the line is about."""


@dataclass(frozen=True, slots=True)
class Thing:
    """An agent, a template, a sweep, a study or a metric; `kind` is the word in the singular."""

    kind: str
    name: str
    summary: str
    """One sentence."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """What is known of it, by a word for each; the values are texts."""
    tables: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    """What belongs to it, such as the parameters of an agent, by a heading for each table."""
    example: str = ""
    """A command that uses it."""

    def as_json(self) -> dict[str, Any]:
        """All of it, for `--json`."""
        rows = {heading: [dict(row) for row in table] for heading, table in self.tables.items()}
        return {"kind": self.kind, "name": self.name, "summary": self.summary, **self.facts, **rows}

    def lines(self) -> Iterator[str]:
        """All of it, for people."""
        yield f"{self.kind} {self.name}: {self.summary}"
        yield from (f"  {word}: {value}" for word, value in self.facts.items())
        for heading, table in self.tables.items():
            if table:
                yield f"{heading}:"
                yield from (f"  {_line(row)}" for row in table)
        if self.example:
            yield f"example: {self.example}"


def _line(row: Row) -> str:
    """The first column as it is, then the default if there is one, then the rest in its order."""
    name, *others = row.values()
    default = row.get("default", "")
    rest = [value for column, value in row.items() if column != "default"][1:] if "default" in row else others
    head = f"{name} = {default}" if default else name
    return "  ".join([head, "; ".join(filter(None, (one.rstrip(".") for one in rest)))]).rstrip()
