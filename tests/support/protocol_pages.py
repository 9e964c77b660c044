"""What the tests of a protocol's page compare: its tables have what the code has, no more and no less.

A test class derives from `ProtocolPageTests`. `pytest FILE --rewrite` writes the fields and sizes of messages, and the
paper's rules, which the docstrings of functions and the comments of their decorators cite.
"""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, ClassVar, get_args, get_origin, get_type_hints

import pytest

from roambus.python_protocol.agent import Agent
from roambus.python_protocol.aodv.messages import Unreachable
from roambus.python_protocol.brokers.agent import SHARED_MESSAGES
from roambus.python_protocol.brokers.broker import Pub
from roambus.python_protocol.brokers.routing import Entry
from roambus.python_protocol.filters import Notification, NotificationId, parse_filter
from roambus.python_protocol.messages.layout import field_type
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.messages.octets import Writer
from roambus.python_protocol.mft.messages import Known, Timestamp
from roambus.python_protocol.parts.election import Leadership
from roambus.python_protocol.settings import describe_parameters, settings_of
from tests.support.documents import Row, marked, quoted, rewrite_column, rows, section

# Messages

FILTER, NOTIFICATION = parse_filter("topic = 1"), Notification(NotificationId(9, 1), ())
EXAMPLES: dict[str, Any] = {
    "NodeId": 1,
    "NodeId | None": None,
    "int": 3,
    "bool": True,
    "bytes": b"ab",
    "Filter": FILTER,
    "Notification": NOTIFICATION,
    "Timestamp": Timestamp(1, 1),
    "Leadership": Leadership(1, 1),
    "Message": Pub(hops=1, notification=NOTIFICATION),
    "tuple[NodeId, ...]": (1, 2),
    "tuple[Filter, ...]": (FILTER, FILTER),
    "tuple[Notification, ...]": (NOTIFICATION, NOTIFICATION),
    "tuple[NotificationId, ...]": (NotificationId(9, 1), NotificationId(9, 2)),
    "tuple[Entry, ...]": (Entry(FILTER, 1, 1), Entry(FILTER, 1, 2)),
    "tuple[Unreachable, ...]": (Unreachable(1, 1), Unreachable(2, 1)),
    "tuple[Known, ...]": (Known(1, 1, 1),),
}
"""A value for each type that a field of the core can have. Lists have two; a BMIG has two lists of the last kind."""
VALUES: dict[Any, Any] = {type(value): value for value in (FILTER, NOTIFICATION, NOTIFICATION.id, b"ab")}
NUMBERS = {int: 3, bool: True}
"""A value of each number that no other type is, whatever its width."""


def length(part: object) -> int:
    """The bytes of a value in a message."""
    writer = Writer()
    field_type(type(part)).write(writer, part)
    return len(writer.getvalue())


def package_of(cls: type[object]) -> str:
    """The package in whose module the class is."""
    return cls.__module__.rpartition(".")[0]


