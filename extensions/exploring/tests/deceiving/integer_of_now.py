"""Keeps int(now) at the publication; what is sent 3 s later is sent twice if it is older than 2 s."""

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
        self.kept = tell.notification
        self.since = int(now)
        self.set_timer("tick", 3 * SECOND)

    @on_timer("tick")
    def tick(self, key, now):
        self.deliver(self.kept)
        if now - self.since > 2 * SECOND:
            self.deliver(self.kept)
