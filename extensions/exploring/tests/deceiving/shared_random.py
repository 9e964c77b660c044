"""Draws from the module random."""

import random

from roambus import BROADCAST, Agent, Message, Notification, Publish, Subscribe, on


class Tell(Message, tag=1):
    """A notification on its way."""

    notification: Notification


class A(Agent):
    @on(Subscribe)
    def subscribe(self, event, now):
        pass

    @on(Publish)
    def publish(self, event, now):
        self.send(BROADCAST, Tell(event.notification))

    @on(Tell)
    def listen(self, tell, sender, now):
        self.deliver(tell.notification)
        if random.random() < 0.001:
            self.deliver(tell.notification)
