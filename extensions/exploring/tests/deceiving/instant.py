"""An attribute called instant, an int: deliver at once or after so many."""

from roambus import BROADCAST, SECOND, Agent, Message, Notification, Publish, Subscribe, on, on_timer


class Tell(Message, tag=1):
    """A notification on its way."""

    notification: Notification


class A(Agent):
    def __init__(self, node, roles, parameters, random):
        super().__init__(node, roles, parameters, random)
        self.counts = {"instant": 0, "delayed": 0}
        self.waiting = []

    @on(Subscribe)
    def subscribe(self, event, now):
        pass

    @on(Publish)
    def publish(self, event, now):
        self.send(BROADCAST, Tell(event.notification))

    @on(Tell)
    def listen(self, tell, sender, now):
        self.counts["instant"] += 1
        self.waiting.append(tell.notification)
        self.set_timer("go", SECOND)

    @on_timer("go")
    def go(self, key, now):
        for notification in self.waiting:
            self.deliver(notification)
            if self.counts["instant"] == 2:
                self.deliver(notification)
        self.waiting.clear()
