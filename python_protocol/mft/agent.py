"""MFT-PubSub on a node: the broker, client, link and tree that its parameters choose, and what a bundle has for each.

As published, it is a `Broker` and a `Client` over the shared link layer, put together as every protocol of the family.
With `bundles` there is one broadcast frame for all neighbours in place of that. Then the tree asks the agent and not
the MAC to send its heartbeats, because each takes along what else waits, and what is overheard is used, too: with
`spreads` notifications that were for others, and with `beats_migrate` who is below the sender of a heartbeat.

A client whose surroundings do not change beats ever more rarely (`Trickle`). A broker beats in each round, because its
heartbeats carry the tree.
"""

from __future__ import annotations

from typing import ClassVar

from roambus.python_protocol.actions import Action, Send
from roambus.python_protocol.agent import Process, on_timer
from roambus.python_protocol.brokers.agent import BeatingTree, BrokerAgent
from roambus.python_protocol.brokers.broker import Filters, Pub
from roambus.python_protocol.events import Received
from roambus.python_protocol.messages.message import Message, MessageSet
from roambus.python_protocol.mft.broker import Broker
from roambus.python_protocol.mft.client import Client, SpreadingClient
from roambus.python_protocol.mft.forwarding import gather
from roambus.python_protocol.mft.messages import Ask, Beat, Bmig, Bquery, Bsub, Mig, Sub, Uns
from roambus.python_protocol.mft.parameters import MftParameters
from roambus.python_protocol.mft.spreading import BeatingBroker, BeatingSpreadingBroker, SpreadingBroker, SpreadTimer
from roambus.python_protocol.parts.bundle import Bundle
from roambus.python_protocol.parts.bundling_link import BundlingLink
from roambus.python_protocol.parts.digest import Held
from roambus.python_protocol.parts.election import Heartbeat
from roambus.python_protocol.parts.election.algorithm import Overlay
from roambus.python_protocol.parts.link import DirectLink, Link
from roambus.python_protocol.vocabulary import NodeId, Role, SimTime


