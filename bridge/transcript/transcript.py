"""A transcript from file to file: a network, commands, and the exact messages that follow.

Head and commands become one scenario, which runs once over ideal links with the usual host and agents. A journal's
entries then stand below the commands. Nothing is simulated here: a transcript shows the agent's real behaviour.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, fields
from pathlib import Path
from random import Random
from typing import Any, Protocol, cast

from roambus.bridge.agents import Announce, announce_code, load_agent, silently
from roambus.bridge.backend import Backend
from roambus.bridge.backends.ideal.backend import IdealBackend, make_ideal
from roambus.bridge.host.agents import Handle, Wrapper
from roambus.bridge.host.event_loop import Host
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.system.code import DRIVERS, load, named
from roambus.bridge.system.errors import UserError, mistakes_at
from roambus.bridge.trace.parquet import TraceWriter
from roambus.bridge.transcript.commands import CommandReader
from roambus.bridge.transcript.document import Document, read_document
from roambus.bridge.transcript.head import KEYWORDS, Head, read_head
from roambus.bridge.transcript.journal import ALWAYS_HIDDEN, Journal, NetworkNames, OutputWriter, Wording
from roambus.bridge.transcript.network import Network
from roambus.bridge.transcript.timeline import Timeline
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.settings import parse_parameters, unknown
from roambus.python_protocol.trace_rows import DROP, MIGRATE, REPLAY, STORE

GIVEN_TREE = {"tree": "given", "link_layer": "false"}
"""Broker-family parameters for the papers' links: a drawn tree without losses."""


NOTES = {STORE, REPLAY, DROP, MIGRATE}
"""The notes that can be hidden, beside messages and the agent's own."""


@dataclass(frozen=True, slots=True)
class Overrides:
    """Settings that replace the file's; its parameters are for its own agent only."""

    agent: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    times: bool = False
    announce: Announce = silently
    """Receives the name of code before it runs."""


class Driver(Protocol):
    """Works the agents and links of one run by a timeline's commands.

    An entry point of the group `roambus.drivers` makes it of the timeline; a transcript names it, as in "by hand".
    """

    def carrier(self, scenario: Scenario) -> IdealBackend:
        """Make the back-end."""

    def chance(self, node: NodeId) -> Random:
        """Make a node's generator."""

    def wrap(self, agent: Agent, handle: Handle) -> Handle:
        """Let the agent handle commands, too."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A parsed transcript: agents, scenario and names."""

    agent_class: type[Agent]
    scenario: Scenario
    head: Head
    timeline: Timeline
    names: NetworkNames

    def carrier(self) -> IdealBackend:
        """A new back-end, with the driver's links if there is one."""
        return driver.carrier(self.scenario) if (driver := self._driver()) else make_ideal(self.scenario)

    def run(
        self, carrier: Backend, trace: TraceWriter, *wrappers: Wrapper, inner: Sequence[Wrapper] = ()
    ) -> Driver | None:
        """Run the agents inside wrappers, the first innermost; return any driver, which `inner` wrappers are inside."""
        driver = self._driver()
        around = (*inner, driver.wrap, *wrappers) if driver else (*inner, *wrappers)
        chance = driver.chance if driver else None
        Host(self.scenario, self.agent_class, carrier, trace, wrappers=around, chance=chance).run()
        return driver

    def _driver(self) -> Driver | None:
        return load(named(DRIVERS)[self.head.driver])(self.timeline) if self.head.driver else None


def plan(document: Document, overrides: Overrides = Overrides()) -> Plan:
    """Parse a transcript; raises UserError naming file and line."""
    head, network = read_head(document)
    if overrides.agent:
        head.agent, head.parameters, head.hidden = overrides.agent, {}, {}
    timeline = _read_commands(document, head, network)
    agent, scenario = _choose(document, timeline, overrides)
    names = NetworkNames(network, head.vocabulary.filter_names, timeline.events)
    return Plan(agent, scenario, head, timeline, names)


