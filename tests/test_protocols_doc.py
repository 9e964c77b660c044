"""docs/protocols.md is complete and true: its tables have what the code has, no more and no less."""

from __future__ import annotations

import ast
import dataclasses
import re
import tomllib
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

import pytest

from benchmarks.mutations.methods import handlers
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.aodv import Aodv
from roambus.python_protocol.aodv.messages import Unreachable
from roambus.python_protocol.aodv.routing_table import Route
from roambus.python_protocol.aodv.state import State
from roambus.python_protocol.brokers.agent import SHARED_MESSAGES, BrokerAgent
from roambus.python_protocol.brokers.broker import Broker
from roambus.python_protocol.brokers.client import Client
from roambus.python_protocol.brokers.messages import Pub
from roambus.python_protocol.brokers.parameters import BrokerParameters
from roambus.python_protocol.brokers.routing import Entry
from roambus.python_protocol.filters import Filter, Notification, NotificationId, parse_filter
from roambus.python_protocol.messages.codec import Message, Writer
from roambus.python_protocol.mft.messages import Known
from roambus.python_protocol.mft.timestamps import Timestamp
from roambus.python_protocol.parameters import describe_parameters
from roambus.python_protocol.parts.election import Election, ElectionParameters, Heartbeat, Leadership
from roambus.python_protocol.parts.election import algorithm as election
from roambus.python_protocol.parts.link import LinkAck, LinkData, LinkParameters
from roambus.python_protocol.phoenix.messages import Stamp
from roambus.python_protocol.replicated.broker import Broker as ReplicatedBroker
from roambus.python_protocol.replicated.failure_messages import Point
from roambus.python_protocol.replicated.messages import Sub
from roambus.python_protocol.replicated.parameters import ReplicatedParameters
from roambus.python_protocol.roles import Role
from roambus.python_protocol.sites import Site, Sites
from roambus.python_protocol.skip_ring.build_ring import BuildRing
from roambus.python_protocol.skip_ring.database import Database
from roambus.python_protocol.skip_ring.messages import Check, Summary
from roambus.python_protocol.skip_ring.parameters import SkipRingParameters
from roambus.python_protocol.skip_ring.publications import Publications
from roambus.python_protocol.skip_ring.references import Reference
from roambus.python_protocol.skip_ring.shortcuts import Shortcuts
from roambus.python_protocol.skip_ring.subscriber import Subscriber
from roambus.python_protocol.skip_ring.supervisor import Supervisor
from tests.support.documents import Row, quoted, rows, section

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "docs" / "protocols.md"
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
    "Number": 3,
    "Term": 3,
    "U8": 3,
    "BrokerId": 1,
    "Point": Point(1, 1),
    "Copy": b"ab",
    "MaybeCopy": b"ab",
    "Numbered": Sub(1, FILTER),
    "Filter": FILTER,
    "Notification": NOTIFICATION,
    "Timestamp": Timestamp(1, 1),
    "Stamp": Stamp(0, 1),
    "Leadership": Leadership(1, 1),
    "Message": Pub(NOTIFICATION, 1),
    "tuple[NodeId, ...]": (1, 2),
    "tuple[Filter, ...]": (FILTER, FILTER),
    "tuple[Notification, ...]": (NOTIFICATION, NOTIFICATION),
    "tuple[NotificationId, ...]": (NotificationId(9, 1), NotificationId(9, 2)),
    "tuple[Entry, ...]": (Entry(FILTER, 1, 1), Entry(FILTER, 1, 2)),
    "tuple[Unreachable, ...]": (Unreachable(1, 1), Unreachable(2, 1)),
    "tuple[Known, ...]": (Known(1, 1, 1),),
    "Topic": 1,
    "Label": "011",
    "Label | None": "011",
    "Bits": "011",
    "Reference": REFERENCE,
    "Reference | None": REFERENCE,
    "Check | None": Check(REFERENCE, "011"),
    "tuple[Summary, ...]": (Summary("011", bytes(8)), Summary("011", bytes(8))),
}
"""A value for each type that a field can have. Lists have two; a BMIG has two lists of the last kind."""
OWNERS = [*((name, load(name).messages) for name in AGENTS), ("Leader election", (Heartbeat,))]


def example(cls: type[Message]) -> Message:
    return cls(*(EXAMPLES[str(field.type)] for field in dataclasses.fields(cls)))  # type: ignore[arg-type]  # they are


def length(part: Filter | Notification | Reference | Summary) -> int:
    writer = Writer()
    part.write(writer)
    return len(writer.getvalue())


def length_of_carried(message: Message) -> int:
    """How long the message is that another one carries."""
    carried = getattr(message, "message", None) or Pub(NOTIFICATION, 1)
    return len(carried.encode())


def evaluate(formula: str, message: Message) -> int:
    """The bytes that a formula such as "3 + n (4 + f)" comes to, or a field that tells the size."""
    if quoted(formula):
        return int(getattr(message, quoted(formula)[0]))
    sizes = {"f": length(FILTER), "e": length(NOTIFICATION), "n": 2, "m": length_of_carried(message)}
    sizes |= {"t": 9, "l": 2, "r": length(REFERENCE), "s": length(Summary("011", bytes(8)))}
    products = re.sub(r"(?<=[\w)]) (?=[\w(])", "*", formula)
    return int(eval(products, {"__builtins__": {}}, sizes))  # noqa: S307  # a formula of our own document


