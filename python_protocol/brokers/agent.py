"""A protocol of the broker family on a node: tree, link, broker and client put together.

The tree (`overlay`) says who is near, the link carries the messages of broker and client between nodes and says who
is out of reach, and both tell the broker and the client of this node. A client on a broker's node is that broker's;
what the two say to each other never goes on the air.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random
from typing import Any, ClassVar

from roambus.python_protocol.actions import Action, Note, Send
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.brokers.broker import Broker
from roambus.python_protocol.brokers.client import Client
from roambus.python_protocol.brokers.parameters import BrokerParameters
from roambus.python_protocol.events import (
    NO_LINK,
    Crashed,
    Event,
    Publish,
    Received,
    Recovered,
    Rewired,
    SendFailed,
    Started,
    Subscribe,
    TimerFired,
    Unsubscribe,
)
from roambus.python_protocol.listing import Listing
from roambus.python_protocol.messages.codec import Message
from roambus.python_protocol.messages.names import Names
from roambus.python_protocol.notes import MIGRATE
from roambus.python_protocol.parts.direct_link import DirectLink
from roambus.python_protocol.parts.election import Election, ElectionTimer, Heartbeat
from roambus.python_protocol.parts.given_tree import GivenTree
from roambus.python_protocol.parts.link import LINK_MESSAGES, Link, LinkBroken, LinkTimer
from roambus.python_protocol.parts.overlay import (
    NOTHING,
    Change,
    NeighbourAppeared,
    NeighbourGone,
    Outcome,
    Overlay,
    ParentChanged,
)
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.simtime import SimTime

SHARED_MESSAGES: tuple[type[Message], ...] = (*LINK_MESSAGES, Heartbeat)
"""What every protocol of the family sends beside its own."""

_OVERLAYS: dict[str, type[Election | GivenTree]] = {"election": Election, "given": GivenTree}


class BrokerAgent(Agent):
    """Any combination of roles on a node; a subclass names its broker, its client and their messages."""

    broker_type: ClassVar[type[Broker]]
    client_type: ClassVar[type[Client]]
    parameters: BrokerParameters

    def __init__(self, node: NodeId, roles: Role, parameters: BrokerParameters, random: Random) -> None:
        """See `Agent`."""
        super().__init__(node, roles, parameters, random)
        self.client = self._make_client()
        self._lose_memory()
        self._handlers: dict[type[Any], Callable[[Any, SimTime], Iterable[Action]]] = {
            Started: self._started,
            Received: self._received,
            TimerFired: self._timer_fired,
            Crashed: self._crashed,
            Recovered: self._started,
            Rewired: self._rewired,
            SendFailed: self._send_failed,
            Subscribe: self._subscribe,
            Unsubscribe: self._unsubscribe,
            Publish: self._publish,
        }

    def handle(self, event: Event, now: SimTime) -> Iterable[Action]:
        """See `Agent`; events that mean nothing here are ignored.

        Detach and Attach are among them: the tree tells a client that it has lost its broker, and when it has another.
        """
        handler = self._handlers.get(type(event))
        return handler(event, now) if handler is not None else ()

    def listings(self, names: Names) -> Mapping[str, Listing]:
        """The broker's; see `Agent`."""
        return {} if self.broker is None else self.broker.listings(names)

    def _make_broker(self) -> Broker:
        return self.broker_type(self.node, self.parameters)

    def _make_client(self) -> Client:
        return self.client_type(self.node, self.parameters)

    def _lose_memory(self) -> None:
        """A client's filters and counter survive a crash; nothing else does."""
        is_broker, parameters = Role.BROKER in self.roles, self.parameters
        self.overlay: Overlay = _OVERLAYS[parameters.tree](self.node, is_broker, parameters, self.random)
        self.link = Link(parameters, self.random) if parameters.link_layer else DirectLink()
        self.broker = self._make_broker() if is_broker else None
        self._parent: NodeId | None = None
        self.client.detach()

    # Events

    def _started(self, _event: Started | Recovered, now: SimTime) -> list[Action]:
        actions = self._follow(self.overlay.start(now), now)
        if self.broker is not None:
            actions += self._from_client(self.client.attach(self.node), now)
        return actions

    def _crashed(self, _event: Crashed, _now: SimTime) -> Iterable[Action]:
        self._lose_memory()
        return ()

    def _received(self, event: Received, now: SimTime) -> Iterable[Action]:
        message = event.message
        if type(message) is Heartbeat:
            outcome = self.overlay.receive(event.sender, message, event.rssi_dbm, now)
            return () if outcome is NOTHING else self._follow(outcome, now)
        actions, payloads = self.link.receive(event.sender, message, now)
        for payload in payloads:
            actions += self._hand_up(event.sender, payload, now)
        return actions if payloads else actions + self._replay_more(event.sender, now)

    def _timer_fired(self, event: TimerFired, now: SimTime) -> Iterable[Action]:
        if isinstance(event.key, ElectionTimer):
            return self._follow(self.overlay.timer(event.key, now), now)
        if isinstance(event.key, LinkTimer):
            return self._link_timer_fired(event.key, now)
        return ()

    def _link_timer_fired(self, key: LinkTimer, now: SimTime) -> list[Action]:
        actions, broken = self.link.timer(key)
        for one in broken:
            actions += self._link_broken(one, now)
        return actions

    def _rewired(self, event: Rewired, now: SimTime) -> Iterable[Action]:
        return self._follow(self.overlay.rewire(event), now)

    def _send_failed(self, event: SendFailed, now: SimTime) -> Iterable[Action]:
        # The link layer retransmits, and gives up by itself.
        if self.parameters.link_layer or event.reason != NO_LINK:
            return ()
        return self._link_broken(LinkBroken(event.destination, (event.message,)), now)

    def _subscribe(self, event: Subscribe, now: SimTime) -> Iterable[Action]:
        return self._from_client(self.client.subscribe(event.filter), now)

    def _unsubscribe(self, event: Unsubscribe, now: SimTime) -> Iterable[Action]:
        return self._from_client(self.client.unsubscribe(event.filter), now)

    def _publish(self, event: Publish, now: SimTime) -> Iterable[Action]:
        return self._from_client(self.client.publish(event.notification), now)

    # What election and link report

    def _follow(self, outcome: Outcome, now: SimTime) -> list[Action]:
        actions, changes = outcome
        return [*actions, *self._follow_changes(changes, now)]

    def _follow_changes(self, changes: Sequence[Change], now: SimTime) -> list[Action]:
        actions: list[Action] = []
        for change in changes:
            if isinstance(change, ParentChanged):
                actions += self._change_parent(change.parent, now)
            elif self.broker is not None:
                actions += self._from_broker(self._change_neighbour(self.broker, change), now)
        return actions

    def _change_parent(self, parent: NodeId | None, now: SimTime) -> list[Action]:
        note = Note(MIGRATE, peer=parent)
        old, self._parent = self._parent, parent
        if self.broker is None:
            return [note, *self._change_broker(parent, now)]
        if old is not None and old not in self.overlay.children:
            self.broker.gone(old, moved=True)
        return [note] if parent is None else [note, *self._from_broker(self.broker.migrate(parent), now)]

    def _change_broker(self, broker: NodeId | None, now: SimTime) -> list[Action]:
        if broker is None:
            self.client.detach()
            return []
        return self._from_client(self.client.attach(broker), now)

    def _change_neighbour(self, broker: Broker, change: NeighbourAppeared | NeighbourGone) -> list[Action]:
        neighbour = change.neighbour
        if isinstance(change, NeighbourAppeared):
            return broker.neighbour_appeared(neighbour) if change.is_broker else broker.client_appeared(neighbour)
        if neighbour != self._parent:
            broker.gone(neighbour, moved=change.moved)
        return []

    def _link_broken(self, broken: LinkBroken, now: SimTime) -> list[Action]:
        """What did not arrive goes another way: a broker's at once, a client's once it has another broker."""
        actions: list[Action] = []
        if self.broker is not None:
            actions += self._from_broker(self.broker.link_broken(broken.neighbour, broken.messages), now)
        actions += self._follow(self.overlay.give_up(broken.neighbour, now), now)
        if self.broker is None:
            actions += self._from_client(self.client.link_broken(broken.messages), now)
        return actions

    # Messages between processes

    def _hand_up(self, sender: NodeId, message: Message, now: SimTime) -> list[Action]:
        if self.broker is None:
            return self._from_client(self.client.receive(message), now)
        actions = self.broker.receive(sender, message)
        if sender in self.broker.neighbours or sender in self.broker.clients:
            self._adopt(sender, now)
        return self._from_broker(actions, now)

    def _replay_more(self, neighbour: NodeId, now: SimTime) -> list[Action]:
        if self.broker is None or not self.link.is_idle(neighbour):
            return []
        return self._from_broker(self.broker.idle(neighbour), now)

    def _adopt(self, neighbour: NodeId, now: SimTime) -> None:
        if neighbour != self._parent and neighbour not in self.overlay.children:
            self.overlay.adopt(neighbour, now)

    def _from_broker(self, actions: Iterable[Action], now: SimTime) -> list[Action]:
        """Carries out what the broker of this node wants done."""
        done: list[Action] = []
        for action in actions:
            if not isinstance(action, Send):
                done.append(action)
            elif action.destination == self.node:
                done += self._from_client(self.client.receive(action.message), now)
            else:
                done += self._transmit(action, now)
        return done

    def _from_client(self, actions: Iterable[Action], now: SimTime) -> list[Action]:
        """Carries out what the client of this node wants done."""
        done: list[Action] = []
        for action in actions:
            if not isinstance(action, Send):
                done.append(action)
            elif self.broker is not None:
                done += self._from_broker(self.broker.receive(self.node, action.message), now)
            else:
                done += self._transmit(action, now)
        return done

    def _transmit(self, action: Send, now: SimTime) -> list[Action]:
        """Over the link; a neighbour whose queue is full is given up, so that no control message is lost in silence."""
        neighbour = action.destination
        if not self.link.is_full(neighbour):
            return self.link.send(neighbour, action.message, now)
        actions, broken = self.link.reset(neighbour)
        messages = (*(message for one in broken for message in one.messages), action.message)
        return actions + self._link_broken(LinkBroken(neighbour, messages), now)
