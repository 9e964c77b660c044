"""A broker with a cache (001, sections 3 to 5), without radio, link or tree.

Where the text leaves something open:

- *A REQUEST goes to the neighbours of whose subscriptions one may have a message in common with it* ("subscriptions
  matching the requested filter").
- *A RESPONSE that passes is cached*, where a client wants the message: in figure 3 broker 5 has the black message
  "after the reception of the response". But it is kept only for whom it is: other clients in movement have had the
  message when it was published.
- *Messages kept for a client answer other requests, too*: they are in the cache.
- *In a cache full of what is kept, the first of the policy's order goes* for what is to be kept next, and is lost to
  those it was kept for; what is to be kept for nobody is not cached.
- *The old broker does not pass the REQUEST of a returning client on*: "only one broker responds".
- *A client that is back at the same broker stays subscribed.*
- *What the link to a client in movement did not carry* is kept for it, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from roambus.python_protocol.actions import Action, Note, Send
from roambus.python_protocol.brokers import broker
from roambus.python_protocol.brokers.forgetful_broker import ForgetfulBroker
from roambus.python_protocol.brokers.messages import Pub
from roambus.python_protocol.caching.cache import Cache
from roambus.python_protocol.caching.messages import Request, Response
from roambus.python_protocol.caching.parameters import CachingParameters
from roambus.python_protocol.caching.passed import Passed
from roambus.python_protocol.caching.policies import POLICIES
from roambus.python_protocol.caching.subscriptions import SubscriptionTable
from roambus.python_protocol.filters import Notification
from roambus.python_protocol.listing import Listing
from roambus.python_protocol.messages.codec import Message
from roambus.python_protocol.messages.names import Names
from roambus.python_protocol.notes import DROP, REPLAY
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simple.messages import Sub, Uns

DUPLICATE = "duplicate response"
NO_WAY = "no link"


class Broker(ForgetfulBroker):
    """A broker: its interfaces, its subscription table and its cache."""

    def __init__(self, node: NodeId, parameters: CachingParameters) -> None:
        """Nothing is known at first, not even a neighbour."""
        super().__init__(node, parameters)
        self.table = SubscriptionTable()
        self.cache = Cache(parameters.cache_size, POLICIES[parameters.policy]())
        self._moving: dict[NodeId, None] = {}
        self._passed = Passed(parameters.remembered)
        self._parameters = parameters
        self._handlers = {
            Sub: self._receive_sub,
            Uns: self._receive_uns,
            Pub: self._receive_pub,
            Request: self._receive_request,
            Response: self._receive_response,
        }

    def listings(self, names: Names) -> Mapping[str, Listing]:
        """ST and the cache."""
        return {"table": self.table.listing(self.node, names), "cache": self.cache.listing(names)}

    # Interfaces

    def neighbour_appeared(self, neighbour: NodeId) -> list[Action]:
        """It hears of every subscription."""
        super().neighbour_appeared(neighbour)
        return self._tell_neighbours()

    def migrate(self, parent: NodeId) -> list[Action]:
        """So does a new parent."""
        super().migrate(parent)
        return self._tell_neighbours()

    def gone(self, interface: NodeId, *, moved: bool) -> None:
        """Of a neighbour nothing is left; a client can be in movement, and then keeps its subscriptions."""
        if interface in self.neighbours:
            self.table.remove_interface(interface)
        super().gone(interface, moved=moved)

    def link_broken(self, interface: NodeId, messages: Iterable[Message]) -> list[Action]:
        """What was for a client in movement is kept for it; else it is lost."""
        lost = [one for one in messages if isinstance(one, Pub | Response)]
        self.gone(interface, moved=False)
        return [action for one in lost for action in self._keep_or_drop(interface, one.notification)]

    # Subscriptions (section 3.1)

    def _receive_sub(self, sender: NodeId, message: Sub) -> list[Action]:
        """Enters (f, z); neighbours that know nothing that covers it are told."""
        self.meet_client(sender)
        self.table.add(message.filter, sender)
        return self._tell_neighbours()

    def _receive_uns(self, sender: NodeId, message: Uns) -> list[Action]:
        """Removes (f, z); neighbours are told of what it covered, and messages that nobody wants are forgotten."""
        self.table.remove(message.filter, sender)
        return [*self._tell_neighbours(), *self._forget_unwanted()]

    def _tell_neighbours(self) -> list[Action]:
        actions: list[Action] = []
        for neighbour in self.neighbours:
            new, withdrawn = self.table.tell(neighbour)
            actions += [Send(neighbour, Sub(one)) for one in new]
            actions += [Send(neighbour, Uns(one)) for one in withdrawn]
        return actions

    # Publications (sections 3.2 and 4)

    def _receive_pub(self, sender: NodeId, message: Pub) -> list[Action]:
        """To each interface with a match, once, but not back; cached if it matches for a client."""
        interfaces = self.table.matching(message.notification)
        actions = broker.note_route(message.notification, filter(self.is_client, interfaces))
        for interface in interfaces:
            if interface not in self._moving and not self.is_way_back(interface, sender):
                actions.append(self.send_pub(message, interface))
        if self._is_wanted(message.notification):
            actions += self.cache.put(message.notification, [one for one in interfaces if one in self._moving])
        return actions

    def _is_wanted(self, message: Notification) -> bool:
        """Whether a client here has subscribed to it, in movement or not."""
        return any(map(self.is_client, self.table.wanting(message)))

    def _forget_unwanted(self) -> list[Note]:
        unwanted = [message.id for message in self.cache if not self._is_wanted(message)]
        return [note for one in unwanted for note in self.cache.forget(one)]

    # Requests (sections 3.2, 4 and 5)

    def _receive_request(self, sender: NodeId, request: Request) -> list[Action]:
        """Who detaches is in movement; who is back gets what was kept; who asks gets what is cached."""
        if request.is_detachment:
            self._moving[sender] = None
            return []
        if request.broker == self.node:
            return self._hand_over(sender, request)
        if request.broker is not None:
            return self._pass_on(sender, request)
        found = self._search(request)
        answered = request.answered
        if self._parameters.proactive:
            answered = (*answered, *(message.id for message in found))
        responses = [action for one in found for action in self._respond(sender, one, request)]
        return [*responses, *self._pass_on(sender, replace(request, answered=answered))]

    def _search(self, request: Request) -> list[Notification]:
        """What is cached, matches, and was not responded on the way."""
        found = [
            message
            for message in self.cache
            if message.id not in request.answered and any(one.matches(message) for one in request.filters)
        ]
        for message in found:
            self.cache.use(message.id)
        return found

    def _pass_on(self, sender: NodeId, request: Request) -> list[Action]:
        """To every other broker that may have something for it."""
        longer = replace(request, route=(self.node, *request.route))
        asked = (one for one in self.table.overlapping(request.filters) if one in self.neighbours)
        return [Send(neighbour, longer) for neighbour in asked if neighbour != sender]

    def _hand_over(self, sender: NodeId, request: Request) -> list[Action]:
        """A client that was here is back somewhere: what was kept goes after it, its subscriptions end (section 4)."""
        client = request.route[-1]
        kept = self.cache.release(client)
        self._moving.pop(client, None)
        actions = [action for one in kept for action in self._respond(sender, one, request, kept=True)]
        if sender != client:
            self.table.remove_interface(client)
        return [*actions, *self._tell_neighbours(), *self._forget_unwanted()]

    # Responses (sections 3.2 and 5)

    def _respond(self, sender: NodeId, message: Notification, request: Request, *, kept: bool = False) -> list[Action]:
        """A RESPONSE by the way of the request."""
        client = request.route[-1]
        if not kept:
            self._passed.add(client, request.number, message.id)
        note = Note(REPLAY, notification_id=str(message.id), peer=client)
        hops = self.radio_hops(0, sender)
        return [note, Send(sender, Response(message, request.route, request.number, kept=kept, hops=hops))]

    def _receive_response(self, _sender: NodeId, response: Response) -> list[Action]:
        """Without this broker on its route to the first of the rest, unless the message has gone there already."""
        route = response.route[1:]
        if not route:
            return []
        message, interface = response.notification, route[0]
        if self._is_duplicate(response):
            return [Note(DROP, notification_id=str(message.id), peer=route[-1], detail=DUPLICATE)]
        cached = self.cache.put(message) if self._is_wanted(message) else []
        if not self.reaches(interface):
            return [*cached, *self._keep_or_drop(interface, message)]
        hops = self.radio_hops(response.hops, interface)
        return [Send(interface, replace(response, route=route, hops=hops)), *cached]

    def _is_duplicate(self, response: Response) -> bool:
        """Whether the reactive mechanism drops it: only brokers with a client that wants the message do."""
        message, parameters = response.notification, self._parameters
        if not parameters.reactive or not self._is_wanted(message):
            return False
        if response.kept and parameters.spare_kept:
            return False
        if parameters.drop_by_request and not response.kept:
            return not self._passed.add(response.route[-1], response.number, message.id)
        return message.id in self.cache

    # Helpers

    def _keep_or_drop(self, interface: NodeId, message: Notification) -> list[Action]:
        """What has no link is kept for a client in movement."""
        if interface in self._moving:
            return list[Action](self.cache.put(message, [interface]))
        return [Note(DROP, notification_id=str(message.id), peer=interface, detail=NO_WAY)]
