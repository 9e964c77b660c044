"""Ignores what it hears in the first 5 s of the run."""

from roambus import BROADCAST, SECOND, Agent, Message, Notification, Publish, Subscribe, on


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
        if now < 5 * SECOND:
            return
        self.deliver(tell.notification)
