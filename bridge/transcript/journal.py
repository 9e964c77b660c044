"""A journal of what the agents of a run are told and do, in its order, with whole messages."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from roambus.bridge.transcript.timeline import Look
from roambus.python_protocol.actions import Action, Deliver, Note, Send
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import Event, SendFailed
from roambus.python_protocol.listing import Listing
from roambus.python_protocol.messages.names import Names
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.simtime import SimTime


class Entry(NamedTuple):
    """At `time`, `node` did `what`, or was told that something was not sent."""

    time: SimTime
    node: NodeId
    what: Send | Deliver | Note | SendFailed


class View(NamedTuple):
    """What there was to see at the time of a look: the listings of each node, by name."""

    look: Look
    listings: dict[NodeId, Mapping[str, Listing]]


class Journal:
    """Is kept by the agents themselves, which `watched` makes do so, and looks at them when it is time to."""

    def __init__(self, looks: Sequence[Look], names: Names) -> None:
        self.entries: list[Entry] = []
        self.views: list[View] = []
        self.agents: list[Agent] = []
        self._looks = deque(looks)
        self._names = names

    def reach(self, now: SimTime) -> None:
        """Takes all looks up to `now`, before which everything has happened."""
        while self._looks and self._looks[0].at <= now:
            look = self._looks.popleft()
            nodes = look.show.nodes or range(len(self.agents))
            self.views.append(View(look, {node: self.agents[node].listings(self._names) for node in nodes}))

    def add(self, time: SimTime, node: NodeId, happenings: Iterable[Event | Action]) -> None:
        """Keeps what a transcript can show."""
        for one in happenings:
            if isinstance(one, Send | Deliver | Note | SendFailed):
                self.entries.append(Entry(time, node, one))


def watched(agent_class: type[Agent], journal: Journal) -> type[Agent]:
    """A subclass of the agent that keeps a journal."""

    class Watched(agent_class):  # type: ignore[misc, valid-type]  # which agent it is only the transcript says
        def __init__(self, node: NodeId, roles: Role, parameters: Any, random: Random) -> None:
            super().__init__(node, roles, parameters, random)
            journal.agents.append(self)

        def handle(self, event: Event, now: SimTime) -> Iterable[Action]:
            journal.reach(now)
            actions = list(super().handle(event, now))
            journal.add(now, self.node, (event, *actions))
            return actions

    return Watched
