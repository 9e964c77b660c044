"""The AODV router of one node (RFC 3561): what it knows, which all of its parts share.

A router is one process. Its handlers stand in parts, a file for each concern of the RFC. A part is a class that
inherits the parts that it makes use of, so that each handler reads and changes what the router knows, and sends what it
has to send.

| part          | sections            | does                                                                |
|---------------|---------------------|---------------------------------------------------------------------|
| transmission  | 6.10                | sends over the link layer or bare, at once or after a jitter        |
| packets       | 6.2, 6.3            | sends data along routes, keeps the routes alive that it uses        |
| route errors  | 6.11                | tells those who used a route that it is lost                        |
| discovery     | 6.1 to 6.4, 6.12    | searches routes, expanding the ring                                 |
| replies       | 6.7, 6.8            | learns routes from RREPs, passes them back                          |
| requests      | 6.5, 6.6            | answers RREQs or passes them on                                     |
| forwarding    | 6.2, 6.11, 6.13     | passes data on, or refuses it                                       |
| maintenance   | 6.8 to 6.13         | hellos, lost neighbours, broken links, what is too old              |

The agent puts publish/subscribe on top (`agent`). Tables of their own, without any messages, are the routing table, the
neighbours, the queue of packets without a route and the cache of requests heard.
"""

from __future__ import annotations

from random import Random

from roambus.python_protocol.agent import Agent
from roambus.python_protocol.aodv.id_cache import IdCache
from roambus.python_protocol.aodv.neighbours import Neighbours
from roambus.python_protocol.aodv.parameters import AodvParameters
from roambus.python_protocol.aodv.request_queue import RequestQueue
from roambus.python_protocol.aodv.routing_table import RoutingTable
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.simtime import SimTime


class Router(Agent):
    """What a node knows of the routes around it."""

    parameters: AodvParameters

    def __init__(self, node: NodeId, roles: Role, parameters: AodvParameters, random: Random) -> None:
        super().__init__(node, roles, parameters, random)
        self.forget()

    def forget(self) -> None:
        """Starts with nothing, as after a crash; each part adds what it keeps itself."""
        parameters = self.parameters
        self.sequence = 0
        """The node's own sequence number (section 6.1)."""
        self.used_at: SimTime | None = None
        """When the node last was part of an active route: it sent, forwarded or received data, or passed a RREP on."""
        self.silent_until: SimTime = 0
        """After a reboot, no control message is originated or forwarded before (section 6.13)."""
        self.table = RoutingTable(parameters.delete_period)
        self.neighbours = Neighbours(parameters.hello_timeout, parameters.delete_period, parameters.blacklist_timeout)
        self.queue = RequestQueue(parameters.request_queue_limit, parameters.request_queue_timeout)
        self.seen = IdCache(parameters.path_discovery_time)
        # Each request that is heard is looked up in these, most of them for nothing, so they are at hand.
        self._heard, self._blacklisted = self.neighbours.heard, self.neighbours.blacklisted
        self._known_until = self.seen.known_until

    def is_silent(self, now: SimTime) -> bool:
        """Whether the node still waits after a reboot."""
        return now < self.silent_until
