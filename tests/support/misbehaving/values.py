"""Agents that ask for what there is not: times that are no integers, destinations that are no nodes, and so on."""

from __future__ import annotations

from roambus.python_protocol.trace_rows import HOST_EVENTS
from tests.support.misbehaving.catalogue import Misbehaving, handling, ticking, whole

PING = """\
class Ping(Message, tag=1):
    hops: U8

"""
_TIME = "times are integers, in nanoseconds"
_NODE = "write the number of a node, 0 to 65533, or BROADCAST"


def _sending(name: str, body: str, says: str) -> Misbehaving:
    """An agent that sends, and so has a message."""
    agent = ticking(name, body, says, PING)
    return Misbehaving(name, f"{agent.source}\n    messages = MessageSet([Ping])\n", says)


VALUES = (
    ticking("a timer after half a second", 'self.set_timer("x", 0.5)  # here', rf"{_TIME}: write from_seconds\(0\.5\)"),
    ticking("a timer after NaN", 'self.set_timer("x", float("nan"))  # here', _TIME),
    ticking("a timer after a truth value", 'self.set_timer("x", True)  # here', f"{_TIME}, not of type bool"),
    ticking("a timer after a text", 'self.set_timer("x", "1s")  # here', f"{_TIME}, not of type str"),
    ticking("a timer after nothing", 'self.set_timer("x", None)  # here', f"{_TIME}, not of type NoneType"),
    ticking("a timer after a NumPy integer", 'self.set_timer("x", np.int64(5))  # here', _TIME, "import numpy as np\n"),
    ticking("a timer before now", 'self.set_timer("x", -1)  # here', "nothing can be done before now"),
    ticking("a timer of a list", 'self.set_timer(["x"], 1)  # here', "a key must not change"),
    ticking(
        "a timer that is changed",
        'a = SetTimer("x", 1); a.after = 0.5; self.perform([a])',
        f"tick.*{_TIME}|{_TIME}.*tick",
    ),
    _sending("sent after a fraction", "self.send(BROADCAST, Ping(1), after=0.01)  # here", f"{_TIME}: write from_sec"),
    _sending("sent before now", "self.send(BROADCAST, Ping(1), after=-5)  # here", "nothing can be done before now"),
    _sending("to a negative node", "self.send(-1, Ping(1))  # here", _NODE),
    _sending("to a node that cannot be", "self.send(70000, Ping(1))  # here", _NODE),
    _sending(
        "to a node that is not there",
        "self.send(99, Ping(1))",
        "to 99, which is not a node at to_a_node.*py:.* in tick",
    ),
    _sending("to a text", 'self.send("n1", Ping(1))  # here', f"of type str: {_NODE}"),
    _sending("to nobody", "self.send(None, Ping(1))  # here", _NODE),
    _sending("to a real number", "self.send(1.0, Ping(1))  # here", _NODE),
    _sending("to a truth value", "self.send(True, Ping(1))  # here", _NODE),
    _sending("a text is sent", 'self.send(BROADCAST, "ping")  # here', "is not a Message, but of type str"),
    _sending("a class is sent", "self.send(BROADCAST, Ping)  # here", "is a class: make a message of it"),
    ticking(
        "a message without tag",
        "self.send(BROADCAST, Base(1))  # here",
        "has no tag: write class Base",
        "class Base(Message):\n    x: U8\n\n",
    ),
    ticking("nothing is delivered", "self.deliver(None)  # here", "is not a Notification, but of type NoneType"),
    ticking("a number is delivered", "self.deliver(5)  # here", "is not a Notification, but of type int"),
    ticking("a note without name", "self.note(None)  # here", "a note needs a name"),
    *(
        ticking(
            f"a note of the host's event {name}",
            f'self.note("{name}", notification_id="0.0", peer=1)  # here',
            rf"agent Mine, node \d+, .*note\('{name}'\): only the host writes rows of that name",
        )
        for name in sorted(HOST_EVENTS)
    ),
    ticking(
        "a note that is renamed",
        'a = Note("x"); a.name = "deliver"; self.perform([a])',
        r"note\('deliver'\): only the host writes.* in tick",
    ),
    ticking("a note with a number as text", 'self.note("x", detail=5)  # here', "detail = 5 is of type int"),
    ticking("a note with a text as number", 'self.note("x", hops="2")  # here', "hops = '2' is of type str"),
    ticking("a note of a surrogate", 'self.note("x", detail="\\ud800")  # here', "not to be written in UTF-8"),
    ticking("a note of a huge number", 'self.note("x", bytes=2**40)  # here', "does not fit in the four bytes"),
    handling("handle returns nothing", "return None", "handle has returned None: return the actions.*:7 in handle"),
    handling("handle returns a text", 'return "send"', "handle has returned 'send'"),
    handling("handle returns one action", 'return SetTimer("x", 1)', "handle has returned SetTimer"),
    handling("handle returns a number", "return 0", "handle has returned 0"),
    handling("handle returns what is no action", 'return ["send"]', "'send' is not an action at .*:7 in handle"),
    handling("handle yields what is no action", 'yield "send"  # here', "'send' is not an action"),
    handling("handle yields half a second", 'yield SetTimer("x", 0.5)  # here', _TIME),
    whole(
        "handle takes too little",
        "class Mine(Agent):\n    def handle(self, event):\n        return ()\n",
        "TypeError: .*takes 2 pos",
    ),
    ticking("a handler returns actions", 'return [SetTimer("x", 1)]', "which nobody carries out.* in tick"),
    ticking("a handler yields", 'yield SetTimer("x", 1)', "Mine.tick has a yield, so it would never be run"),
    whole(
        "a handler that is async",
        """
        class Mine(Agent):
            @on(Started)
            async def start(self, event, now):
                self.set_timer("tick", SECOND)
        """,
        "Mine.start is async, so it would never be run",
    ),
    whole(
        "a handler of too few arguments",
        """
        class Mine(Agent):
            @on(Started)
            def start(self, event):
                pass
        """,
        "start.. takes 2 positional arguments but 3 were given at .*:7 in start",
    ),
    whole(
        "a method that hides send",
        """
        class Mine(Agent):
            @on(Started)
            def send(self, event, now):
                pass
        """,
        "Mine.send hides what every process does by send",
    ),
    ticking("a loop without delay", 'self.set_timer("tick", 0)', "more than 100000 timers fire at"),
)
