"""Delivers twice what is answered after a tenth of a second and before a second: at no moment of another event."""

from roambus import BROADCAST, MILLISECOND, SECOND, Agent, Message, Notification, Publish, Subscribe, on, on_timer


class Tell(Message, tag=1):
    """A notification on its way."""

    notification: Notification


class Thanks(Message, tag=2):
    """An answer, and the answer to an answer."""


class A(Agent):
    def __init__(self, node, roles, parameters, random):
        super().__init__(node, roles, parameters, random)
        self.kept = None
        self.since = None

    @on(Subscribe)
    def subscribe(self, event, now):
        pass

    @on(Publish)
    def publish(self, event, now):
        self.send(BROADCAST, Tell(event.notification))

    @on(Tell)
    def listen(self, tell, sender, now):
        self.kept, self.since = tell.notification, now
        self.deliver(tell.notification)
        self.send(sender, Thanks())
        self.set_timer("forget", SECOND)

    @on(Thanks)
    def answer(self, thanks, sender, now):
        if self.kept is None:
            self.send(sender, Thanks())
        elif 100 * MILLISECOND < now - self.since < SECOND:
            self.deliver(self.kept)

    @on_timer("forget")
    def forget(self, key, now):
        self.kept = None
