"""Remembers topics in a set, and goes by its order a second later: 0 and 8 are in the order in which they came."""

from roambus import BROADCAST, SECOND, Agent, Message, Notification, Publish, Subscribe, on, on_timer


class Tell(Message, tag=1):
    """A notification on its way."""

    notification: Notification


class A(Agent):
    def __init__(self, node, roles, parameters, random):
        super().__init__(node, roles, parameters, random)
        self.topics = set()
        self.waiting = []

    @on(Subscribe)
    def subscribe(self, event, now):
        pass

    @on(Publish)
    def publish(self, event, now):
        self.send(BROADCAST, Tell(event.notification))

    @on(Tell)
    def listen(self, tell, sender, now):
        self.topics.add(dict(tell.notification.attributes)["topic"])
        self.waiting.append(tell.notification)
        self.set_timer("go", SECOND)

    @on_timer("go")
    def go(self, key, now):
        for notification in self.waiting:
            self.deliver(notification)
            if len(self.topics) == 2 and next(iter(self.topics)) == 8:
                self.deliver(notification)
        self.waiting.clear()
