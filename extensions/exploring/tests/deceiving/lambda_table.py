"""A right agent; its dispatch table has lambdas that hold the agent as a default."""

from roambus import BROADCAST, Agent, Message, Notification, Publish, Subscribe, on


class Tell(Message, tag=1):
    """A notification on its way."""

    notification: Notification


class A(Agent):
    def __init__(self, node, roles, parameters, random):
        super().__init__(node, roles, parameters, random)
        self.count = 0
        self.how = {"deliver": lambda notification, me=self: me.accept(notification)}

    @on(Subscribe)
    def subscribe(self, event, now):
        pass

    @on(Publish)
    def publish(self, event, now):
        self.send(BROADCAST, Tell(event.notification))

    def accept(self, notification):
        self.count += 1
        self.deliver(notification)
        if self.count == 2:
            self.deliver(notification)

    @on(Tell)
    def listen(self, tell, sender, now):
        self.how["deliver"](tell.notification)
