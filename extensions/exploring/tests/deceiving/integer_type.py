"""Right, and asks for what only an integer can do: the time goes through C code, and through a check of its type."""

import struct

from roambus import BROADCAST, Agent, Message, Notification, Publish, on


class Tell(Message, tag=1):
    """A notification on its way."""

    notification: Notification


class Packed(Agent):
    """Packs the time."""

    @on(Publish)
    def publish(self, event, now):
        self.send(BROADCAST, Tell(event.notification))

    @on(Tell)
    def listen(self, tell, sender, now):
        if not isinstance(now, int):
            raise TypeError
        struct.pack("<q", int.__add__(now, 1))
        self.deliver(tell.notification)
