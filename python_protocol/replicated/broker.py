"""A broker: what it does with each message (002, sections 4 to 6.9)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from roambus.python_protocol.actions import Action, Note, Send
from roambus.python_protocol.messages.codec import Message
from roambus.python_protocol.notes import ROUTE, node_list
from roambus.python_protocol.replicated.failure_messages import (
    AreYouAlive,
    AssumedDead,
    IAmAlive,
    IAmLeader,
    Leader,
)
from roambus.python_protocol.replicated.messages import Accepted, Event, Numbered, Sub, Uns, Update
from roambus.python_protocol.replicated.neighbours import Neighbours
from roambus.python_protocol.replicated.parameters import ReplicatedParameters
from roambus.python_protocol.replicated.replica import Released, Replica
from roambus.python_protocol.replicated.replica_messages import (
    CatchUp,
    HandOver,
    Inform,
    Informed,
    State,
    TakeOver,
    Yield,
)
from roambus.python_protocol.replicated.site_state import Output, Peer, place_of
from roambus.python_protocol.replicated.watch import Watch
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.sites import Sites

_PATIENCE = 4
"""Brokers wait so many times as long for their leader as clients do, who learn of a failure first (section 6.4), and
longer than the three time-outs that the leader itself may need to learn of a neighbour's failure."""


