"""docs/protocols.md is complete and true: its tables have what the code has, no more and no less.

What follows from the classes of messages, their fields and sizes, is written by `pytest tests/test_protocols_doc.py
--rewrite`.
"""

from __future__ import annotations

import dataclasses
import re
import tomllib
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

import pytest

from roambus.extensions.phoenix.broker import Stamp
from roambus.extensions.skip_ring.labels import Reference
from roambus.extensions.skip_ring.messages import Check, Summary
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.aodv.messages import Unreachable
from roambus.python_protocol.brokers.agent import SHARED_MESSAGES, BrokerAgent
from roambus.python_protocol.brokers.broker import BrokerParameters, Pub
from roambus.python_protocol.brokers.routing import Entry
from roambus.python_protocol.filters import Filter, Notification, NotificationId, parse_filter
from roambus.python_protocol.messages.layout import field_type
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.messages.octets import Writer
from roambus.python_protocol.mft.messages import Known, Timestamp
from roambus.python_protocol.parts.election import ElectionParameters, Heartbeat, Leadership
from roambus.python_protocol.parts.link import LinkAck, LinkData, LinkParameters
from roambus.python_protocol.parts.unicast import UnicastParameters
from roambus.python_protocol.settings import describe_parameters, settings_of
from tests.support.documents import Row, page, quoted, rewrite_column, rows, section

ROOT = Path(__file__).parents[1]
DOCUMENT = page("protocols")
SCENARIOS = ROOT / "tests" / "scenarios"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
AGENTS: dict[str, str] = PROJECT["entry-points"]["roambus.agents"]

LINES = re.compile(r"[Ll]ines? (\d+(?:(?:, | to | and )\d+)*)")
ALGORITHM = re.compile(r"[Ll]ines? \d|[Aa]lgorithm \d")


def load(agent: str) -> type[Agent]:
    module, _, name = AGENTS[agent].partition(":")
    found: type[Agent] = getattr(import_module(module), name)
    return found


def package_of(cls: type[object]) -> str:
    return cls.__module__.rpartition(".")[0]


FAMILY = [name for name in AGENTS if issubclass(load(name), BrokerAgent)]


def under(title: str) -> str:
    """The section of an agent, or of a part; an agent's heading has its name as code."""
    return section(DOCUMENT, f"`{title}`" if title in AGENTS else title)


# Messages

FILTER, NOTIFICATION = parse_filter("topic = 1"), Notification(NotificationId(9, 1), ())
REFERENCE = Reference(1, "011")
EXAMPLES: dict[str, Any] = {
    "NodeId": 1,
    "NodeId | None": None,
    "int": 3,
    "bool": True,
    "bytes": b"ab",
    "Stream": 3,
    "Filter": FILTER,
    "Notification": NOTIFICATION,
    "Timestamp": Timestamp(1, 1),
    "Stamp": Stamp(0, 1),
    "Leadership": Leadership(1, 1),
    "Message": Pub(hops=1, notification=NOTIFICATION),
    "tuple[NodeId, ...]": (1, 2),
    "tuple[Filter, ...]": (FILTER, FILTER),
    "tuple[Notification, ...]": (NOTIFICATION, NOTIFICATION),
    "tuple[NotificationId, ...]": (NotificationId(9, 1), NotificationId(9, 2)),
    "tuple[Entry, ...]": (Entry(FILTER, 1, 1), Entry(FILTER, 1, 2)),
    "tuple[Unreachable, ...]": (Unreachable(1, 1), Unreachable(2, 1)),
    "tuple[Known, ...]": (Known(1, 1, 1),),
    "Topic": 1,
    "Label": "011",
    "MaybeLabel": "011",
    "U16": 3,
    "Bits": "011",
    "Reference": REFERENCE,
    "Reference | None": REFERENCE,
    "Check | None": Check(REFERENCE, "011"),
    "tuple[Summary, ...]": (Summary("011", bytes(8)), Summary("011", bytes(8))),
}
"""A value for each type that a field can have. Lists have two; a BMIG has two lists of the last kind."""
VALUES: dict[Any, Any] = {type(instance): instance for instance in (FILTER, NOTIFICATION, NOTIFICATION.id, b"ab")}
NUMBERS = {int: 3, bool: True}
"""A value of each number that no other type is, whatever its width."""
OWNERS = [*((name, load(name).messages) for name in AGENTS), ("Leader election", (Heartbeat,))]


def example(cls: type[Message]) -> Message:
    fields, hints = dataclasses.fields(cls), get_type_hints(cls)
    return cls(**{field.name: EXAMPLES.get(str(field.type)) or value_of(hints[field.name]) for field in fields})


def value_of(kind: Any) -> Any:
    """A value of a type that has no example: two for a tuple, one a field for a record, a number or a message."""
    if get_origin(kind) is tuple:
        return (value_of(get_args(kind)[0]),) * 2
    if kind in VALUES:
        return VALUES[kind]
    if hasattr(kind, "_fields"):
        return kind(*map(value_of, get_type_hints(kind).values()))
    if NoneType in get_args(kind):
        return None
    if isinstance(kind, UnionType):
        return example(get_args(kind)[0])
    return NUMBERS.get(kind, EXAMPLES["Message"])


def length(part: Filter | Notification | Reference | Summary) -> int:
    writer = Writer()
    field_type(type(part)).write(writer, part)
    return len(writer.getvalue())


