"""Delivers what it hears first from its publisher, and never what it hears first from another."""

from roambus import BROADCAST, Agent, Message, Notification, Publish, Subscribe, on


class Tell(Message, tag=1):
    """A notification on its way."""

    notification: Notification


class Hear(Agent):
    def __init__(self, node, roles, parameters, random):
        super().__init__(node, roles, parameters, random)
        self.heard = []

    @on(Subscribe)
    def subscribe(self, event, now):
        pass

    @on(Publish)
    def publish(self, event, now):
        self.heard.append(event.notification.id)
        self.send(BROADCAST, Tell(event.notification))

    @on(Tell)
    def listen(self, tell, sender, now):
        if tell.notification.id in self.heard:
            return
        self.heard.append(tell.notification.id)
        if self.node == 1 and sender == tell.notification.id.publisher:
            self.deliver(tell.notification)
        self.send(BROADCAST, tell)
