"""A protocol of the broker family on a node: tree, link, broker and client put together.

Tree (`parts.election`) and link report to broker and client, whose actions come before anything else, so both see
messages in order, as over the thesis' FIFO channels (section 2.2). A client's broker is that of its node, off the air,
or its parent. A neighbour with a full queue is given up. Messages of a broken link go another way before the tree hears
of it. A scenario can give the tree (`GivenTree`), by `Rewired`.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import ClassVar

from roambus.python_protocol.actions import Send
from roambus.python_protocol.agent import Agent, Listing, Process, heard_by, on, on_timer
from roambus.python_protocol.brokers.broker import Broker, BrokerParameters, losses
from roambus.python_protocol.brokers.client import Client
from roambus.python_protocol.events import (
    Crashed,
    Publish,
    Received,
    Recovered,
    Rewired,
    SendFailed,
    Sent,
    Started,
    Subscribe,
    Unsubscribe,
)
from roambus.python_protocol.messages.fields import Names
from roambus.python_protocol.messages.message import Message, MessageSet
from roambus.python_protocol.parts.election import Election, ElectionTimer, Heartbeat
from roambus.python_protocol.parts.election.algorithm import NeighbourAppeared, NeighbourGone, Overlay, ParentChanged
from roambus.python_protocol.parts.link import LINK_MESSAGES, Link, LinkBroken, LinkTimer
from roambus.python_protocol.parts.outbox import Outbox
from roambus.python_protocol.roles import BROADCAST, NodeId, Role
from roambus.python_protocol.simtime import SimTime
from roambus.python_protocol.trace_rows import CRASH, MIGRATE

SHARED_MESSAGES: tuple[type[Message], ...] = (*LINK_MESSAGES, Heartbeat)
"""Messages of every protocol of the family."""


class BrokerAgent(Agent):
    """Any combination of roles on a node; a subclass names its broker and its client, which handle messages.

    Detach and Attach are ignored: the tree reports a changed broker to the client.
    """

    broker_type: ClassVar[type[Broker]]
    client_type: ClassVar[type[Client]]
    parameters: BrokerParameters

    def __init_subclass__(cls) -> None:
        """Take the messages that broker and client handle."""
        super().__init_subclass__()
        heard = (*heard_by(cls.broker_type), *heard_by(cls.client_type))
        cls.messages = MessageSet([*SHARED_MESSAGES, *cls.messages, *heard])

    def __init__(self, node: NodeId, roles: Role, parameters: BrokerParameters, random: Random) -> None:
        """Make a client, and a broker if the node has that role."""
        super().__init__(node, roles, parameters, random)
        self.client = self._make_client()
        self._lose_memory()

    def listings(self, names: Names) -> Mapping[str, Listing]:
        """The broker's tables, if any."""
        return {} if self.broker is None else self.broker.listings(names)

    def _make_broker(self) -> Broker:
        return self.broker_type(self.node, self.parameters)

    def _make_client(self) -> Client:
        return self.client_type(self.node, self.parameters)

    def _make_link(self) -> Link | Outbox:
        return (Link if self.parameters.link_layer else Outbox)(self.parameters, self.random)

    @property
    def needs_sent(self) -> bool:
        """Whether the MAC paces this node: a link layer of its own does so itself."""
        return not self.parameters.link_layer

    def _make_overlay(self) -> Overlay:
        if self.parameters.tree == "given":
            return GivenTree(of=self)
        return Election(self.node, Role.BROKER in self.roles, self.parameters, self.random, of=self)

    def _lose_memory(self) -> None:
        """Forget all but the client's filters and counter, which survive a crash."""
        self.overlay = self._make_overlay()
        self.link = self._make_link()
        self.broker = self._make_broker() if Role.BROKER in self.roles else None
        self._parent: NodeId | None = None
        self.client.detach()

    # Events

    @on(Started, Recovered)
    def start(self, event: Started | Recovered, now: SimTime) -> None:
        """Look for a place in the tree, after a boot or a recovery."""
        self.overlay.dispatch(event, now)
        self._follow_changes(now)
        # After the tree, in which the broker may have got its parent already: the client's first SUB then goes there.
        if self.broker is not None:
            self.client.attach(self.node)
            self._carry_out_client(now)

    @on(Crashed)
    def crash(self, _: Crashed, now: SimTime) -> None:
        """The node has failed, with what it had not sent."""
        for message in self.link.held():
            self.perform(losses(message, CRASH))
        self._lose_memory()

    @on(Received)
    def receive(self, event: Received, now: SimTime) -> None:
        """Give a heartbeat to the tree, another frame to the link."""
        if type(event.message) is Heartbeat:
            self.overlay.receive(event, now)  # what `dispatch` would call, but nearly all frames are heartbeats
            if self.overlay.changes:
                self._follow_changes(now)
            return
        actions, payloads = self.link.receive(event.sender, event.message, now)
        self.perform(actions)
        for payload in payloads:
            self._hand_up(event.sender, payload, now)
        if not payloads:  # an acknowledgement, after which the link may be idle: then stored notifications go on
            self._replay_more(event.sender, now)

    @on_timer(ElectionTimer)
    def time_election(self, key: ElectionTimer, now: SimTime) -> None:
        """Fire a timer of the tree."""
        self.overlay._handle_timer(key, now)
        self._follow_changes(now)

    @on_timer(LinkTimer)
    def time_link(self, key: LinkTimer, now: SimTime) -> None:
        """Fire a timer of the link."""
        actions, broken = self.link.timer(key)
        self.perform(actions)
        for link in broken:
            self._link_broken(link, now)

    @on(Rewired)
    def rewire(self, event: Rewired, now: SimTime) -> None:
        """Take the scenario's place in the tree."""
        self.overlay.dispatch(event, now)
        self._follow_changes(now)

    @on(SendFailed)
    def send_failed(self, event: SendFailed, now: SimTime) -> None:
        """Keep an unsent frame, break its link, or note its loss; a link layer retransmits by itself.

        Heartbeats, the only broadcasts, come again.
        """
        if isinstance(self.link, Link) or event.destination == BROADCAST:
            return
        actions, broken, lost = self.link.failed(event)
        self.perform(actions)
        for link in broken:
            self._link_broken(link, now)
        for message in lost:
            self._lose(event.destination, message, event.reason, now)

    @on(Sent)
    def sent(self, event: Sent, now: SimTime) -> None:
        """Hand over the next frame, of what waits or of what is stored."""
        if isinstance(self.link, Outbox):
            self.perform(self.link.sent(event))
            if self.broker is not None:
                self.broker.is_paced = True
            self._replay_more(event.destination, now)

    @on(Subscribe)
    def subscribe(self, event: Subscribe, now: SimTime) -> None:
        """Have the client subscribe."""
        self.client.subscribe(event.filter)
        self._carry_out_client(now)

    @on(Unsubscribe)
    def unsubscribe(self, event: Unsubscribe, now: SimTime) -> None:
        """Have the client unsubscribe."""
        self.client.unsubscribe(event.filter)
        self._carry_out_client(now)

    @on(Publish)
    def publish(self, event: Publish, now: SimTime) -> None:
        """Have the client publish, now or once it has a broker."""
        self.client.publish(event.notification)
        self._carry_out_client(now)

    # What election and link report

    def _follow_changes(self, now: SimTime) -> None:
        """Report the tree's changes, each after the actions of the one before."""
        for change in self.overlay.take_changes():
            if isinstance(change, ParentChanged):
                self._change_parent(change.parent, now)
            elif self.broker is not None:
                self._change_neighbour(self.broker, change)
                self._carry_out_broker(self.broker, now)

    def _change_parent(self, parent: NodeId | None, now: SimTime) -> None:
        self.note(MIGRATE, peer=parent)
        old, self._parent = self._parent, parent
        if self.broker is None:  # the client of a node without a broker is attached to the parent
            if parent is None:
                self.client.detach()
            else:
                self.client.attach(parent)
                self._carry_out_client(now)
            return
        # A parent that has become a child stays a neighbour: the edge is there, and only its direction has changed.
        if old is not None and old not in self.overlay.children:
            self.broker.gone(old, moved=True)
        if parent is not None:
            self.broker.migrate(parent)
            self._carry_out_broker(self.broker, now)

    def _change_neighbour(self, broker: Broker, change: NeighbourAppeared | NeighbourGone) -> None:
        neighbour = change.neighbour
        if isinstance(change, NeighbourGone):
            if neighbour != self._parent:  # a child that is the parent now has not gone
                broker.gone(neighbour, moved=change.moved)
        elif change.is_broker:
            broker.neighbour_appeared(neighbour)
        else:
            broker.client_appeared(neighbour)

    def _link_broken(self, broken: LinkBroken, now: SimTime) -> None:
        """Send undelivered messages another way: a broker's now, a client's once it has a broker."""
        if self.broker is not None:
            self.broker.link_broken(broken.neighbour, broken.messages)
            self._carry_out_broker(self.broker, now)
        self.overlay.give_up(broken.neighbour, now)
        self._follow_changes(now)
        if self.broker is None:
            self.client.link_broken(broken.messages)
            self._carry_out_client(now)

    def _lose(self, neighbour: NodeId, message: Message, reason: str, now: SimTime) -> None:
        """Note the notifications of a message that cannot be sent."""
        if self.broker is not None:
            self.broker.lose(neighbour, message, reason)
            self._carry_out_broker(self.broker, now)
        else:
            self.client.lose(message, reason)
            self._carry_out_client(now)

    # Messages between processes

    def _hand_up(self, sender: NodeId, message: Message, now: SimTime) -> None:
        broker = self.broker
        if broker is None:
            self.client._handle_message(message, sender, now)
            self._carry_out_client(now)
            return
        broker._handle_message(message, sender, now)
        # Who was entered in N_i by its message, as by a BMIG, has made this node its parent, though no heartbeat of it
        # has said so yet. The tree would otherwise report it as new, or not as gone.
        is_interface = sender in broker.neighbours or sender in broker.clients
        if is_interface and sender != self._parent and sender not in self.overlay.children:
            self.overlay.adopt(sender, now)
        self._carry_out_broker(broker, now)

    def _replay_more(self, neighbour: NodeId, now: SimTime) -> None:
        if self.broker is not None and self.link.is_idle(neighbour):
            self.broker.idle(neighbour)
            self._carry_out_broker(self.broker, now)

    def _carry_out_broker(self, broker: Broker, now: SimTime) -> None:
        """Carry out the broker's actions; messages to its own node are for the client there."""
        for action in broker.take():
            if type(action) is not Send:
                self._actions.append(action)
            elif action.destination == self.node:
                self.client._handle_message(action.message, self.node, now)
                self._carry_out_client(now)
            else:
                self._transmit(action, now)

    def _carry_out_client(self, now: SimTime) -> None:
        """Carry out the client's actions; a broker on the node gets all its messages."""
        for action in self.client.take():
            if type(action) is not Send:
                self._actions.append(action)
            elif self.broker is not None:
                self.broker._handle_message(action.message, self.node, now)
                self._carry_out_broker(self.broker, now)
            else:
                self._transmit(action, now)

    def _transmit(self, action: Send, now: SimTime) -> None:
        """Send over the link; give up a neighbour with a full queue, so no loss is silent."""
        neighbour = action.destination
        if not self.link.is_full(neighbour):
            self.perform(self.link.send(neighbour, action.message, now))
            return
        actions, broken = self.link.reset(neighbour)
        self.perform(actions)
        waiting = (message for link in broken for message in link.messages)
        # The message that found no room comes last, so that whoever sends them again keeps their order.
        self._link_broken(LinkBroken(neighbour, (*waiting, action.message)), now)


# Trees that the scenario gives


class GivenTree(Overlay):
    """A node's parent and children, from the first `Rewired` on."""

    children: dict[NodeId, bool]
    """Whether each child is a broker."""

    def __init__(self, of: Process | None = None) -> None:
        """The node is alone at first; `of` is the agent."""
        super().__init__(of)
        self.children = {}

    @on(Rewired)
    def rewire(self, tree: Rewired, now: SimTime) -> None:
        """Report lost children, the new parent and new children, in the given order."""
        gone = [child for child in self.children if child not in (*tree.children, tree.parent)]
        come = [child for child in tree.children if child not in self.children]
        self.changes += [NeighbourGone(child, moved=False) for child in gone]
        self._set_parent(tree.parent)
        self.changes += [NeighbourAppeared(child, child in tree.brokers) for child in come]
        self.children = {child: child in tree.brokers for child in tree.children}

    def give_up(self, neighbour: NodeId, now: SimTime) -> None:
        """Drop a neighbour until the scenario gives it again."""
        self.children.pop(neighbour, None)
        if neighbour == self.parent:
            self._set_parent(None)
