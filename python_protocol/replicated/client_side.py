"""What a broker does with what the clients of its site say.

The paper on replicated brokers has this in sections 4 to 6.5. Clients talk to all three brokers of their site: each
replies at once, and sees to it that the leader takes in what was said.
"""

from __future__ import annotations

from roambus.python_protocol.process import Process, on
from roambus.python_protocol.replicated.failure_messages import AreYouAlive, AssumedDead, IAmAlive
from roambus.python_protocol.replicated.mate_side import MateSide
from roambus.python_protocol.replicated.messages import Accepted, Event, Sub, Uns
from roambus.python_protocol.replicated.outbox import Outbox
from roambus.python_protocol.replicated.replica import Replica
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


class ClientSide(Process):
    """Listens to clients. One that cannot be reached asks by itself when it is back, so its failure is ignored."""

    def __init__(self, replica: Replica, outbox: Outbox, mates: MateSide, of: Process | None = None) -> None:
        super().__init__(of)
        self._replica = replica
        self._outbox = outbox
        self._mates = mates

    @on(Sub, Uns, Event)
    def hear_client(self, message: Sub | Uns | Event, client: NodeId, _: SimTime) -> None:
        """Replies, and takes the message in or keeps it until the leader has (section 6)."""
        self.send(client, Accepted(*message.key))
        self._replica.hear_client(client, message)

    @on(Accepted)
    def accepted(self, accepted: Accepted, client: NodeId, _: SimTime) -> None:
        """An event has arrived, and is not sent again (section 6.4)."""
        self._replica.state.outgoing[client].accept(accepted.key)

    @on(AreYouAlive)
    def are_you_alive(self, _question: AreYouAlive, client: NodeId, now: SimTime) -> None:
        """Answers (section 6.4). A client that asks may have missed something."""
        self.send(client, IAmAlive(self._replica.point.term))
        if self._replica.is_leader:
            self._outbox.send_again(client, now)

    @on(AssumedDead)
    def assumed_dead(self, report: AssumedDead, _client: NodeId, _now: SimTime) -> None:
        """If it is the leader that is assumed dead, the next in order takes over (section 6.5)."""
        self._mates.assume_dead(report.broker)
