"""What comes 1 s to 4 s after another notification is lost; a timer ends the window after 5 s."""

from roambus import BROADCAST, SECOND, Agent, Message, Notification, Publish, Subscribe, on, on_timer


class Tell(Message, tag=1):
    """A notification on its way."""

    notification: Notification


class A(Agent):
    def __init__(self, node, roles, parameters, random):
        super().__init__(node, roles, parameters, random)
        self.last = None

    @on(Subscribe)
    def subscribe(self, event, now):
        pass

    @on(Publish)
    def publish(self, event, now):
        self.send(BROADCAST, Tell(event.notification))

    @on(Tell)
    def listen(self, tell, sender, now):
        if self.last is not None and SECOND < now - self.last < 4 * SECOND:
            return
        self.last = now
        self.deliver(tell.notification)
        self.set_timer("forget", 5 * SECOND)

    @on_timer("forget")
    def forget(self, key, now):
        self.last = None
