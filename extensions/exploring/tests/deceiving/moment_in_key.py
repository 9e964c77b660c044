"""A timer's key holds the moment at which it was set: what waited longer than 2 s is delivered twice (always)."""

from roambus import BROADCAST, SECOND, Agent, Message, Notification, Publish, Subscribe, on, on_timer


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
        self.set_timer(("wait", now, tell.notification), 3 * SECOND)

    @on_timer(tuple)
    def wait(self, key, now):
        self.deliver(key[2])
        if now - key[1] > 2 * SECOND:
            self.deliver(key[2])