def carried(value: Any) -> Iterator[Message]:
    """The messages in a message, or in a tuple of them."""
    parts = value if isinstance(value, tuple) else [getattr(value, field.name) for field in dataclasses.fields(value)]
    for part in parts:
        if isinstance(part, Message):
            yield part
        elif isinstance(part, tuple):
            yield from carried(part)


def evaluate(formula: str, message: Message) -> int:
    """The bytes that a formula such as "3 + n (4 + f)" comes to, or a field that tells the size."""
    if quoted(formula):
        return int(getattr(message, quoted(formula)[0]))
    sizes = {"f": length(FILTER), "e": length(NOTIFICATION), "n": 2}
    sizes["m"] = len(next(carried(message), EXAMPLES["Message"]).encode())
    sizes |= {"t": 9, "l": 2, "r": length(REFERENCE), "s": length(Summary("011", bytes(8)))}
    products = re.sub(r"(?<=[\w)]) (?=[\w(])", "*", formula)
    return int(eval(products, {"__builtins__": {}}, sizes))  # noqa: S307  # a formula of our own document


@pytest.mark.parametrize(("owner", "messages"), OWNERS, ids=[name for name, _ in OWNERS])
def test_messages(owner: str, messages: Iterable[type[Message]], pytestconfig: pytest.Config) -> None:
    """Every message, with its fields and bytes."""
    documented = {row["Message"]: row for row in rows(under(owner), "Message")}
    others = set(SHARED_MESSAGES) if owner in AGENTS else set()
    own = {str(cls.message_type): cls for cls in messages if cls not in others}
    assert documented.keys() == own.keys()
    if pytestconfig.getoption("--rewrite"):
        sized = {name: cls for name, cls in own.items() if documented[name]["Bytes"].isdigit()}
        sizes = {name: str(len(example(cls).encode())) for name, cls in sized.items()}
        title = f"`{owner}`" if owner in AGENTS else owner
        rewrite_column(DOCUMENT, title, ("Message", "Fields"), {name: fields_of(cls) for name, cls in own.items()})
        rewrite_column(DOCUMENT, title, ("Message", "Bytes"), sizes)
        return
    for name, cls in own.items():
        check_message(documented[name], cls)


def test_messages_of_the_link_layer() -> None:
    """One has the type of its payload."""
    data, acknowledgement = rows(under("Link layer"), "Message")
    check_message(data, LinkData)
    check_message(acknowledgement, LinkAck)


def fields_of(cls: type[Message]) -> str:
    return ", ".join(f"`{field.name}`" for field in dataclasses.fields(cls))


def check_message(row: Row, cls: type[Message]) -> None:
    fields = [field.name for field in dataclasses.fields(cls)]
    assert quoted(row["Fields"]) == fields, row
    message = example(cls)
    assert evaluate(row["Bytes"], message) == len(message.encode()), row


# Handlers


# Switches

SWITCHED = [
    *(
        (name, load(name).parameters_type)
        for name in AGENTS
        if package_of(load(name).parameters_type) == package_of(load(name))
    ),
    ("The broker family", BrokerParameters),
    ("Leader election", ElectionParameters),
    ("Link layer", LinkParameters),
    ("Unicast routing", UnicastParameters),
]


@pytest.mark.parametrize(("owner", "parameters"), SWITCHED, ids=[name for name, _ in SWITCHED])
def test_switches(owner: str, parameters: type[Any]) -> None:
    """Every parameter of its own that is a choice, not a quantity, with its default."""
    documented = {quoted(row["Switch"])[0]: row for row in rows(under(owner), "Switch")}
    defaults = {name: default for name, default, *_ in describe_parameters(parameters)}
    own = {
        name: setting
        for name, setting in settings_of(parameters).items()
        if name in vars(parameters)["__annotations__"]
    }
    choices = {name for name, setting in own.items() if setting.choices or isinstance(setting.default, bool)}
    assert documented.keys() == choices
    for name, row in documented.items():
        assert quoted(row["Default"]) == [defaults[name]]


def documented_switches() -> Iterator[Row]:
    for owner, _ in SWITCHED:
        yield from (row for row in rows(under(owner), "Switch") if "As published" in row)


@pytest.mark.parametrize("row", tuple(documented_switches()), ids=lambda row: row["Switch"].strip("`"))
def test_a_switch_that_corrects_the_published_protocol_is_shown(row: Row) -> None:
    """By transcripts of both settings, one of which sets it to the published value, or by a test that names it."""
    name, published = quoted(row["Switch"])[0], quoted(row["As published"])[0]
    shown = re.findall(r"\(\.\./(tests/scenarios/\w+\.txt)\)", row.get("Transcripts", ""))
    texts = [(ROOT / file).read_text(encoding="utf-8") for file in shown]
    if texts:
        assert any(f"{name}={published}" in text for text in texts)
        assert any(f"{name}={published}" not in text for text in texts)
    else:
        tests = [file for found in quoted(row["Tested by"]) for file in (ROOT / "tests").rglob(found)]
        assert any(name in file.read_text(encoding="utf-8") for file in tests)


def test_every_transcript_is_named() -> None:
    """And every one named is there."""
    linked = re.findall(r"\(\.\./tests/scenarios/(\w+\.txt)\)", DOCUMENT.read_text(encoding="utf-8"))
    assert set(linked) == {file.name for file in SCENARIOS.glob("*.txt")}
