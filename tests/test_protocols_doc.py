"""docs/protocols.md is complete and true: its tables have what the code has, no more and no less.

What follows from the classes of messages, their fields and sizes, is written by `pytest tests/test_protocols_doc.py
--rewrite`.
"""

from __future__ import annotations

import ast
import dataclasses
import re
import tomllib
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from random import Random
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

import pytest

from benchmarks.mutations.methods import handlers
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.aodv import Aodv
from roambus.python_protocol.aodv.messages import Unreachable
from roambus.python_protocol.aodv.routing_table import Route
from roambus.python_protocol.brokers.agent import SHARED_MESSAGES, BrokerAgent
from roambus.python_protocol.brokers.broker import Broker, BrokerParameters, Entry, Pub
from roambus.python_protocol.brokers.client import Client
from roambus.python_protocol.filters import Filter, Notification, NotificationId, parse_filter
from roambus.python_protocol.messages.layout import field_type
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.messages.octets import Writer
from roambus.python_protocol.mft.messages import Known, Timestamp
from roambus.python_protocol.papers.phoenix.broker import Stamp
from roambus.python_protocol.papers.replicated.broker import Broker as ReplicatedBroker
from roambus.python_protocol.papers.replicated.messages import ReplicatedParameters
from roambus.python_protocol.papers.replicated.sites import parse_sites
from roambus.python_protocol.papers.skip_ring import SkipRing
from roambus.python_protocol.papers.skip_ring.labels import Reference
from roambus.python_protocol.papers.skip_ring.messages import Check, SkipRingParameters, Summary
from roambus.python_protocol.papers.skip_ring.publications import Publications
from roambus.python_protocol.papers.skip_ring.ring import BuildRing, Shortcuts
from roambus.python_protocol.papers.skip_ring.subscriber import Outsider, Subscriber
from roambus.python_protocol.papers.skip_ring.supervisor import Database, Supervisor
from roambus.python_protocol.parts.election import Election, ElectionParameters, Heartbeat, Leadership
from roambus.python_protocol.parts.link import LinkAck, LinkData, LinkParameters
from roambus.python_protocol.settings import describe_parameters, settings_of
from roambus.python_protocol.vocabulary import Role
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
VALUES: dict[Any, Any] = {type(one): one for one in (FILTER, NOTIFICATION, NOTIFICATION.id, b"ab")}
NUMBERS = {int: 3, bool: True}
"""A value of each number that no other type is, whatever its width."""
OWNERS = [*((name, load(name).messages) for name in AGENTS), ("Leader election", (Heartbeat,))]


def example(cls: type[Message]) -> Message:
    fields, hints = dataclasses.fields(cls), get_type_hints(cls)
    return cls(**{one.name: EXAMPLES.get(str(one.type)) or value_of(hints[one.name]) for one in fields})


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
    parts = value if isinstance(value, tuple) else [getattr(value, one.name) for one in dataclasses.fields(value)]
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


def package(*modules: str) -> list[ast.Module]:
    """The sources of modules, and of whole packages."""
    files = [file for one in modules for file in sorted((ROOT / "python_protocol").glob(one))]
    assert files
    return [ast.parse(file.read_text(encoding="utf-8")) for file in files]


def documented_handlers(title: str) -> set[str]:
    return {name for row in rows(under(title), "Handler") for name in quoted(row["Handler"])}


@pytest.mark.parametrize("agent", FAMILY)
def test_handlers_of_the_family(agent: str) -> None:
    """Every handler, and every method that implements lines of an algorithm."""
    assert documented_handlers(agent) >= handlers(package(modules_of(agent))) | implementing(agent).keys()
    made = make(agent)
    classes = [type(made), type(made.broker), type(made.client)]
    assert documented_handlers(agent) <= {name for cls in classes for name in dir(cls)}


@pytest.mark.parametrize("agent", FAMILY)
def test_lines_of_algorithms(agent: str) -> None:
    """The lines that a method's docstring names are those of the table."""
    documented = {name: row for row in rows(under(agent), "Handler") for name in quoted(row["Handler"])}
    for name, docstrings in implementing(agent).items():
        assert name in documented
        for lines in (found[1] for text in docstrings if (found := LINES.search(text))):
            assert lines in LINES.findall(documented[name]["Source"]), name


def implementing(agent: str) -> dict[str, list[str]]:
    """The docstrings of the methods of an agent's brokers that name an algorithm or lines of one."""
    found: dict[str, list[str]] = {}
    for cls in broker_classes(agent):
        for name, method in vars(cls).items():
            text = getattr(method, "__doc__", None) or ""
            if callable(method) and ALGORITHM.search(text):
                found.setdefault(name, []).append(text)
    return found


def broker_classes(agent: str) -> list[type[Broker]]:
    """Those of its own package; what it inherits from another protocol stands there."""
    made = make(agent).broker
    return [cls for cls in type(made).__mro__ if issubclass(cls, Broker) and package_of(cls) == package_of(load(agent))]


def modules_of(agent: str) -> str:
    """Those of an agent, whose entry point names a module or a package, below `python_protocol`."""
    path = AGENTS[agent].partition(":")[0].removeprefix("roambus.python_protocol.").replace(".", "/")
    return f"{path}/*.py" if (ROOT / "python_protocol" / path).is_dir() else f"{path}.py"