def transcribe(path: Path, overrides: Overrides = Overrides()) -> str:
    """The file's text with new outputs.

    Raises UserError naming file and line, AgentError, and OSError.
    """
    return follow(read_document(path), overrides)


def follow(document: Document, overrides: Overrides = Overrides()) -> str:
    """The text of a parsed file with its outputs; raises UserError, AgentError."""
    planned = plan(document, overrides)
    head, timeline, names = planned.head, planned.timeline, planned.names
    hidden = hidden_names(document, planned)
    journal = Journal(timeline.shows, names)
    planned.run(planned.carrier(), TraceWriter(), journal.wrap)
    journal.reach(planned.scenario.time_limit)
    if not overrides.agent:
        _refuse_unknown_listings(document, journal)
    writer = OutputWriter(timeline.slots, Wording(names, planned.agent_class.own_notes), head.delay, hidden)
    return document.with_outputs(writer.outputs(journal, times=overrides.times or head.times))


def _read_commands(document: Document, head: Head, network: Network) -> Timeline:
    """Read setup and commands; refuse an output like a command without prompt."""
    timeline, reader = Timeline(head, network), CommandReader(network, head.vocabulary)
    for line in (*head.setup, *document.commands()):
        with document.at(line.number):
            timeline.add(line.number if line.is_command else None, reader.read(line.text))
    for line in document.outputs:
        if line.text.partition(" ")[0] in KEYWORDS:
            raise UserError(
                f"{document.path}:{line.number}: {line.text!r} is a setting: write it before the first command"
            )
        if reader.knows(line.text.strip()):
            raise UserError(
                f"{document.path}:{line.number}: {line.text.strip()!r} is not output; write > before a command"
            )
    return timeline


def _choose(document: Document, timeline: Timeline, overrides: Overrides) -> tuple[type[Agent], Scenario]:
    """The agent and the scenario; errors of the command line are not blamed on the file."""
    head = timeline.head
    is_own = not (overrides.agent or overrides.parameters)
    with document.at(head.agent_line) if is_own else nullcontext():
        announce_code(head.agent, overrides.announce)
        agent = load_agent(head.agent)
        own = {parameter.name for parameter in fields(agent.parameters_type)}
        given = GIVEN_TREE if timeline.network.is_tree and own >= GIVEN_TREE.keys() else {}
        parameters = {**given, **head.parameters, **overrides.parameters}
        with mistakes_at(f"agent {head.agent}"):
            parse_parameters(agent.parameters_type, parameters)
    return agent, timeline.scenario(head.agent, parameters)


def hidden_names(document: Document, planned: Plan) -> set[str]:
    """The hidden names; raises UserError for one that hides nothing, probably mistyped."""
    head, kinds = planned.head, [cast("Any", message.message_type) for message in planned.agent_class.messages]
    # A frame of the link layer has no type of its own, but that of what it carries.
    own = planned.agent_class.own_notes
    known = NOTES | own.keys() | {message_type for message_type in kinds if isinstance(message_type, str)}
    for name, number in head.hidden.items():
        with document.at(number):
            if name not in known:
                raise UserError(unknown("type of message or note", name, dict.fromkeys(known)))
    # Where nodes move in a given tree, the commands say so already.
    never_shown = {name for name, line in own.items() if not line}
    return ALWAYS_HIDDEN | never_shown | head.hidden.keys() | ({MIGRATE} if planned.timeline.network.is_tree else set())


def _refuse_unknown_listings(document: Document, journal: Journal) -> None:
    """Only agents know their listings, so this check follows the run."""
    for look, listings in journal.views:
        known = {name: None for names_of_listing in listings.values() for name in names_of_listing}
        if look.number is not None and look.show.name_among(known) not in known:
            with document.at(look.number):
                raise UserError(unknown("listing", look.show.what, known))
