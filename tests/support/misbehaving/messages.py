"""Agents whose messages are not what their bytes say, or that change what they have sent or received."""

from __future__ import annotations

from textwrap import dedent, indent

from tests.support.misbehaving.catalogue import HEAD, Misbehaving


def sending(  # the parts of such an agent
    name: str,
    message: str,
    made: str,
    says: str,
    *,
    listed: str = "Ping",
    on_hearing: str = "pass",
    failing: str = "pass",
) -> Misbehaving:
    """An agent of which node 0 broadcasts this each second; it does something on hearing it, or if it was not sent."""
    source = f"""\
{HEAD}{dedent(message)}

class Mine(Agent):
    messages = MessageSet([{listed}])

    @on(Started)
    def start(self, event, now):
        self.set_timer("tick", SECOND)

    @on_timer("tick")
    def tick(self, key, now):
        self.set_timer("tick", SECOND)
        if self.node == 0:
{indent(dedent(made).strip(), " " * 12)}

    @on(Received)
    def hear(self, event, now):
        message = event.message
{indent(dedent(on_hearing).strip(), " " * 8)}

    @on(SendFailed)
    def fail(self, event, now):
        {failing}
"""
    return Misbehaving(name, source, says)


_PATH = "class Ping(Message, tag=1):  # here\n    path: tuple[U8, ...]\n"
_NUMBERS = "class Ping(Message, tag=1):\n    a: U8\n    b: U8\n"
_SEND = "self.send(BROADCAST, Ping(1, 2))"

MESSAGES = (
    sending(
        "a field that is a list", "class Ping(Message, tag=1):  # here\n    path: list[U8]\n", "pass", "write tuple"
    ),
    sending(
        "a field that holds a dict",
        "class Ping(Message, tag=1):  # here\n    path: tuple[dict[str, int], ...]\n",
        "pass",
        "could change it",
    ),
    sending(
        "a record that can be changed",
        "from dataclasses import dataclass\n@dataclass\nclass Spot:\n    x: U8\n"
        "class Ping(Message, tag=1):  # here\n    spot: Spot\n",
        "pass",
        "write @dataclass",
    ),
    sending(
        "a list in place of a tuple",
        _PATH.replace("  # here", ""),
        "self.send(BROADCAST, Ping([1, 2]))",
        "path = .1, 2.: .1, 2. is not of type tuple, but of type list.*in tick",
    ),
    sending("a value that does not fit", _NUMBERS, "self.send(BROADCAST, Ping(1, 300))", "b = 300.*in tick"),
    sending(
        "a message of 70000 bytes",
        "class Ping(Message, tag=1):\n    data: LongBytes\n    more: LongBytes\n",
        "self.send(BROADCAST, Ping(bytes(65000), bytes(65000)))",
        "bytes, at most 65535 can be sent",
    ),
    sending(
        "a forgotten write",
        f"{_NUMBERS}    def write(self, writer):  # here\n        pass\n",
        _SEND,
        "message PING of agent Mine .*cannot be read from its own 1 bytes",
    ),
    sending(
        "a read that mixes fields up",
        f"{_NUMBERS}    @classmethod\n    def read(cls, reader):\n"
        "        b, a = reader.u8(), reader.u8()\n        return cls(a, b)\n",
        _SEND,
        "message PING of agent Mine .*field a was 1 when it was sent, and is 2",
    ),
    sending(
        "a read that raises",
        f"{_NUMBERS}    @classmethod\n    def read(cls, reader):\n        return {{}}[reader.u8()]\n",
        _SEND,
        "message PING .*cannot be read .*KeyError",
    ),
    sending(
        "a write of too much",
        f"{_NUMBERS}    def write(self, writer):\n        for x in (self.a, self.b, 9):\n            writer.u8(x)\n",
        _SEND,
        "message PING .*bytes left over",
    ),
    sending(
        "a number that holds more than travels",
        f"class Big(int):\n    secret = 'xxx'\n\n{_NUMBERS}",
        "self.send(BROADCAST, Ping(Big(1), 2))",
        "message PING .*field a was 1 when it was sent",
    ),
    sending(
        "a message that is equal to everything",
        f"{_NUMBERS}    def __eq__(self, other):\n        return True\n"
        "    def write(self, writer):\n        writer.u8(self.a)\n        writer.u8(0)\n",
        _SEND,
        "message PING .*field b was 2 when it was sent, and is 0",
    ),
    sending(
        "a message that is not listed",
        f"{_NUMBERS}class Pong(Message, tag=2):  # here\n    a: U8\n",
        "self.send(BROADCAST, Pong(1))",
        "message PONG of agent Mine .*not one of the agent's messages: write messages",
    ),
    sending(
        "a tag that another has",
        f"{_NUMBERS}class Pong(Message, tag=1):\n    a: U8\n",
        "self.send(BROADCAST, Pong(1))",
        "message PONG of agent Mine .*not one of the agent's messages",
    ),
    sending(
        "two messages of one tag",
        f"{_NUMBERS}class Pong(Message, tag=1):\n    a: U8\n",
        _SEND,
        "Pong and Ping share tag 1",
        listed="Ping, Pong",
    ),
    sending(
        "a tag that is no byte",
        "class Ping(Message, tag=300):  # here\n    a: U8\n",
        _SEND,
        "tag 300 is not between 0 and 255",
    ),
    sending(
        "slots of its own",
        'class Ping(Message, tag=1):  # here\n    __slots__ = ("a",)\n',
        _SEND,
        "no __slots__ of its own",
    ),
    sending(
        "a sender changes a message",
        _NUMBERS,
        'ping = Ping(1, 2)\nself.send(BROADCAST, ping)\nself.late = ping\nobject.__setattr__(ping, "hops", 3)',
        "AttributeError: .*Ping.* object has no attribute 'hops'.*in tick",
    ),
)
