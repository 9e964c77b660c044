"""Is wrong if a second notification comes before it learns that its answer to the first was not sent."""

from roambus import BROADCAST, Agent, Message, Notification, Publish, SendFailed, Subscribe, on


class Tell(Message, tag=1):
    """A notification on its way."""

    notification: Notification


class Thanks(Message, tag=2):
    """An answer."""


class A(Agent):
    """Counts open answers."""

    def __init__(self, node, roles, parameters, random):
        super().__init__(node, roles, parameters, random)
        self.open = 0

    @on(Subscribe)
    def subscribe(self, event, now):
        pass

    @on(Publish)
    def publish(self, event, now):
        self.send(BROADCAST, Tell(event.notification))

    @on(Tell)
    def listen(self, tell, sender, now):
        self.open += 1
        self.send(sender, Thanks())
        self.deliver(tell.notification)
        if self.open == 2:
            self.deliver(tell.notification)

    @on(Thanks)
    def thanked(self, thanks, sender, now):
        pass

    @on(SendFailed)
    def fail(self, event, now):
        self.open = 0
