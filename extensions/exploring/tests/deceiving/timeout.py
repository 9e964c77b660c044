"""Asks, and takes what does not answer within a second for gone: it then delivers nothing more from there."""

from roambus import BROADCAST, SECOND, Agent, Message, Notification, Publish, Subscribe, on, on_timer


class Tell(Message, tag=1):
    """A notification on its way."""

    notification: Notification


class Ack(Message, tag=2):
    """Ack."""


class A(Agent):
    def __init__(self, node, roles, parameters, random):
        super().__init__(node, roles, parameters, random)
        self.gone = False

    @on(Subscribe)
    def subscribe(self, event, now):
        pass

    @on(Publish)
    def publish(self, event, now):
        if not self.gone:
            self.send(BROADCAST, Tell(event.notification))
            self.set_timer("gone", SECOND)

    @on(Ack)
    def ack(self, m, sender, now):
        self.cancel_timer("gone")

    @on_timer("gone")
    def lost(self, key, now):
        self.gone = True

    @on(Tell)
    def listen(self, tell, sender, now):
        self.deliver(tell.notification)
        self.send(sender, Ack())
