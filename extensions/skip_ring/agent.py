"""A node of the skip ring: perhaps the supervisor, and a member for each topic's ring (section 4).

Messages go to the supervisor, a topic's member, or the `Outsider`. The node handles its own messages at once, then
notes changed labels and edges: the trace shows no state that lasted no time. A topic is the x of `topic = x`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from random import Random
from typing import ClassVar

from roambus.extensions.skip_ring.messages import (
    OVERLAY,
    SERVE,
    GetConfiguration,
    SetData,
    SkipRingParameters,
    Subscribe,
    Topic,
    TopicMessage,
    Unsubscribe,
)
from roambus.extensions.skip_ring.subscriber import Outsider, Subscriber
from roambus.extensions.skip_ring.supervisor import Supervisor
from roambus.python_protocol import events
from roambus.python_protocol.actions import Action, Send
from roambus.python_protocol.agent import Agent, Listing, heard_by, on, on_timer
from roambus.python_protocol.events import (
    NO_LINK,
    Attach,
    Crashed,
    Detach,
    Event,
    Recovered,
    SendFailed,
    Started,
    TimerKey,
)
from roambus.python_protocol.filters import Filter, Notification, NotificationId, Operator
from roambus.python_protocol.messages.fields import Names
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.simtime import SimTime

TOPIC = "topic"
"""The attribute that names the topic."""
EVERYTHING: Topic = ""
"""The topic of `one_topic`."""
TIMEOUT = "timeout"
"""The key of the timer for Timeout."""


class SkipRing(Agent):
    """A member of the ring of each topic that it subscribes to or publishes in."""

    parameters: SkipRingParameters
    own_notes: ClassVar[Mapping[str, str]] = {
        OVERLAY: "{node} notes overlay  {detail}",
        SERVE: "{node} notes serve {subject}",
    }

    def __init__(self, node: NodeId, roles: Role, parameters: SkipRingParameters, random: Random) -> None:
        """Raise ValueError if the supervisor is no broker."""
        super().__init__(node, roles, parameters, random)
        self.supervisor = self._make_supervisor()
        self.members: dict[Topic, Subscriber] = {}
        self._delivered: set[NotificationId] = set()
        """Deliveries, never repeated after another subscription."""
        self._outsider = Outsider(node, parameters.supervisor, of=self)
        self._is_away = False
        """Whether the node is detached."""
        self._lost_state = False
        """Whether the node is down after a crash."""

    # Rounds and messages

    @on(Started)
    def start(self, event: Started, now: SimTime) -> None:
        """Begin the rounds, at a random time."""
        self.set_timer(TIMEOUT, self.random.randrange(self.parameters.round))

    @on_timer(TIMEOUT)
    def timeout(self, key: TimerKey, now: SimTime) -> None:
        """Carry out Timeout of all parts (section 1.1)."""
        self.set_timer(TIMEOUT, self._draw_round())
        # The supervisor first: what it sends its own node's members is handled after their Timeout all the same.
        if self.supervisor is not None:
            self.supervisor.timeout()
        for member in self._taking_part():
            member.timeout()

    @on(*heard_by(Supervisor))
    def serve(self, request: Subscribe | Unsubscribe | GetConfiguration, sender: NodeId, now: SimTime) -> None:
        """Hand a request to the supervisor, or ask about membership."""
        # The two have GetConfiguration in common: at a subscriber it is the question of `ask_first`.
        if self.supervisor is not None:
            self.supervisor._handle_message(request, sender, now)
        elif isinstance(request, GetConfiguration) and request.topic in self.members and not self._is_away:
            self.members[request.topic].confirm()

    @on(*heard_by(Subscriber))
    def pass_on(self, message: TopicMessage, sender: NodeId, now: SimTime) -> None:
        """Hand a message to its member, which goes with the permission to."""
        member = self.members.get(message.topic)
        if member is None or self._is_away:
            self._outsider._handle_message(message, sender, now)
            return
        member._handle_message(message, sender, now)
        # Section 4.1: without a label the configuration is the permission. A member that is not leaving takes it for a
        # loss of its place, and asks for another one at its next Timeout.
        if isinstance(message, SetData) and message.label is None and member.is_leaving:
            self._forget(message.topic)

    # Faults

    @on(SendFailed)
    def suspect(self, event: SendFailed, now: SimTime) -> None:
        """Detect a crash (section 3.3): the supervisor has lost the link."""
        if self.supervisor is not None and event.reason == NO_LINK:
            self.supervisor.detect_crash(event.destination)

    @on(Crashed)
    def crash(self, event: Crashed, now: SimTime) -> None:
        """Lose labels, edges and databases; stable storage keeps the rest.

        A detached node keeps its members.
        """
        self._lost_state = True
        self.supervisor = self._make_supervisor()
        for topic, member in list(self.members.items()):
            member.clear()
            if member.is_leaving and not self._is_away:
                self._forget(topic)

    @on(Recovered)
    def recover(self, event: Recovered, now: SimTime) -> None:
        """Restart after a crash; continue after a freeze."""
        if not self._lost_state:
            return
        self._lost_state = False
        self.set_timer(TIMEOUT, self._draw_round())
        for member in self._taking_part():
            member.join()

    # The application

    @on(events.Subscribe)
    def subscribe(self, event: events.Subscribe, now: SimTime) -> None:
        """Deliver the topic's known publications, and join its ring."""
        topic = topic_of_filter(event.filter, one_topic=self.parameters.one_topic)
        is_to_join = self._is_to_join(topic)  # asked before the member is made, which has no place either
        member = self.member(topic)
        member.publications.subscribe(event.filter)
        if is_to_join:
            member.join()

    @on(events.Unsubscribe)
    def unsubscribe(self, event: events.Unsubscribe, now: SimTime) -> None:
        """Leave the topic's ring with its last filter."""
        topic = topic_of_filter(event.filter, one_topic=self.parameters.one_topic)
        member = self.members.get(topic)
        if member is None:
            return
        member.publications.filters.pop(event.filter, None)
        if member.publications.filters:
            return
        if self._is_away:
            self._forget(topic)
        else:
            member.leave()

    @on(events.Publish)
    def publish(self, event: events.Publish, now: SimTime) -> None:
        """Publish in the topic's ring, as a member."""
        # In the paper only subscribers publish. A publisher outside the ring would have nobody to flood to, and nobody
        # would compare tries with it.
        topic = topic_of(event.notification, one_topic=self.parameters.one_topic)
        is_to_join = self._is_to_join(topic)
        member = self.member(topic)
        if is_to_join:
            member.join()
        member.publish(event.notification)

    @on(Detach)
    def detach(self, event: Detach, now: SimTime) -> None:
        """Leave all rings, and keep the publications."""
        self._is_away = True
        for topic, member in list(self.members.items()):
            was_leaving = member.is_leaving
            member.leave()
            member.clear()
            if was_leaving:
                self._forget(topic)

    @on(Attach)
    def attach(self, event: Attach, now: SimTime) -> None:
        """Join all rings again."""
        self._is_away = False
        for member in self.members.values():
            member.join()

    # What follows every event

    def handle(self, event: Event, now: SimTime) -> Iterable[Action]:
        """React to an event and own messages; note changes."""
        self.dispatch(event, now)
        self.perform(self._handle_own(now))
        for member in self.members.values():
            member.note_changes()
        return self.take()

    def _handle_own(self, now: SimTime) -> list[Action]:
        """Handle own messages; return the other actions in order."""
        left: list[Action] = []
        while collected := self.take():
            for action in collected:
                if isinstance(action, Send) and action.destination == self.node:
                    self._handle_message(action.message, self.node, now)
                else:
                    left.append(action)
        return left

    # Helpers

    def _make_supervisor(self) -> Supervisor | None:
        if self.node != self.parameters.supervisor:
            return None
        if Role.BROKER not in self.roles:
            text = f"node {self.node} is to be the supervisor, and has not the role broker"
            raise ValueError(f"{text}: give it that role, or name another by the parameter supervisor")
        return Supervisor(ask_first=self.parameters.ask_first, of=self)

    def _is_to_join(self, topic: Topic) -> bool:
        """Whether the node awaits a place or leave to go."""
        member = self.members.get(topic)
        return not self._is_away and (member is None or member.is_leaving)

    def member(self, topic: Topic) -> Subscriber:
        """Return the topic's member, made if needed."""
        if topic not in self.members:
            self.members[topic] = Subscriber(self.node, topic, self.parameters, self.random, of=self)
            self.members[topic].publications.delivered = self._delivered
        return self.members[topic]

    def _forget(self, topic: Topic) -> None:
        """Forget a member; a trace row without label and edges follows."""
        self.members.pop(topic).note_changes()

    def _taking_part(self) -> Collection[Subscriber]:
        return () if self._is_away else self.members.values()

    def _draw_round(self) -> SimTime:
        """Draw the next round's length, so that nodes differ."""
        jitter = self.parameters.jitter
        return self.parameters.round - jitter // 2 + self.random.randrange(jitter + 1)

    def listings(self, names: Names) -> Mapping[str, Listing]:
        """Label and edges, the tries, and the supervisor's databases."""
        members = self.members.values()
        tries = (row for member in members for row in member.publications.listing_rows(names))
        head = ("Topic", "Label", "Left", "Right", "Ring", "Shortcuts")
        found = {
            "ring": Listing(head, tuple(member.listing_row(names) for member in members)),
            "trie": Listing(("Topic", "Label", "Publication"), tuple(tries)),
        }
        return found if self.supervisor is None else {**found, "database": self.supervisor.listing(names)}


_HINT = "or set the parameter one_topic=true, which makes one ring for everybody"


def topic_of_filter(wanted: Filter, *, one_topic: bool) -> Topic:
    """Return a filter's first topic (others match nothing); raise ValueError without one."""
    equal = (
        (constraint.attribute, constraint.operand)
        for constraint in wanted.constraints
        if constraint.operator is Operator.EQUAL
    )
    return _find_topic(equal, f"the filter {{{wanted}}} names no topic: write one", one_topic=one_topic)


def topic_of(publication: Notification, *, one_topic: bool) -> Topic:
    """Return a notification's topic; raise ValueError without one."""
    complaint = f"notification {publication.id} has no attribute topic: give it one"
    return _find_topic(publication.attributes, complaint, one_topic=one_topic)


def _find_topic(values: Iterable[tuple[str, Topic]], complaint: str, *, one_topic: bool) -> Topic:
    """Return the first topic, unless there is one ring."""
    found = [EVERYTHING] if one_topic else [value for name, value in values if name == TOPIC]
    if not found:
        raise ValueError(f"{complaint} such as topic = 1, {_HINT}")
    return found[0]