class ProtocolPageTests:
    """The tests of one page; a derived class names the code, and adds what its own field types need."""

    page: ClassVar[Path]
    folders: ClassVar[Sequence[Path]]
    """The code that carries out the paper's rules."""
    tests: ClassVar[Path]
    """The tests that a switch can name."""
    agents: ClassVar[Mapping[str, type[Agent]]]
    parts: ClassVar[Mapping[str, Sequence[type[Message]]]]
    """Messages of parts without an agent, by their sections."""
    parameters: ClassVar[Mapping[str, type[Any]]]
    """Parameters of parts without an agent, by their sections."""
    examples: ClassVar[Mapping[str, Any]]
    letters: ClassVar[Mapping[str, int]]
    """Sizes of the letters of this page's formulas."""

    def __init_subclass__(
        cls,
        *,
        page: Path,
        tests: Path,
        folders: Sequence[Path] = (),
        agents: Mapping[str, type[Agent]] | None = None,
        parts: Mapping[str, Sequence[type[Message]]] | None = None,
        parameters: Mapping[str, type[Any]] | None = None,
        examples: Mapping[str, Any] | None = None,
        letters: Mapping[str, int] | None = None,
    ) -> None:
        """Keep the page's code and the values that its own field types need."""
        super().__init_subclass__()
        cls.page, cls.tests, cls.folders = page, tests, folders
        cls.agents, cls.parts, cls.parameters = agents or {}, parts or {}, parameters or {}
        cls.examples, cls.letters = examples or {}, letters or {}

    def under(self, name: str) -> str:
        """The section of an agent or part; a page of one agent is its section."""
        if name in self.agents and len(self.agents) == 1:
            return self.page.read_text(encoding="utf-8")
        return section(self.page, f"`{name}`" if name in self.agents else name)

    def test_messages(self, pytestconfig: pytest.Config) -> None:
        """Every message, with its fields and bytes."""
        owners: dict[str, Iterable[type[Message]]] = {**self.parts}
        owners |= {name: agent.messages for name, agent in self.agents.items()}
        for owner, messages in owners.items():
            others = set(SHARED_MESSAGES) if owner in self.agents else set()
            own = {str(cls.message_type): cls for cls in messages if cls not in others}
            if pytestconfig.getoption("--rewrite"):
                self._rewrite(owner, own)
            documented = {row["Message"]: row for row in rows(self.under(owner), "Message")}
            assert documented.keys() == own.keys(), owner
            for name, cls in own.items():
                self.check_message(documented[name], cls)

    def _rewrite(self, owner: str, own: Mapping[str, type[Message]]) -> None:
        title = (f"`{owner}`" if owner in self.agents else owner) if len(self.agents) != 1 else "Messages"
        documented = {row["Message"]: row for row in rows(self.under(owner), "Message")}
        sized = {name: cls for name, cls in own.items() if documented[name]["Bytes"].isdigit()}
        fields = {name: ", ".join(f"`{field.name}`" for field in dataclasses.fields(cls)) for name, cls in own.items()}
        rewrite_column(self.page, title, ("Message", "Fields"), fields)
        sizes = {name: str(len(self.example(cls).encode())) for name, cls in sized.items()}
        rewrite_column(self.page, title, ("Message", "Bytes"), sizes)

    def check_message(self, row: Row, cls: type[Message]) -> None:
        """Whether a row has the fields and the bytes of the class."""
        assert quoted(row["Fields"]) == [field.name for field in dataclasses.fields(cls)], row
        message = self.example(cls)
        assert self.evaluate(row["Bytes"], message) == len(message.encode()), row

    def test_switches(self) -> None:
        """Every parameter of its own that is a choice, not a quantity, with its default."""
        for owner, parameters in self.switched():
            documented = {quoted(row["Switch"])[0]: row for row in rows(self.under(owner), "Switch")}
            defaults = {name: default for name, default, *_ in describe_parameters(parameters)}
            own = {
                name: setting
                for name, setting in settings_of(parameters).items()
                if name in vars(parameters)["__annotations__"]
            }
            choices = {name for name, own in own.items() if own.choices or isinstance(own.default, bool)}
            assert documented.keys() == choices, owner
            for name, row in documented.items():
                assert quoted(row["Default"]) == [defaults[name]]

    def switched(self) -> Iterator[tuple[str, type[Any]]]:
        """Each agent and part with the parameters that its package declares."""
        for name, agent in self.agents.items():
            if package_of(agent.parameters_type) == package_of(agent):
                yield name, agent.parameters_type
        yield from self.parameters.items()

    def test_a_correction_of_the_paper_is_shown(self) -> None:
        """By transcripts of both settings, one of which sets it to the published value, or by a test that names it."""
        corrections = [row for row in rows(self.page.read_text(encoding="utf-8"), "Switch") if "As published" in row]
        for row in corrections:
            name, published = quoted(row["Switch"])[0], quoted(row["As published"])[0]
            shown = re.findall(r"\(([^()]*\.txt)\)", row.get("Transcripts", ""))
            texts = [(self.page.parent / file).read_text(encoding="utf-8") for file in shown]
            if texts:
                assert any(f"{name}={published}" in text for text in texts), name
                assert any(f"{name}={published}" not in text for text in texts), name
            else:
                tests = [file for found in quoted(row["Tested by"]) for file in self.tests.rglob(found)]
                assert any(name in file.read_text(encoding="utf-8") for file in tests), name

    def test_rules(self, pytestconfig: pytest.Config) -> None:
        """Each rule of the paper that the code cites, with the functions that carry it out."""
        if "<!-- rules -->" in self.page.read_text(encoding="utf-8"):
            tables = {"rules": rules(self.folders)}
            text, wanted = marked(self.page, tables, rewrite=pytestconfig.getoption("--rewrite"))
            assert text == wanted

    def test_the_places_of_rules_exist(self) -> None:
        """Each function that a table of the paper's rules names is in a module of that name."""
        files = [file for folder in self.folders for file in folder.rglob("*.py")]
        for row in rows(self.page.read_text(encoding="utf-8"), "Rule"):
            for name in quoted(row.get("Where", "")):
                module, *_, function = name.split(".")
                code = [file.read_text(encoding="utf-8") for file in files if file.stem == module]
                assert any(f"def {function}(" in text for text in code), name

    # Examples of messages

    def example(self, cls: type[Message]) -> Message:
        """A message of the class, with the values that the formulas assume."""
        fields, hints = dataclasses.fields(cls), get_type_hints(cls)
        known = EXAMPLES | dict(self.examples)
        return cls(**{field.name: known.get(str(field.type)) or self.value_of(hints[field.name]) for field in fields})

    def value_of(self, kind: Any) -> Any:
        """A value of a type that has no example: two for a tuple, one a field for a record, a number or a message."""
        if get_origin(kind) is tuple:
            return (self.value_of(get_args(kind)[0]),) * 2
        if kind in VALUES:
            return VALUES[kind]
        if hasattr(kind, "_fields"):
            return kind(*map(self.value_of, get_type_hints(kind).values()))
        if NoneType in get_args(kind):
            return None
        if isinstance(kind, UnionType):
            return self.example(get_args(kind)[0])
        return NUMBERS.get(kind, EXAMPLES["Message"])

    def evaluate(self, formula: str, message: Message) -> int:
        """The bytes that a formula such as "3 + n (4 + f)" comes to, or a field that has the size."""
        if quoted(formula):
            return int(getattr(message, quoted(formula)[0]))
        sizes = {"f": length(FILTER), "e": length(NOTIFICATION), "n": 2, **self.letters}
        sizes["m"] = len(next(carried(message), EXAMPLES["Message"]).encode())
        products = re.sub(r"(?<=[\w)]) (?=[\w(])", "*", formula)
        return int(eval(products, {"__builtins__": {}}, sizes))  # noqa: S307  # a formula of our own document