class Broker:
    """One of the three of its site."""

    def __init__(self, node: NodeId, sites: Sites, parameters: ReplicatedParameters) -> None:
        site = sites.of_node[node]
        self.node = node
        self.brokers = sites[site].brokers
        self.replica = Replica(node, self.brokers, place_of(site, sites), parameters)
        self.neighbours = Neighbours(site, sites, parameters.time_out)
        self._patience = _PATIENCE * parameters.time_out
        self._watch = Watch(self.replica.leader, self._patience)
        """Over the leader, as long as there is something for it to do."""
        self._watched = self.replica.leader
        self._reporters: dict[NodeId, None] = {}
        """Brokers of other sites that wait to hear who leads, now that the leader is assumed dead."""
        self._kept: list[tuple[NodeId, Message]] = []
        """What has come since a crash, until there is a copy of the state to apply it to."""
        self._handlers: dict[type[Any], Callable[[NodeId, Any], list[Action]]] = {
            Sub: self._numbered,
            Uns: self._numbered,
            Event: self._numbered,
            Update: self._numbered,
            Accepted: self._accepted,
            AreYouAlive: self._are_you_alive,
            IAmAlive: self._i_am_alive,
            AssumedDead: self._assumed_dead,
            IAmLeader: self._i_am_leader,
            Leader: self._leader,
            Inform: self._inform,
            Informed: self._informed,
            HandOver: self._hand_over,
            TakeOver: self._take_over,
            Yield: self._yield,
            CatchUp: self._catch_up,
            State: self._state,
        }

    def receive(self, sender: NodeId, message: Message) -> list[Action]:
        """A message of a client, of a broker of this site, or of one of a neighbouring site."""
        if self.replica.is_joining and not isinstance(message, IAmLeader | State | CatchUp):
            self._kept.append((sender, message))
            return []
        return self._settle(self._handlers[type(message)](sender, message))

    def timer(self, node: NodeId) -> list[Action]:
        """A reply of a broker has not come in time."""
        if node in self.brokers:
            return self._settle(self._leader_timer(node))
        peer = self.neighbours.peer_of[node]
        watch = self.neighbours.watch(peer)
        actions = watch.timer()
        return [*actions, *self.neighbours.report(peer)] if watch.is_dead else actions

    def failed(self, node: NodeId) -> list[Action]:
        """Section 6.2: no connection to a broker. A client that cannot be reached asks by itself when it is back."""
        if node in self.brokers:
            self.replica.lost(node)
            return self._settle(self._suspect(node))
        peer = self.neighbours.peer_of.get(node)
        if peer is None or not self.replica.is_leader or node != self.neighbours.leader(peer):
            return []
        watch = self.neighbours.watch(peer)
        return [*watch.failed(), *self.neighbours.report(peer)]

    def recover(self) -> list[Action]:
        """After a crash, with nothing left."""
        return self.replica.join()

    # Subscriptions and events

    def _numbered(self, sender: NodeId, message: Numbered) -> list[Action]:
        """Section 4: of a client, or of the leader of a neighbouring site, which may not know who leads here."""
        peer = self.neighbours.peer_of.get(sender)
        if peer is None:
            return [Send(sender, Accepted(message.stream, message.number)), *self._from_client(sender, message)]
        if not self.replica.is_leader:
            return self._say_who_leads(sender)
        if self.replica.state.is_new(peer, message):
            return self.replica.take(peer, message)
        self.replica.reply_again(peer, message)
        return []

    def _from_client(self, client: Peer, message: Numbered) -> list[Action]:
        """Section 6: all three have it, and the leader takes it in."""
        if not self.replica.state.is_new(client, message):
            return []
        if self.replica.is_leader:
            return self.replica.take(client, message)
        self.replica.pending[client, (message.stream, message.number)] = message
        return []

    def _hand_over(self, _: NodeId, message: HandOver) -> list[Action]:
        return self._from_client(message.peer, message.message)  # type: ignore[arg-type]  # only such are handed over

    def _accepted(self, sender: NodeId, message: Accepted) -> list[Action]:
        peer = self.neighbours.peer_of.get(sender, sender)
        outgoing = self.replica.state.outgoing[peer]
        outgoing.accept((message.stream, message.number))
        if peer == sender and peer not in self.neighbours.brokers:
            return []
        watch = self.neighbours.watch(peer)
        return [*watch.satisfied(), *(watch.expect() if outgoing.unaccepted else ())]

    # Who is alive, and who leads

    def _are_you_alive(self, sender: NodeId, _: AreYouAlive) -> list[Action]:
        """Section 6.4. A client that asks may have missed something."""
        is_client = sender not in self.brokers and sender not in self.neighbours.peer_of
        actions: list[Action] = [Send(sender, IAmAlive(self.replica.point.term))]
        return actions + self._send_again(sender) if is_client and self.replica.is_leader else actions

    def _i_am_alive(self, sender: NodeId, message: IAmAlive) -> list[Action]:
        peer = self.neighbours.peer_of.get(sender)
        if peer is None:
            return self._leader_is_alive() if sender == self._watched else []
        actions = self._learn(sender, peer, message.term)
        if not self.replica.is_leader or sender != self.neighbours.leader(peer):
            return actions
        return [*actions, *self.neighbours.watch(peer).alive(), *self._send_again(peer)]

    def _leader_is_alive(self) -> list[Action]:
        """But what is waited for has not come: perhaps a neighbour crashed with its reply to this broker under way."""
        return [*self._watch.alive(), *self.replica.hand_over(), Send(self.replica.leader, CatchUp())]

    def _assumed_dead(self, sender: NodeId, message: AssumedDead) -> list[Action]:
        """Section 6.5. A neighbour that is wrong about who leads is told; one that is right, when there is another."""
        is_neighbour = sender in self.neighbours.peer_of
        if message.broker == self.replica.leader != self.node:
            return self._take_over_if_next(sender if is_neighbour else None)
        if is_neighbour and self.replica.is_taking_over:
            self._reporters[sender] = None
        return self._say_who_leads(sender) if is_neighbour else []

    def _i_am_leader(self, sender: NodeId, message: IAmLeader) -> list[Action]:
        """Sections 6.7 and 6.9."""
        peer = self.neighbours.peer_of.get(sender)
        if peer is None:
            return self.replica.follow(sender, message)
        actions = self._learn(sender, peer, message.term)
        return actions if self.replica.is_leader else [*actions, *self._say_who_leads(sender)]

    def _leader(self, sender: NodeId, message: Leader) -> list[Action]:
        peer = self.neighbours.peer_of.get(message.broker)
        if peer is not None:
            return self._learn(sender, peer, message.term)
        if message.term > self.replica.term:
            self.replica.step_down(message.term)
        return []

    # Replicas

    def _inform(self, sender: NodeId, message: Inform) -> list[Action]:
        heard = self._watch.satisfied() if sender == self._watched else []
        return [*heard, *self.replica.inform(sender, message)]

    def _informed(self, _: NodeId, message: Informed) -> list[Action]:
        self.replica.informed(message)
        return []

    def _take_over(self, sender: NodeId, message: TakeOver) -> list[Action]:
        return self.replica.asked_to_yield(sender, message)

    def _yield(self, _: NodeId, message: Yield) -> list[Action]:
        """Sections 6.6 and 6.8: the neighbours are told, whoever has noticed the failure."""
        was_leader, point = self.replica.is_leader, self.replica.point
        actions = self.replica.yielded(message)
        if was_leader or not self.replica.is_leader:
            return actions
        told = dict.fromkeys(map(self.neighbours.leader, self.neighbours.brokers)) | self._reporters
        self._reporters.clear()
        tell = IAmLeader(self.replica.term, *point)
        return [*actions, *(Send(other, tell) for other in told)]

    def _catch_up(self, sender: NodeId, _: CatchUp) -> list[Action]:
        """A leader that asks has crashed, and come back before anybody noticed."""
        if self.replica.is_leader:
            return [*self.replica.caught_up(sender), *self._tell_who_leads_elsewhere(sender)]
        return self._take_over_if_next(None) if sender == self.replica.leader else []

    def _state(self, sender: NodeId, message: State) -> list[Action]:
        actions = self.replica.receive_state(sender, message)
        kept, self._kept = self._kept, []
        for before, one in kept:
            actions += self._handlers[type(one)](before, one)
        return actions

    # Suspicion

    def _leader_timer(self, node: NodeId) -> list[Action]:
        if node != self._watched:
            return []
        actions = self._watch.timer()
        return [*actions, *self._suspect(node), *self._watch.again()] if self._watch.is_dead else actions

    def _suspect(self, node: NodeId) -> list[Action]:
        """By this broker itself: if it is not its own turn, it tells whose turn it is."""
        replica = self.replica
        if node != replica.leader or node == self.node or replica.is_joining:
            return []
        following = replica.leader_of(replica.term + 1)
        return self._take_over_if_next(None) if following == self.node else [Send(following, AssumedDead(node))]

    def _take_over_if_next(self, reporter: NodeId | None) -> list[Action]:
        """Section 6.5: who reports a leader tells both others, and the next in order takes over."""
        if self.replica.is_joining or self.replica.leader_of(self.replica.term + 1) != self.node:
            return []
        if reporter is not None:
            self._reporters[reporter] = None
        return self.replica.take_over()

    def _learn(self, sender: NodeId, peer: Peer, term: int) -> list[Action]:
        """Section 6.9: stores it, informs the replicas, and turns to the new leader."""
        is_newer, actions = self.neighbours.learn(peer, term)
        if not is_newer:
            return []
        if sender not in self.brokers:
            news = Leader(self.neighbours.leader(peer), term)
            actions += [Send(mate, news) for mate in self.brokers if mate != self.node]
        return actions + self._send_again(peer) if self.replica.is_leader else actions

    # Senders

    def _say_who_leads(self, sender: NodeId) -> list[Action]:
        replica = self.replica
        return [Send(sender, Leader(replica.leader, replica.term))] if replica.is_settled else []

    def _tell_who_leads_elsewhere(self, mate: NodeId) -> list[Action]:
        terms = self.neighbours.terms
        return [Send(mate, Leader(self.neighbours.leader(peer), term)) for peer, term in terms.items() if term]

    def _send_again(self, peer: Peer) -> list[Action]:
        return [action for output in self.replica.sendable(peer) for action in self._send(output)]

    def _release(self, released: Released) -> list[Action]:
        """What this site has taken in is safe: the reply to a neighbour, and what is to be sent on."""
        actions: list[Action] = []
        if released.message is not None and released.peer in self.neighbours.brokers:
            accepted = Accepted(released.message.stream, released.message.number)
            actions += [Send(broker, accepted) for broker in self.neighbours.brokers[released.peer]]
        return actions + [action for output in released.outputs for action in self._send(output)]

    def _send(self, output: Output) -> list[Action]:
        """Section 4.1: to the leader of a site; to a client. Not what has been accepted meanwhile."""
        peer, message = output
        if (message.stream, message.number) not in self.replica.state.outgoing[peer].unaccepted:
            return []
        if peer in self.neighbours.brokers:
            return [Send(self.neighbours.leader(peer), message), *self.neighbours.watch(peer).expect()]
        actions: list[Action] = [Send(peer, message)]
        if isinstance(message, Event):
            actions.append(Note(ROUTE, notification_id=str(message.notification.id), detail=node_list([peer])))
        return actions

    # After each message

    def _settle(self, actions: list[Action]) -> list[Action]:
        """Carries out what the replica has released, and watches whoever has to act."""
        released, self.replica.released = self.replica.released, []
        for one in released:
            actions = [*actions, *self._release(one)]
        return [*actions, *self._watch_neighbours(), *self._watch_leader()]

    def _watch_neighbours(self) -> list[Action]:
        """Only a leader waits for their replies."""
        if self.replica.is_leader:
            return []
        return [action for peer in self.neighbours.brokers for action in self.neighbours.watch(peer).satisfied()]

    def _watch_leader(self) -> list[Action]:
        leader, actions = self.replica.leader, []
        if leader != self._watched:
            actions = self._watch.satisfied()
            self._watched, self._watch = leader, Watch(leader, self._patience)
        is_waiting = leader != self.node and self.replica.has_work and not self.replica.is_joining
        return [*actions, *(self._watch.expect() if is_waiting else self._watch.satisfied())]
