"""What the parts of one AODV router share."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from roambus.python_protocol.aodv.neighbours import Neighbours
from roambus.python_protocol.aodv.parameters import AodvParameters
from roambus.python_protocol.aodv.request_queue import RequestQueue
from roambus.python_protocol.aodv.routing_table import RoutingTable
from roambus.python_protocol.aodv.transmitter import Transmitter
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


@dataclass(slots=True)
class State:
    """All is lost in a crash: a router that comes back starts with a new one."""

    node: NodeId
    parameters: AodvParameters
    random: Random
    sequence: int = 0
    """The node's own sequence number (section 6.1)."""
    used_at: SimTime | None = None
    """When the node last was part of an active route: sent, forwarded or received data, or passed a RREP on."""
    silent_until: SimTime = 0
    """After a reboot, no control message is originated or forwarded before (section 6.13)."""
    table: RoutingTable = field(init=False)
    neighbours: Neighbours = field(init=False)
    queue: RequestQueue = field(init=False)
    out: Transmitter = field(init=False)

    def __post_init__(self) -> None:
        parameters = self.parameters
        self.table = RoutingTable(parameters.delete_period)
        self.neighbours = Neighbours(parameters.hello_timeout, parameters.delete_period, parameters.blacklist_timeout)
        self.queue = RequestQueue(parameters.request_queue_limit, parameters.request_queue_timeout)
        self.out = Transmitter(parameters, self.random)

    def is_silent(self, now: SimTime) -> bool:
        """Whether the node still waits after a reboot."""
        return now < self.silent_until