class MftPubSub(BrokerAgent):
    """A tree of brokers that move and fail; tuned, broadcast with repair in place of delivery along the tree.

    A node has any combination of roles.
    """

    parameters: MftParameters
    client: Client
    broker_type = Broker
    client_type = Client
    migration_messages = (Sub, Uns, Mig, Filters, Bmig, Bquery, Bsub)
    messages: ClassVar[MessageSet] = MessageSet([Bundle, Beat, Ask])

    # Its parts

    @property
    def _sends_bundles(self) -> bool:
        return self.parameters.bundles and self.parameters.link_layer

    def _make_broker(self) -> Broker:
        spreads, beats = self.parameters.spreads, self.parameters.beats_migrate
        if self._sends_bundles and spreads:
            kind = BeatingSpreadingBroker if beats else SpreadingBroker
            return kind(self.node, self.parameters, self.random)
        return (BeatingBroker if self._sends_bundles and beats else Broker)(self.node, self.parameters)

    def _make_client(self) -> Client:
        if self._sends_bundles and self.parameters.spreads:
            return SpreadingClient(self.node, self.parameters, self.random)
        return Client(self.node, self.parameters)

    def _lose_memory(self) -> None:
        super()._lose_memory()
        self._trickle = Trickle(self.parameters.quiet_rounds)

    def _make_link(self) -> Link | DirectLink | BundlingLink:
        if self._sends_bundles:
            return BundlingLink(self.node, self.parameters, self.random, self._held)
        return super()._make_link()

    def _held(self) -> tuple[Held, ...]:
        """What every bundle tells."""
        teller = self.broker or self.client
        return teller.digest.tell() if isinstance(teller, SpreadingBroker | SpreadingClient) else ()

    def _make_overlay(self) -> Overlay:
        if self.parameters.tree == "given" and self._sends_bundles:
            return BeatingTree(Role.BROKER in self.roles, self.parameters.heartbeat_interval, self.random)
        return super()._make_overlay()

    def _part_of_overlay(self) -> Process | None:
        return None if self._sends_bundles else self

    # Bundles

    def _take_frame(self, event: Received, now: SimTime) -> None:
        if isinstance(event.message, Bundle) and isinstance(self.link, BundlingLink):
            self._open(self.link, event, event.message, now)
        else:
            super()._take_frame(event, now)

    def _open(self, link: BundlingLink, event: Received, bundle: Bundle, now: SimTime) -> None:
        """Gives the tree, the broker and the client what a bundle has for them."""
        sender = event.sender
        self.overlay.hear_frame(sender, now)
        self._take_beat(event, bundle.beat, now)
        self._learn(sender, bundle.held, now)
        opened = link.open(sender, bundle, now)
        self.perform(opened.actions)
        for payload in opened.overheard:
            if isinstance(payload, Pub | Ask):
                self._overhear(payload, sender, now)
        for payload in opened.payloads:
            self._hand_up(sender, payload, now)
        if opened.is_progress:
            self._replay_more(sender, now)

    def _take_beat(self, event: Received, beat: Message | None, now: SimTime) -> None:
        heartbeat = beat.heartbeat if isinstance(beat, Beat) else beat
        if heartbeat is None:
            return
        self.overlay.receive(Received(event.sender, heartbeat, event.rssi_dbm, event.lqi_db), now)
        self._follow_changes(now)
        if isinstance(beat, Beat) and isinstance(self.broker, BeatingBroker):
            self.broker.take_beat(event.sender, beat)
            self._carry_out_broker(self.broker, now)

    def _learn(self, sender: NodeId, held: tuple[Held, ...], now: SimTime) -> None:
        if isinstance(self.broker, SpreadingBroker):
            self.broker.learn(sender, held, now)
        elif isinstance(self.client, SpreadingClient) and self.client.learn(sender, held, now):
            self._trickle.reset()
        self._carry_out(now)

    def _overhear(self, message: Pub | Ask, sender: NodeId, now: SimTime) -> None:
        """Takes a notification that was for others, or for everybody, or what somebody asks of everybody."""
        hearer = self.broker or self.client
        if isinstance(hearer, SpreadingBroker | SpreadingClient):
            hearer.hear(message, sender, now)
            self._carry_out(now)

    @on_timer(SpreadTimer)
    def time_spread(self, key: SpreadTimer, now: SimTime) -> None:
        """What a broker has to spread is due, or what somebody has asked a client for."""
        (self.broker or self.client).fire(key, now)
        self._carry_out(now)

    def _carry_out(self, now: SimTime) -> None:
        """Carries out what the broker of this node wants done; where there is none, what the client wants."""
        if self.broker is not None:
            self._carry_out_broker(self.broker, now)
        else:
            self._carry_out_client(now)

    # What it does otherwise than others of the family

    def _gather(self, actions: list[Action]) -> list[Action]:
        return gather(actions) if self.parameters.batches else actions

    def _follow_changes(self, now: SimTime) -> None:
        """Follows the tree; in a bundle its heartbeat takes along what else waits."""
        if isinstance(self.link, BundlingLink):
            for action in self.overlay.take():
                if isinstance(action, Send) and isinstance(action.message, Heartbeat):
                    self._beat(self.link, action.message, now)
                else:
                    self._actions.append(action)
        super()._follow_changes(now)

    def _beat(self, link: BundlingLink, heartbeat: Heartbeat, now: SimTime) -> None:
        if heartbeat.is_broker or self._trickle.is_due():
            self.perform(link.beat(self._make_beat(heartbeat), now))

    def _change_parent(self, parent: NodeId | None, now: SimTime) -> None:
        self._trickle.reset()
        super()._change_parent(parent, now)

    def _make_beat(self, heartbeat: Heartbeat) -> Message:
        if not self.parameters.beats_migrate:
            return heartbeat
        return (self.broker if isinstance(self.broker, BeatingBroker) else self.client).make_beat(heartbeat)


class Trickle:
    """When one node beats: ever more rarely while nothing changes, as the timers of Trickle do (RFC 6206).

    The interval between two heartbeats is counted in rounds. It begins with one, doubles with each heartbeat up to a
    bound, and goes back to one as soon as something is inconsistent. What is inconsistent is the user's to say.
    """

    def __init__(self, longest: int) -> None:
        """At first it beats every round; `longest` is the bound in rounds, I_max of RFC 6206, section 4.1."""
        self._longest = longest
        self._interval = 1
        self._waited = 0

    def reset(self) -> None:
        """Something is inconsistent: the next round is due."""
        self._interval = 1
        self._waited = self._longest

    def is_due(self) -> bool:
        """Whether this round is one in which to beat; it is called once a round."""
        self._waited += 1
        if self._waited < self._interval:
            return False
        self._waited = 0
        self._interval = min(2 * self._interval, self._longest)
        return True
