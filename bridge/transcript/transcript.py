"""A transcript from its file: read, run, written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

from bridge.backends.ideal import IdealBackend
from bridge.errors import UserError
from bridge.given_tree import tree_links
from bridge.host import Host
from bridge.registry import load_agent
from bridge.scenario import Scenario
from bridge.trace import TraceWriter
from bridge.transcript.commands import CommandReader
from bridge.transcript.document import Document, read_document
from bridge.transcript.head import Head, read_head
from bridge.transcript.journal import Journal, watched
from bridge.transcript.lines import ALWAYS_HIDDEN, LineWriter, NetworkNames
from bridge.transcript.network import Network
from bridge.transcript.timeline import Timeline
from python_protocol.agent import Agent
from python_protocol.link import LinkData
from python_protocol.notes import DROP, MIGRATE, REPLAY, STORE
from python_protocol.parameters import parse_parameters, unknown

GIVEN_TREE = {"tree": "given", "link_layer": "false"}
"""Parameters of the broker family for the papers' links: a tree that is drawn, and nothing lost on it."""


NOTES = {STORE, REPLAY, DROP, MIGRATE}
"""What can be hidden beside messages."""


@dataclass(frozen=True, slots=True)
class Overrides:
    """What is to be otherwise than in the file; the parameters that the file gives are for its own agent only."""

    agent: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    times: bool = False


def transcribe(path: Path, overrides: Overrides = Overrides()) -> str:
    """The file's text with the outputs that follow from it, whatever outputs it had.

    Raises UserError naming file and line, AgentError, and OSError.
    """
    document = read_document(path)
    head, network = read_head(document)
    if overrides.agent:
        head.agent, head.parameters, head.hidden = overrides.agent, {}, {}
    timeline = _read_commands(document, head, network)
    with document.at(head.agent_line):
        agent = load_agent(head.agent)
        scenario = _scenario(timeline, agent, {**head.parameters, **overrides.parameters})
    hidden = _hidden(document, head, network, agent)
    names = NetworkNames(network, head.vocabulary.filter_names, timeline.events)
    journal = Journal(timeline.looks, names)
    _run(scenario, watched(agent, journal))
    journal.reach(scenario.time_limit)
    _refuse_unknown_listings(document, journal)
    writer = LineWriter(names, timeline.slots, hidden, head.delay)
    times = overrides.times or head.times
    return document.with_outputs(writer.outputs(journal.entries, journal.views, times=times))


def _read_commands(document: Document, head: Head, network: Network) -> Timeline:
    timeline, reader = Timeline(head, network), CommandReader(network, head.vocabulary)
    for line in (*head.setup, *document.commands()):
        with document.at(line.number):
            timeline.add(line.number if line.is_command else None, reader.read(line.text))
    return timeline


def _scenario(timeline: Timeline, agent: type[Agent], parameters: Mapping[str, str]) -> Scenario:
    own = {one.name for one in fields(agent.parameters_type)}
    given = GIVEN_TREE if timeline.network.is_tree and own >= GIVEN_TREE.keys() else {}
    chosen = {**given, **parameters}
    parse_parameters(agent.parameters_type, chosen)
    return timeline.scenario(timeline.head.agent, chosen)


def _hidden(document: Document, head: Head, network: Network, agent: type[Agent]) -> set[str]:
    # A frame of the link layer has the type of what it carries.
    types = {one.message_type for one in agent.messages if one is not LinkData}
    for name, number in head.hidden.items():
        with document.at(number):
            if name not in types | NOTES:
                raise UserError(unknown("type of message or note", name, dict.fromkeys(types | NOTES)))
    migrations = {MIGRATE} if network.is_tree else set()
    return ALWAYS_HIDDEN | migrations | head.hidden.keys()


def _run(scenario: Scenario, agent: type[Agent]) -> None:
    links = (*scenario.ideal.changes, *tree_links(scenario.tree))
    nodes, limit = len(scenario.nodes), scenario.time_limit
    backend = IdealBackend(nodes, scenario.ideal.links, limit, links, scenario.ideal.delay)
    Host(scenario, agent, backend, TraceWriter()).run()


def _refuse_unknown_listings(document: Document, journal: Journal) -> None:
    for look, listings in journal.views:
        known = {name: None for one in listings.values() for name in one}
        if look.number is not None and look.show.what not in known:
            with document.at(look.number):
                raise UserError(unknown("listing", look.show.what, known))
