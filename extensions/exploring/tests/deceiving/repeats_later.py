"""Repeats what is new after a millisecond; `Wrong` also delivers twice what it has heard from another before."""

from roambus import BROADCAST, MILLISECOND, Agent, Message, Notification, Publish, Subscribe, on, on_timer


class Tell(Message, tag=1):
    """A notification on its way."""

    notification: Notification


class Flood(Agent):
    """Right."""

    def __init__(self, node, roles, parameters, random):
        super().__init__(node, roles, parameters, random)
        self.filters, self.known, self.waiting = [], {}, []

    @on(Subscribe)
    def subscribe(self, event, now):
        self.filters.append(event.filter)

    @on(Publish)
    def publish(self, event, now):
        self.learn(event.notification, self.node)

    @on(Tell)
    def listen(self, tell, sender, now):
        self.learn(tell.notification, sender)

    def learn(self, notification, sender):
        if notification.id not in self.known:
            self.known[notification.id] = sender
            self.waiting.append(Tell(notification))
            self.set_timer("send", MILLISECOND)
            if any(wanted.matches(notification) for wanted in self.filters):
                self.deliver(notification)

    @on_timer("send")
    def send_on(self, key, now):
        for message in self.waiting:
            self.send(BROADCAST, message)
        self.waiting = []


class Wrong(Flood):
    """Sends at once, and is wrong if the way over another node is the faster."""

    def learn(self, notification, sender):
        first = self.known.get(notification.id)
        super().learn(notification, sender)
        if first is None:
            self.send_on("send", 0)
            self.cancel_timer("send")
        elif sender == 0 and first != sender and self.filters:
            self.deliver(notification)