@pytest.mark.parametrize(("owner", "messages"), OWNERS, ids=[name for name, _ in OWNERS])
def test_messages(owner: str, messages: Iterable[type[Message]]) -> None:
    """Every message, with its fields and bytes."""
    documented = {row["Message"]: row for row in rows(under(owner), "Message")}
    own = {str(cls.message_type): cls for cls in messages if owner not in AGENTS or cls not in SHARED_MESSAGES}
    assert documented.keys() == own.keys()
    for name, cls in own.items():
        check_message(documented[name], cls)


def test_messages_of_the_link_layer() -> None:
    """One has the type of its payload."""
    data, acknowledgement = rows(under("Link layer"), "Message")
    check_message(data, LinkData)
    check_message(acknowledgement, LinkAck)


def check_message(row: Row, cls: type[Message]) -> None:
    fields = [field.name for field in dataclasses.fields(cls)]  # type: ignore[arg-type]  # all messages are dataclasses
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
    folder = load(agent).__module__.split(".")[1]
    assert documented_handlers(agent) >= handlers(package(f"{folder}/*.py")) | implementing(agent).keys()
    assert documented_handlers(agent) <= set(dir(type(make(agent).broker)))


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


def test_handlers_of_what_the_family_shares() -> None:
    """Every event that puts an agent of the family to work."""
    assert documented_handlers("The broker family") == handlers(package("brokers/agent.py"))


def test_handlers_of_aodv() -> None:
    """Of messages, timers and events."""
    assert documented_handlers("aodv") == handlers(package("aodv/*.py"))


def test_handlers_of_the_replicated_brokers() -> None:
    """Of messages and events."""
    assert documented_handlers("replicated") == handlers(package("replicated/*.py"))


def test_handlers_of_the_election() -> None:
    """They are there, and so are its timers."""
    assert documented_handlers("Leader election") <= set(dir(Election))
    timers = {value.name for value in vars(election).values() if isinstance(value, election.ElectionTimer)}
    documented = [row for row in rows(under("Leader election"), "Handler") if row["Handler"] == "`timer`"]
    assert {name for row in documented for name in quoted(row["For"])} == timers


# State

LEFT_OUT = {"node", "random", "parameters", "_node", "_random", "_parameters", "_is_broker", "_handlers", "out"}
LEFT_OUT |= {"_actions"}
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
    """Each field of what a router knows, and of a route."""
    made = Aodv(1, Role.NONE, Aodv.parameters_type(), Random(0))
    assert documented_state("aodv", "State") == {field.name for field in dataclasses.fields(State)} - LEFT_OUT
    assert documented_state("aodv", "Route") == {field.name for field in dataclasses.fields(Route)}
    assert documented_state("aodv", "Router") <= attributes(vars(made)["_router"])
    assert documented_state("aodv", "Agent") <= attributes(made)


def test_state_of_the_skip_ring() -> None:
    """Each attribute of each part."""
    parameters, ring = SkipRingParameters(), BuildRing(1, 1, check_labels=True)
    parts = (Supervisor(), Database(), ring, Shortcuts(ring), Publications(1, parameters, Random(0)))
    for part in (*parts, Subscriber(1, 1, parameters, Random(0))):
        own = attributes(part) - {"_ring", "ring", "shortcuts", "topic", "checks_labels"}
        own |= {"ring"} if part is ring else set()
        assert documented_state("skip-ring", type(part).__name__) == own


def test_state_of_the_replicated_brokers() -> None:
    """Each attribute of a broker and its parts, of its copy, and of the state that is copied."""
    broker = ReplicatedBroker(0, Sites((Site("a", None, (0, 1, 2)),)), ReplicatedParameters())
    replica, shared = broker.replica, {"_replica", "_neighbours", "_outbox", "_mates"}
    parts = {"State": replica.state, "Replica": replica, "Releases": replica.releases, "Broker": broker}
    parts |= {"Neighbours": broker.neighbours, "Mates": broker.mate_side}
    for owner, part in parts.items():
        assert documented_state("replicated", owner) == attributes(part) - shared
    for stateless in (broker.outbox, broker.client_side, broker.neighbour_side):
        assert attributes(stateless) <= shared


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
    choices = {
        name for name in vars(parameters)["__annotations__"] if isinstance(getattr(parameters(), name), bool | str)
    }
    assert documented.keys() == choices
    for name, row in documented.items():
        assert quoted(row["Default"]) == [defaults[name]]


def documented_switches() -> Iterator[Row]:
    for owner, _ in SWITCHED:
        yield from (row for row in rows(under(owner), "Switch") if "To the letter" in row)


@pytest.mark.parametrize("row", tuple(documented_switches()), ids=lambda row: row["Switch"].strip("`"))
def test_a_switch_that_mends_the_letter_is_shown(row: Row) -> None:
    """By transcripts of both settings, one of which sets it to the letter's value, or by a test that names it."""
    name, letter = quoted(row["Switch"])[0], quoted(row["To the letter"])[0]
    shown = re.findall(r"\(\.\./(tests/scenarios/\w+\.txt)\)", row.get("Transcripts", ""))
    texts = [(ROOT / file).read_text(encoding="utf-8") for file in shown]
    if texts:
        assert any(f"{name}={letter}" in text for text in texts)
        assert any(f"{name}={letter}" not in text for text in texts)
    else:
        tests = [file for found in quoted(row["Tested by"]) for file in (ROOT / "tests").rglob(found)]
        assert any(name in file.read_text(encoding="utf-8") for file in tests)


def test_every_transcript_is_named() -> None:
    """And every one named is there."""
    linked = re.findall(r"\(\.\./tests/scenarios/(\w+\.txt)\)", DOCUMENT.read_text(encoding="utf-8"))
    assert set(linked) == {file.name for file in SCENARIOS.glob("*.txt")}
