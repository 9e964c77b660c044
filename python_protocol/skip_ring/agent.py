"""The self-stabilising supervised skip ring on a node: supervisor, and a member for each topic (004)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from random import Random
from typing import Any

from roambus.python_protocol import events
from roambus.python_protocol.actions import Action, Send, SetTimer
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import (
    NO_LINK,
    Attach,
    Crashed,
    Detach,
    Event,
    Received,
    Recovered,
    SendFailed,
    Started,
    TimerFired,
)
from roambus.python_protocol.listing import Listing
from roambus.python_protocol.messages.codec import MessageSet
from roambus.python_protocol.messages.names import Names
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.simtime import SimTime
from roambus.python_protocol.skip_ring.member import Member
from roambus.python_protocol.skip_ring.messages import (
    SKIP_RING_MESSAGES,
    GetConfiguration,
    SetData,
    Subscribe,
    Topic,
    TopicMessage,
    Unsubscribe,
)
from roambus.python_protocol.skip_ring.parameters import SkipRingParameters
from roambus.python_protocol.skip_ring.refusal import refuse
from roambus.python_protocol.skip_ring.supervisor import Supervisor
from roambus.python_protocol.skip_ring.topics import topic_of, topic_of_filter

TIMEOUT = "timeout"
"""The timer of Timeout."""


class SkipRing(Agent):
    """Any node: it takes part in the ring of each topic that it subscribes to, or publishes in."""

    parameters_type = SkipRingParameters
    messages = MessageSet(SKIP_RING_MESSAGES)
    parameters: SkipRingParameters

    def __init__(self, node: NodeId, roles: Role, parameters: SkipRingParameters, random: Random) -> None:
        """The node that is the supervisor has the role broker; raises ValueError if it has not."""
        super().__init__(node, roles, parameters, random)
        self.supervisor = self._make_supervisor()
        self.members: dict[Topic, Member] = {}
        self._is_away = False
        """Detached."""
        self._lost_state = False
        """In a crash."""
        self._handlers: dict[type[Any], Callable[[Any], Iterable[Action]]] = {
            Started: self._started,
            Received: self._received,
            TimerFired: self._timer_fired,
            SendFailed: self._send_failed,
            Crashed: self._crashed,
            Recovered: self._recovered,
            events.Subscribe: self._subscribe,
            events.Unsubscribe: self._unsubscribe,
            events.Publish: self._publish,
            Detach: self._detach,
            Attach: self._attach,
        }

    def handle(self, event: Event, now: SimTime) -> Iterable[Action]:  # noqa: ARG002  # rounds are timers
        """See `Agent.handle`."""
        handler = self._handlers.get(type(event))
        actions = [] if handler is None else self._deliver_locally(handler(event))
        return [*actions, *(note for member in self.members.values() for note in member.note_changes())]

    def listings(self, names: Names) -> Mapping[str, Listing]:
        """Label and edges, the tries, and the supervisor's databases."""
        members = self.members.values()
        edges = tuple(member.listing_row(names) for member in members)
        tries = tuple(row for member in members for row in member.publications.listing_rows(names))
        found = {
            "ring": Listing(("Topic", "Label", "Left", "Right", "Ring", "Shortcuts"), edges),
            "trie": Listing(("Topic", "Label", "Publication"), tries),
        }
        return found if self.supervisor is None else {**found, "database": self.supervisor.listing(names)}

    # Events

    def _started(self, _: Started) -> list[Action]:
        return [SetTimer(TIMEOUT, self.random.randrange(self.parameters.round))]

    def _timer_fired(self, _: TimerFired) -> list[Action]:
        actions: list[Action] = [SetTimer(TIMEOUT, self._draw_round())]
        if self.supervisor is not None:
            actions += self.supervisor.timeout()
        return [*actions, *(action for member in self._taking_part() for action in member.timeout())]

    def _received(self, event: Received) -> list[Action]:
        message = event.message
        if isinstance(message, Subscribe | Unsubscribe | GetConfiguration):
            return [] if self.supervisor is None else self.supervisor.receive(message)
        if not isinstance(message, TopicMessage):
            return []
        member = self.members.get(message.topic)
        if member is None or self._is_away:
            return self._refuse(event.sender, message)
        actions = member.receive(event.sender, message)
        if isinstance(message, SetData) and message.label is None and member.subscriber.is_leaving:
            del self.members[message.topic]
        return actions

    def _send_failed(self, event: SendFailed) -> list[Action]:
        """The failure detector of section 3.3: a node to which the supervisor has no link has crashed."""
        if self.supervisor is not None and event.reason == NO_LINK:
            self.supervisor.detect_crash(event.destination)
        return []

    def _crashed(self, _: Crashed) -> list[Action]:
        """What is published and wanted is in stable storage; labels, edges and databases are not."""
        self._lost_state = True
        self.supervisor = self._make_supervisor()
        self.members = {topic: one for topic, one in self.members.items() if not one.subscriber.is_leaving}
        for member in self.members.values():
            member.subscriber.clear()
        return []

    def _recovered(self, _: Recovered) -> list[Action]:
        """After a crash everything begins anew; a frozen node just goes on."""
        if not self._lost_state:
            return []
        self._lost_state = False
        joined = [action for member in self._taking_part() for action in member.subscriber.join()]
        return [SetTimer(TIMEOUT, self._draw_round()), *joined]

    # The application

    def _subscribe(self, event: events.Subscribe) -> list[Action]:
        member, actions = self._join(topic_of_filter(event.filter, one_topic=self.parameters.one_topic))
        return [*member.publications.subscribe(event.filter), *actions]

    def _unsubscribe(self, event: events.Unsubscribe) -> list[Action]:
        topic = topic_of_filter(event.filter, one_topic=self.parameters.one_topic)
        member = self.members.get(topic)
        if member is None:
            return []
        member.publications.filters.pop(event.filter, None)
        if member.publications.filters:
            return []
        if self._is_away:
            del self.members[topic]
            return []
        return member.subscriber.leave()

    def _publish(self, event: events.Publish) -> list[Action]:
        """Who publishes takes part in the ring, whether it subscribes or not."""
        member, actions = self._join(topic_of(event.notification, one_topic=self.parameters.one_topic))
        return [*actions, *member.publish(event.notification)]

    def _detach(self, _: Detach) -> list[Action]:
        """Leaves all rings, and keeps what was published."""
        actions = [action for member in self.members.values() for action in member.subscriber.leave()]
        self._is_away = True
        for member in self.members.values():
            member.subscriber.clear()
        return actions

    def _attach(self, _: Attach) -> list[Action]:
        """Joins them again."""
        self._is_away = False
        return [action for member in self.members.values() for action in member.subscriber.join()]

    # Helpers

    def _make_supervisor(self) -> Supervisor | None:
        if self.node != self.parameters.supervisor:
            return None
        if Role.BROKER not in self.roles:
            text = f"node {self.node} is to be the supervisor, and has not the role broker"
            raise ValueError(f"{text}: give it that role, or name another by the parameter supervisor")
        return Supervisor()

    def _join(self, topic: Topic) -> tuple[Member, list[Action]]:
        """The member for a topic, and what it has to say if it is a new one, or on its way out."""
        member = self.members.get(topic)
        if member is not None and not member.subscriber.is_leaving:
            return member, []
        if member is None:
            member = self.members[topic] = Member(self.node, topic, self.parameters, self.random)
        return member, [] if self._is_away else member.subscriber.join()

    def _taking_part(self) -> Iterable[Member]:
        return () if self._is_away else self.members.values()

    def _refuse(self, sender: NodeId, message: TopicMessage) -> list[Action]:
        return refuse(self.node, self.parameters.supervisor, sender, message)

    def _draw_round(self) -> SimTime:
        """How long the next round lasts."""
        jitter = self.parameters.jitter
        return self.parameters.round - jitter // 2 + self.random.randrange(jitter + 1)

    def _deliver_locally(self, actions: Iterable[Action]) -> list[Action]:
        """What supervisor and member of one node say to each other is not sent."""
        pending, outgoing = deque(actions), list[Action]()
        while pending:
            action = pending.popleft()
            if isinstance(action, Send) and action.destination == self.node:
                pending.extend(self._received(Received(self.node, action.message, 0.0, 0.0)))
            else:
                outgoing.append(action)
        return outgoing
