"""A message holds the moment at which it was made; one older than 2 s is delivered twice, which it always is."""

from roambus import BROADCAST, I64, SECOND, Agent, Message, Notification, Publish, Subscribe, on, on_timer


class Tell(Message, tag=1):
    """A notification on its way."""

    notification: Notification


class Stamped(Message, tag=2):
    notification: Notification
    made: I64


class A(Agent):
    @on(Subscribe)
    def subscribe(self, event, now):
        pass

    @on(Publish)
    def publish(self, event, now):
        self.kept = Stamped(event.notification, now)
        self.set_timer("send", 3 * SECOND)

    @on_timer("send")
    def go(self, key, now):
        self.send(BROADCAST, self.kept)

    @on(Stamped)
    def listen(self, tell, sender, now):
        self.deliver(tell.notification)
        if now - tell.made > 2 * SECOND:
            self.deliver(tell.notification)
