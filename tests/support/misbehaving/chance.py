"""Agents whose runs look right, and are not: `roambus vet` finds them."""

from __future__ import annotations

from tests.support.misbehaving.catalogue import Misbehaving, ticking, whole
from tests.support.misbehaving.messages import sending
from tests.support.misbehaving.values import PING

_REPEATABLE = "repeatable: .*another process makes another trace"
_ALONE = "shared memory: .*if each node has a process of its own"


def _noting(name: str, what: str, before: str = "") -> Misbehaving:
    return ticking(name, f'self.note("mine", detail=str({what}))  # here', _REPEATABLE, before)


def _counting(name: str, count: str, before: str) -> Misbehaving:
    """An agent whose nodes count together what each does once, where no look at a value shows it."""
    handlers = f'    @on(Started)\n    def start(self, event, now):\n        self.note("mine", detail=str({count}))\n'
    return whole(name, f"{before}\nclass Mine(Agent):\n{handlers}", _ALONE)


CHANCE = (
    _noting("the hash of a text", 'hash("x")'),
    _noting("the clock", "time.time_ns()", "import time\n"),
    _noting("the date", "datetime.now()", "from datetime import datetime\n"),
    _noting("the system's chance", "os.urandom(4)"),
    _noting("a uuid", "uuid.uuid4()", "import uuid\n"),
    _noting("secrets", "secrets.randbelow(10**9)", "import secrets\n"),
    _noting("the address of an object", "id(self)"),
    _noting("the process", "os.getpid()"),
    ticking(
        "the order of a set",
        'for one in {"a", "b", "c", "d", "e"}:  # here\n    self.note("mine", detail=one)',
        _REPEATABLE,
    ),
    whole(
        "a list of the class",
        """
        class Mine(Agent):
            seen = []  # here

            @on(Started)
            def start(self, event, now):
                self.seen.append(self.node)
                self.note("mine", detail=str(self.seen))
        """,
        f"{_ALONE}.*look at .*seen",
    ),
    whole(
        "a counter of the class",
        """
        class Mine(Agent):
            count = 0

            @on(Started)
            def start(self, event, now):
                Mine.count += 1
                self.note("mine", detail=str(self.count))
        """,
        _ALONE,
    ),
    whole(
        "a global",
        """
        KNOWN = {}  # here

        class Mine(Agent):
            @on(Started)
            def start(self, event, now):
                KNOWN[self.node] = now
                self.note("mine", detail=str(KNOWN))
        """,
        _ALONE,
    ),
    whole(
        "a default",
        """
        class Mine(Agent):
            @on(Started)
            def start(self, event, now):
                self.keep(now)

            def keep(self, now, kept=[]):  # here
                kept.append(now)
                self.note("mine", detail=str(kept))
        """,
        _ALONE,
    ),
    whole(
        "an object of the class",
        """
        class Box:
            pass

        class Mine(Agent):
            box = Box()  # here

            @on(Started)
            def start(self, event, now):
                self.note("mine", detail=str(vars(self.box)))
                self.box.last = self.node
        """,
        _ALONE,
    ),
    _counting(
        "a closure",
        "count()",
        "def make():\n    calls = []\n    return lambda: calls.append(1) or len(calls)\n\ncount = make()\n",
    ),
    _counting(
        "a cache",
        "kept().append(1) or len(kept())",
        "import functools\n\n@functools.cache\ndef kept():\n    return []\n",
    ),
    _counting("a generator", "next(COUNT)", "import itertools\n\nCOUNT = (number for number in itertools.count())\n"),
    _counting(
        "an object that can be called",
        "BOX()",
        "class Box:\n    n = 0\n    def __call__(self):\n        self.n += 1\n        return self.n\n\nBOX = Box()\n",
    ),
    _counting(
        "an object with slots",
        "BOX.append(1) or len(BOX.kept)",
        "class Box:\n    __slots__ = ('kept',)\n    def append(self, one):\n        self.kept.append(one)\n"
        "    def __repr__(self):\n        return 'box'\n\nBOX = Box()\nBOX.kept = []\n",
    ),
    _counting(
        "a class within a class",
        "Outer.Inner.kept.append(1) or len(Outer.Inner.kept)",
        "class Outer:\n    class Inner:\n        kept = []\n",
    ),
    whole(
        "what only another node has written",
        """
        class Mine(Agent):
            @on(Started)
            def start(self, event, now):
                vars(random).setdefault("calls", {})[self.node] = now
                self.set_timer("tick", SECOND)

            @on_timer("tick")
            def tick(self, key, now):
                random.calls[(self.node + 1) % 8]
        """,
        f"{_ALONE}, the run fails: KeyError",
    ),
    whole(
        "what nobody but messages tell",
        """
        import functools

        class Count(Message, tag=1):
            known: U8

        @functools.cache
        def kept():
            return []

        class Mine(Agent):
            messages = MessageSet([Count])

            @on(Started)
            def start(self, event, now):
                kept().append(self.node)
                self.set_timer("tick", SECOND)

            @on_timer("tick")
            def tick(self, key, now):
                self.send(BROADCAST, Count(len(kept())))

            @on(Count)
            def hear(self, count, sender, now):
                pass
        """,
        f"{_ALONE}, the trace differs: .*holds",
    ),
    whole(
        "two nanoseconds",
        """
        class Mine(Agent):
            @on(Started)
            def start(self, event, now):
                self.set_timer("tick", 2)

            @on_timer("tick")
            def tick(self, key, now):
                pass
        """,
        "timers: .*the timer 'tick' is set to run out after 2 ns: write 2 \\* SECOND if seconds are meant",
    ),
    whole(
        "parameters that change",
        """
        class Mine(Agent):
            @on(Started)
            def start(self, event, now):
                self.note("mine", detail=str(vars(self.parameters)))
                object.__setattr__(self.parameters, "x", self.node)
        """,
        _ALONE,
    ),
    whole(
        "a timer without handler",
        """
        class Mine(Agent):
            @on(Started)
            def start(self, event, now):
                self.set_timer("tock", 1)

            @on_timer("tick")
            def tick(self, key, now):
                pass
        """,
        "timers: .*the timer 'tock' runs out, and there is no handler",
    ),
    whole(
        "an unknown message",
        f"""
        {PING.replace(chr(10), chr(10) + " " * 8)}
        class Mine(Agent):
            @on(Received)
            def hear(self, event, now):
                assert isinstance(event.message, Ping)  # here
        """,
        "unknown messages: .*an agent ignores what it does not know",
    ),
    whole(
        "a recovery that raises",
        """
        class Mine(Agent):
            @on(Recovered)
            def recover(self, event, now):
                raise ValueError("not again")  # here
        """,
        "runs, on ideal links: .*ValueError: not again",
    ),
    whole(
        "a position that every node has",
        """
        class Mine(Agent):
            needs_position = True

            @on(Publish)
            def publish(self, event, now):
                self.note("mine", detail=str(self.position[0]))  # here
        """,
        "runs, on ideal links: .*node 7, .*TypeError: 'NoneType'",
    ),
    sending(
        "a failure that raises",
        "class Ping(Message, tag=1):\n    data: LongBytes\n\ndef large():\n    return Ping(bytes(1000))\n",
        "self.send(BROADCAST, large())",
        "runs, on the radio: .*RuntimeError: too long",
        failing='raise RuntimeError("too long")',
    ),
    sending(
        "a write that cuts large values",
        "class Ping(Message, tag=1):\n    a: U16\n    def write(self, writer):\n        writer.u16(self.a & 0x7FFF)\n",
        "self.send(BROADCAST, Ping(5))",
        "messages: .*field a was .* when it was sent, and is",
    ),
    sending(
        "a read that trusts bytes",
        "class Ping(Message, tag=1):\n    a: U8\n    def __post_init__(self):\n"
        "        if self.a > 2:\n            raise ValueError(self.a)\n"
        "    @classmethod\n    def read(cls, reader):\n"
        "        return cls((0, 1, 2)[reader.u8()])\n",
        "self.send(BROADCAST, Ping(1))",
        "messages: .*invalid bytes raise IndexError",
    ),
)
