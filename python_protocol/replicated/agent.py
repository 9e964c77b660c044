"""Replicated brokers, or one of their clients, on a node (002)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from random import Random
from typing import Any

from roambus.python_protocol.actions import Action, SetTimer
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import (
    Attach,
    Crashed,
    Event,
    Publish,
    Received,
    Recovered,
    SendFailed,
    Sited,
    Stopped,
    Subscribe,
    TimerFired,
    Unsubscribe,
)
from roambus.python_protocol.listing import Listing
from roambus.python_protocol.messages.codec import MessageSet
from roambus.python_protocol.messages.names import Names
from roambus.python_protocol.replicated.broker import Broker
from roambus.python_protocol.replicated.client import Client
from roambus.python_protocol.replicated.failure_messages import AreYouAlive, AssumedDead, IAmAlive, IAmLeader, Leader
from roambus.python_protocol.replicated.frozen import WAKE, in_order
from roambus.python_protocol.replicated.listings import broker_listings
from roambus.python_protocol.replicated.messages import Accepted, Sub, Uns, Update
from roambus.python_protocol.replicated.messages import Event as EventMessage
from roambus.python_protocol.replicated.parameters import ReplicatedParameters
from roambus.python_protocol.replicated.replica_messages import (
    CatchUp,
    HandOver,
    Inform,
    Informed,
    State,
    TakeOver,
    Yield,
)
from roambus.python_protocol.replicated.watch import WatchTimer
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.simtime import SimTime
from roambus.python_protocol.sites import Sites

_EXCHANGED = (Sub, Uns, EventMessage, Update, Accepted)
_OF_FAILURES = (AreYouAlive, IAmAlive, AssumedDead, IAmLeader, Leader)
_OF_REPLICAS = (Inform, Informed, HandOver, TakeOver, Yield, CatchUp, State)


class Replicated(Agent):
    """A node is a broker or a client of a site, as the scenario says (`Sited`)."""

    parameters_type = ReplicatedParameters
    messages = MessageSet((*_EXCHANGED, *_OF_FAILURES, *_OF_REPLICAS))
    parameters: ReplicatedParameters
    needs_sites = True

    def __init__(self, node: NodeId, roles: Role, parameters: ReplicatedParameters, random: Random) -> None:
        """See `Agent`."""
        super().__init__(node, roles, parameters, random)
        self.sites = Sites(())
        self.broker: Broker | None = None
        self.client: Client | None = None
        self._has_crashed = False
        self._thawed: list[Event] | None = None
        """What has waited for a frozen node, and comes in now."""
        self._handlers: dict[type[Any], Callable[[Any], Iterable[Action]]] = {
            Sited: self._sited,
            Received: self._received,
            SendFailed: self._send_failed,
            TimerFired: self._timer_fired,
            Crashed: self._crashed,
            Recovered: self._recovered,
            Subscribe: self._subscribe,
            Unsubscribe: self._unsubscribe,
            Publish: self._publish,
            Attach: self._attached,
        }

    def handle(self, event: Event, now: SimTime) -> Iterable[Action]:  # noqa: ARG002  # time comes by timers only
        """See `Agent`."""
        if self._thawed is not None and not isinstance(event, Crashed | Stopped | Recovered):
            return self._wake_up() if event == TimerFired(WAKE) else self._wait(event)
        return self._react(event)

    def _react(self, event: Event) -> Iterable[Action]:
        handler = self._handlers.get(type(event))
        return handler(event) if handler is not None else ()

    def listings(self, names: Names) -> Mapping[str, Listing]:
        """The broker's; see `Agent`."""
        return {} if self.broker is None else broker_listings(self.broker, names)

    # Messages and timers

    def _sited(self, event: Sited) -> Iterable[Action]:
        self.sites = event.sites
        site = self.sites[self.sites.of_node[self.node]]
        if self.node in site.brokers:
            self.broker = Broker(self.node, self.sites, self.parameters)
        else:
            self.client = Client(self.node, site.brokers, self.parameters)
        return ()

    def _received(self, event: Received) -> Iterable[Action]:
        if self.broker is not None:
            return self.broker.receive(event.sender, event.message)
        return self._own_client().receive(event.sender, event.message)

    def _send_failed(self, event: SendFailed) -> Iterable[Action]:
        if self.broker is not None:
            return self.broker.failed(event.destination)
        return self._own_client().failed(event.destination)

    def _timer_fired(self, event: TimerFired) -> Iterable[Action]:
        if not isinstance(event.key, WatchTimer):
            return ()
        if self.broker is not None:
            return self.broker.timer(event.key.node)
        return self._own_client().timer(event.key.node)

    # Faults

    def _crashed(self, _: Crashed) -> Iterable[Action]:
        self._has_crashed = True
        self._thawed = None
        return ()

    def _recovered(self, _: Recovered) -> Iterable[Action]:
        if not self._has_crashed:
            self._thawed = []
            return [SetTimer(WAKE, 0)]
        self._has_crashed = False
        if self.broker is None:
            return self._own_client().resume()
        self.broker = Broker(self.node, self.sites, self.parameters)
        return self.broker.recover()

    def _wait(self, event: Event) -> Iterable[Action]:
        if self._thawed is not None:
            self._thawed.append(event)
        return ()

    def _wake_up(self) -> list[Action]:
        """Section 6.3: new leaders first, then control, then events."""
        events, self._thawed = in_order(self._thawed or ()), None
        return [action for event in events for action in self._react(event)]

    # The application

    def _subscribe(self, event: Subscribe) -> Iterable[Action]:
        return self._own_client().subscribe(event.filter)

    def _unsubscribe(self, event: Unsubscribe) -> Iterable[Action]:
        return self._own_client().unsubscribe(event.filter)

    def _publish(self, event: Publish) -> Iterable[Action]:
        return self._own_client().publish(event.notification)

    def _attached(self, _: Attach) -> Iterable[Action]:
        """A client that had no links asks for what it has missed, as after a crash."""
        return self.client.resume() if self.client is not None else ()

    def _own_client(self) -> Client:
        if self.client is None:
            raise LookupError(f"node {self.node} is a broker, and has no client")
        return self.client
