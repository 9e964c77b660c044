"""Two timers of one node run out at one moment: if 'clear' comes before 'tell', the notification is lost."""

from roambus import BROADCAST, SECOND, Agent, Message, Notification, Publish, Subscribe, on, on_timer


class Tell(Message, tag=1):
    """A notification on its way."""

    notification: Notification


class A(Agent):
    def __init__(self, node, roles, parameters, random):
        super().__init__(node, roles, parameters, random)
        self.kept = []

    @on(Subscribe)
    def subscribe(self, event, now):
        pass

    @on(Publish)
    def publish(self, event, now):
        self.send(BROADCAST, Tell(event.notification))

    @on(Tell)
    def listen(self, tell, sender, now):
        self.kept.append(tell.notification)
        self.set_timer("tell", SECOND)
        self.set_timer("clear", SECOND)

    @on_timer("tell")
    def tellit(self, key, now):
        for notification in self.kept:
            self.deliver(notification)
        self.kept.clear()

    @on_timer("clear")
    def clear(self, key, now):
        self.kept.clear()
