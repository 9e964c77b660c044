"""Finds what it keeps outside by the address of its object: a copy has another address, and raises an error."""

from roambus import BROADCAST, Agent, Message, Notification, Publish, on

KEPT = {}


class Tell(Message, tag=1):
    """A notification on its way."""

    notification: Notification


class Addressed(Agent):
    """Keeps a number by its address."""

    def __init__(self, node, roles, parameters, random):
        super().__init__(node, roles, parameters, random)
        KEPT[id(self)] = 0

    @on(Publish)
    def publish(self, event, now):
        self.send(BROADCAST, Tell(event.notification))

    @on(Tell)
    def listen(self, tell, sender, now):
        KEPT[id(self)] += 1
        self.deliver(tell.notification)
