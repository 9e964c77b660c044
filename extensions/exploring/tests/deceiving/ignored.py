"""n1 and n2 play ping-pong for ever once they hear anything; n3 hears and forgets to deliver."""

from roambus import BROADCAST, Agent, Message, Notification, Publish, Subscribe, on


class Tell(Message, tag=1):
    """A notification on its way."""

    notification: Notification


class Ping(Message, tag=2):
    """To and fro."""


class PingPong(Agent):
    @on(Subscribe)
    def subscribe(self, event, now):
        pass

    @on(Publish)
    def publish(self, event, now):
        self.send(BROADCAST, Tell(event.notification))

    @on(Tell)
    def listen(self, tell, sender, now):
        if self.node == 0:
            self.send(1, Ping())

    @on(Ping)
    def ping(self, ping, sender, now):
        self.send(sender, Ping())