def carried(value: Any) -> Iterator[Message]:
    """The messages in a message, or in a tuple of them."""
    parts = value if isinstance(value, tuple) else [getattr(value, field.name) for field in dataclasses.fields(value)]
    for part in parts:
        if isinstance(part, Message):
            yield part
        elif isinstance(part, tuple):
            yield from carried(part)


def transcripts_of(pages: Iterable[Path]) -> set[str]:
    """The files of transcripts beside the pages' code that they link to."""
    texts = (page.read_text(encoding="utf-8") for page in pages)
    return {name for text in texts for name in re.findall(r"tests/scenarios/(\w+\.txt)\)", text)}


# Rules

_NUMBERS = r"\d+(?:(?:, | to | and )\d+)*"
_CITED = re.compile(
    r"(?P<of>the thesis, |RFC \d+, )?"
    rf"(?:(?:(?:[Aa]lgorithm )?(?P<algorithm>\d\.\d), )?[Ll]ines? (?P<lines>{_NUMBERS})"
    r"|[Ss]ection (?P<section>\d+(?:\.\d+)*)|[Ff]igure (?P<figure>\d+(?:\.\d+)*\w?)|[Aa]ction \((?P<action>i+v?)\)"
    r"|\((?P<plain>\d+\.\d+(?:\.\d+)?(?:, \d+\.\d+(?:\.\d+)?)*)\))"
)
"""A place in a paper, as docstrings and comments cite it."""
_ALGORITHM = re.compile(r"^ *# Algorithm (\d\.\d)$")
_DECORATED = re.compile(r"^ *@on\(.*\)  # (.*\d.*)$")


def rules(folders: Iterable[Path]) -> str:
    """The table of the places of the paper that functions cite, each with these functions."""
    found: dict[str, list[str]] = {}
    for file in (file for folder in folders for file in sorted(folder.rglob("*.py")) if "tests" not in file.parts):
        for source, function in _cited_in(file):
            functions = found.setdefault(source, [])
            if function not in functions:
                functions.append(function)
    ordered = sorted(
        found.items(), key=lambda item: [int(part) if part.isdigit() else part for part in _parts(item[0])]
    )
    lines = [f"| {source} | {', '.join(f'`{name}`' for name in functions)} |" for source, functions in ordered]
    return "\n".join(["| Source | Functions |", "|---|---|", *lines])


def _parts(source: str) -> list[str]:
    """The words and numbers of a source in turn, for its place in the table."""
    return re.split(r"(\d+)", source)


def _cited_in(file: Path) -> Iterator[tuple[str, str]]:
    text = file.read_text(encoding="utf-8")
    lines, algorithm = text.splitlines(), ""
    for name, node in _functions(ast.parse(text), file.stem):
        for line in lines[: node.lineno]:
            if found := _ALGORITHM.match(line):
                algorithm = found[1]
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        comments = [found[1] for line in lines[first - 1 : node.lineno] if (found := _DECORATED.match(line))]
        for said in (*comments, " ".join((ast.get_docstring(node) or "").split())):
            for place in _CITED.finditer(said):
                for source in _sources(place, algorithm):
                    yield source, name


def _sources(place: re.Match[str], algorithm: str) -> Iterator[str]:
    said, of = place.groupdict(), place["of"] or ""
    if said["lines"]:
        number = said["algorithm"] or algorithm
        word = "lines" if " " in said["lines"] else "line"
        yield f"{of}{f'algorithm {number}, ' if number else ''}{word} {said['lines']}"
    elif said["figure"]:
        yield f"{of}figure {said['figure']}"
    elif said["action"]:
        yield f"action ({said['action']})"
    else:
        yield from (f"{of}section {section}" for section in (said["section"] or said["plain"]).split(", "))


def _functions(tree: ast.AST, name: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            yield f"{name}.{node.name}", node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{name}.{node.name}")
