"""Ends the process by sys.exit(0)."""

import sys

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
        sys.exit(0)
