"""Keeps what is first of n1 until somebody else's has come; what comes later of n1 is delivered at once."""

from roambus import BROADCAST, Agent, Message, Notification, Publish, Subscribe, on


class Tell(Message, tag=1):
    """A notification on its way."""

    notification: Notification


class A(Agent):
    def __init__(self, node, roles, parameters, random):
        super().__init__(node, roles, parameters, random)
        self.kept = None
        self.first = True

    @on(Subscribe)
    def subscribe(self, event, now):
        pass

    @on(Publish)
    def publish(self, event, now):
        self.send(BROADCAST, Tell(event.notification))

    @on(Tell)
    def listen(self, tell, sender, now):
        if self.node != 1:
            return
        if sender == 0 and self.first:
            self.kept, self.first = tell.notification, False
            return
        self.deliver(tell.notification)
        if sender != 0 and self.kept:
            self.deliver(self.kept)
            self.kept = None