def test_handlers_of_what_the_family_shares() -> None:
    """Every event that puts an agent of the family to work."""
    assert documented_handlers("The broker family") == handlers(package("brokers/agent.py"))


def test_handlers_of_aodv() -> None:
    """Of messages, timers and events."""
    assert documented_handlers("aodv") == handlers(package("aodv/*.py"))


def test_handlers_of_the_skip_ring() -> None:
    """Every handler of the agent and of its parts, of messages, events and timers."""
    processes = (SkipRing, Subscriber, Publications, Supervisor, Outsider)
    tables = [table for process in processes for table in (process.handlers, process.timer_handlers)]
    own = {method.__name__ for table in tables for method in table.values()}
    assert documented_handlers("skip-ring") == own | {"configure", "publish_new"}


def test_handlers_of_the_replicated_brokers() -> None:
    """Of messages and events."""
    assert documented_handlers("replicated") == handlers(package(modules_of("replicated")))


def test_handlers_of_the_election() -> None:
    """Every handler of an event or of a timer, and what the agent calls."""
    documented = {quoted(row["Handler"])[0]: row for row in rows(under("Leader election"), "Handler")}
    assert documented.keys() == handlers(package("parts/election/algorithm.py")) | {"give_up", "adopt"}
    for key, handler in Election.timer_handlers.items():
        assert quoted(documented[handler.__name__]["For"]) == [key.name]


# State

LEFT_OUT = {
    "node",
    "roles",
    "_actions",
    "random",
    "parameters",
    "_node",
    "_random",
    "_parameters",
    "_is_broker",
    "_handlers",
    "out",
}
"""What nodes are made with, the tables above, and what takes the actions."""


def make(agent: str) -> BrokerAgent:
    cls = load(agent)
    made = cls(1, Role.BROKER | Role.SUBSCRIBER, cls.parameters_type(), Random(0))
    assert isinstance(made, BrokerAgent)
    return made


def documented_state(title: str, owner: str) -> set[str]:
    states = [row["State"] for row in rows(under(title), "State")]
    return {name for state in states if state.startswith(f"{owner} ") for name in quoted(state)}


def attributes(part: object) -> set[str]:
    return set(vars(part)) - LEFT_OUT


@pytest.mark.parametrize("agent", FAMILY)
def test_state_of_the_family(agent: str) -> None:
    """Each attribute of broker and client, what they share in a section of its own."""
    made = make(agent)
    assert documented_state(agent, "Broker") == attributes(made.broker) - attributes(Broker(1, None))
    assert documented_state(agent, "Client") == attributes(made.client) - documented_state(
        "The broker family", "Client"
    )


def test_state_of_what_the_family_shares() -> None:
    """Each attribute."""
    assert documented_state("The broker family", "Broker") == attributes(Broker(1, None))
    plain = make("mft").client
    Client.__init__(plain, 1, BrokerParameters())
    assert documented_state("The broker family", "Client") == attributes(plain) - documented_state("mft", "Client")


def test_state_of_aodv() -> None:
    """Each attribute of the agent and of its parts, and each field of a route."""
    made = Aodv(1, Role.NONE, Aodv.parameters_type(), Random(0))
    shared = {"_table", "_frames", "_errors", "_delete_period", "_active_route_timeout"}
    for part in (made, made.table, made.frames, made.errors, made.discovery):
        assert documented_state("aodv", type(part).__name__) == attributes(part) - shared
    assert documented_state("aodv", "Route") == {field.name for field in dataclasses.fields(Route)}


def test_state_of_the_skip_ring() -> None:
    """Each attribute of each part."""
    parameters = SkipRingParameters()
    ring = BuildRing(1, 1, parameters)
    parts = (Supervisor(), Database(), ring, Shortcuts(ring), Publications(1, parameters, Random(0)))
    for part in (*parts, Subscriber(1, 1, parameters, Random(0))):
        own = attributes(part) - {
            "_actions",
            "_outsider",
            "_ring",
            "ring",
            "shortcuts",
            "topic",
            "parameters",
        }
        own |= {"ring"} if part is ring else set()
        assert documented_state("skip-ring", type(part).__name__) == own


def test_state_of_the_replicated_brokers() -> None:
    """Each attribute of a broker, of its copy, and of the state that is copied."""
    broker = ReplicatedBroker(0, parse_sites("a:0..2"), ReplicatedParameters())
    for owner, part in (("State", broker.replica.state), ("Replica", broker.replica), ("Broker", broker)):
        assert documented_state("replicated", owner) == attributes(part)


def test_state_of_the_election() -> None:
    """Each attribute."""
    made = Election(1, True, ElectionParameters(), Random(0))
    assert documented_state("Leader election", "Election") == attributes(made)


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
]


@pytest.mark.parametrize(("owner", "parameters"), SWITCHED, ids=[name for name, _ in SWITCHED])
def test_switches(owner: str, parameters: type[Any]) -> None:
    """Every parameter of its own that is a choice, not a quantity, with its default."""
    documented = {quoted(row["Switch"])[0]: row for row in rows(under(owner), "Switch")}
    defaults = {name: default for name, default, *_ in describe_parameters(parameters)}
    own = {name: one for name, one in settings_of(parameters).items() if name in vars(parameters)["__annotations__"]}
    choices = {name for name, one in own.items() if one.choices or isinstance(one.default, bool)}
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
