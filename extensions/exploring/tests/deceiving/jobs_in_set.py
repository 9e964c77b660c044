"""A right agent: what is waiting stands in a set and in a list; delivered in the order in which it came."""

from roambus import BROADCAST, SECOND, Agent, Message, Notification, Publish, Subscribe, on, on_timer


class Tell(Message, tag=1):
    """A notification on its way."""

    notification: Notification


class Job:
    def __init__(self, number, notification):
        self.number, self.notification = number, notification

    def __hash__(self):
        return self.number

    def __eq__(self, other):
        return self.number == other.number


class A(Agent):
    last = False

    def __init__(self, node, roles, parameters, random):
        super().__init__(node, roles, parameters, random)
        self.jobs = set()
        self.order = []

    @on(Subscribe)
    def subscribe(self, event, now):
        pass

    @on(Publish)
    def publish(self, event, now):
        self.send(BROADCAST, Tell(event.notification))

    @on(Tell)
    def listen(self, tell, sender, now):
        job = Job(dict(tell.notification.attributes)["topic"], tell.notification)
        self.jobs.add(job)
        self.order.append(job)
        self.set_timer("go", SECOND)

    @on_timer("go")
    def go(self, key, now):
        while self.order:
            job = self.order.pop(-1 if self.last else 0)
            self.jobs.discard(job)
            self.deliver(job.notification)


class Lifo(A):
    """Wrong: the last first."""

    last = True
