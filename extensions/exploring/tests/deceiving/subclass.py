"""Delivers a third notification twice; counts in an attribute of its own dict class."""

from roambus import BROADCAST, Agent, Message, Notification, Publish, Subscribe, on


class Tell(Message, tag=1):
    """A notification on its way."""

    notification: Notification


class Table(dict):
    """A table that counts its changes."""

    version = 0

    def put(self, key, value):
        self[key] = value
        self.version += 1


class A(Agent):
    def __init__(self, node, roles, parameters, random):
        super().__init__(node, roles, parameters, random)
        self.table = Table()

    @on(Subscribe)
    def subscribe(self, event, now):
        pass

    @on(Publish)
    def publish(self, event, now):
        self.send(BROADCAST, Tell(event.notification))

    @on(Tell)
    def listen(self, tell, sender, now):
        self.table.put(sender, 1)
        self.deliver(tell.notification)
        if self.table.version == 2:
            self.deliver(tell.notification)
