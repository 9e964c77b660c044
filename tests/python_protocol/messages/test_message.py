"""Messages: typed fields, from which bytes, size and text follow; nothing but DecodeError for anything else."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass, replace
from enum import Enum
from types import new_class
from typing import Annotated, Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.python_protocol.filters import Filter, Notification, NotificationId, parse_filter
from roambus.python_protocol.messages.fields import I64, U8, U16, U32, By, FieldError, LongBytes, LongTuple, Names, bit
from roambus.python_protocol.messages.message import Message, MessageSet
from roambus.python_protocol.messages.octets import DecodeError, Reader, Writer, number
from roambus.python_protocol.roles import NodeId


class Ping(Message, tag=1):
    """A number and a text."""

    number: U32
    name: str


class Envelope(Message, tag=2):
    """Another message."""

    content: Message


class Place(NamedTuple):
    """A record."""

    x: U16
    y: U16


class Mood(Enum):
    """Three of them."""

    GOOD = "good"
    BAD = "bad"
    UGLY = "ugly"


class Everything(Message, tag=3, name="ALL"):
    """A field of each type."""

    last: bool = bit(0x80, default=False, kw_only=True)
    first: bool = bit(0x01, default=False, kw_only=True)
    small: U8
    signed: I64
    share: float
    text: str
    data: bytes
    long_data: LongBytes
    mood: Mood
    node: NodeId
    place: Place
    places: tuple[Place, ...]
    nodes: LongTuple[NodeId]
    flag: bool
    parent: NodeId | None
    wanted: Filter | None
    news: tuple[Notification, ...]
    inside: Ping


@dataclass
class Changeable:
    """A record that can be changed."""

    x: U8


@dataclass(frozen=True)
class Holder:
    """A record that cannot, but for what it holds."""

    x: list[int]


class Pair(NamedTuple):
    """As that one."""

    x: dict[int, int]


class OwnList(list[int]):
    """A list that travels by methods of its own."""

    def write(self, writer: Writer) -> None: ...

    @classmethod
    def read(cls, reader: Reader) -> Any: ...


class Writes:
    """Anything that travels by methods of its own."""

    write, read = OwnList.write, OwnList.read


class Labelled(str):
    """A text with attributes."""

    write, read = OwnList.write, OwnList.read


class Noted(Message, tag=4, notation="{node} at={place} n={count}? {urgent}"):
    """A message with a notation."""

    node: NodeId
    place: Place
    count: U8
    urgent: bool


def made(annotations: dict[str, Any], **about: Any) -> type:
    """A class of messages with these fields."""
    return new_class(
        "Bad", (Message,), about, lambda body: body.update(__annotations__=annotations, __module__=__name__)
    )


MESSAGES = MessageSet([Ping, Envelope, Everything, Noted])
pings = st.builds(Ping, st.integers(0, 2**32 - 1), st.text(max_size=60))
words, nodes = st.integers(0, 65535), st.integers(0, 65533)
places = st.builds(Place, words, words)
notifications = st.builds(
    lambda n: Notification(NotificationId(1, n), (("topic", n),), n % 9), st.integers(0, 2**32 - 1)
)
everything = st.builds(
    Everything,
    last=st.booleans(),
    first=st.booleans(),
    small=st.integers(0, 255),
    signed=st.integers(-(2**63), 2**63 - 1),
    share=st.floats(allow_nan=False),
    text=st.text(max_size=60),
    data=st.binary(max_size=255),
    long_data=st.binary(max_size=400),
    mood=st.sampled_from(Mood),
    node=nodes,
    place=places,
    places=st.lists(places, max_size=4).map(tuple),
    nodes=st.lists(nodes, max_size=300).map(tuple),
    flag=st.booleans(),
    parent=st.none() | nodes,
    wanted=st.none() | st.just(parse_filter("topic = 1")),
    news=st.lists(notifications, max_size=3).map(tuple),
    inside=pings,
)


@given(pings | everything)
def test_round_trip(message: Message) -> None:
    """A message is the same after its encoding, alone and inside another."""
    assert MESSAGES.decode(message.encode()) == message
    assert MESSAGES.decode(Envelope(message).encode()) == Envelope(message)


def test_size_on_the_air_is_the_length_of_the_bytes() -> None:
    """One byte of tag, then the fields in network byte order."""
    assert Ping(258, "ab").encode() == b"\x01\x00\x00\x01\x02\x02ab"


class Numbers(Message, tag=9):
    """Its size does not depend on its values."""

    early: bool
    number: I64
    node: NodeId
    late: bool
    later: bool


class Nothing(Message, tag=10):
    """No field at all."""


numbers = st.builds(
    Numbers, st.booleans(), st.integers(-(2**63), 2**63 - 1), st.integers(0, 65535), st.booleans(), st.booleans()
)


@given(pings | everything | numbers | st.just(Nothing()))
def test_the_size_is_known_to_be_the_length_of_the_bytes(message: Message) -> None:
    """Whether or not the bytes are made."""
    assert message.encoded_size() == len(message.encode())


@pytest.mark.parametrize("message", [Numbers(early=True, number=-1, node=2, late=False, later=True), Nothing()])
def test_the_size_of_fixed_fields_is_known_without_the_bytes(message: Message, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are not made."""
    monkeypatch.delattr(Message, "encode")
    assert message.encoded_size() in {13, 1}


@pytest.mark.parametrize(
    ("field", "value"), [("number", 2**63), ("number", 1.0), ("node", -1), ("early", 1), ("later", None)]
)
def test_a_value_that_does_not_fit_a_fixed_field_has_no_size(field: str, value: object) -> None:
    """The error is that of encoding it, and names the field."""
    values = {"early": False, "number": 1, "node": 1, "late": False, "later": False, field: value}
    wrong = Numbers(**values)  # type: ignore[arg-type]  # the mistake under test
    with pytest.raises(ValueError, match=rf"a NUMBERS cannot be sent.*: {field} = {value!r}"):
        wrong.encoded_size()


def test_bits_and_optional_fields_share_a_byte() -> None:
    """The byte stands where the first of them is declared; a mask puts a bit where a published format has it."""
    message = Noted(1, Place(2, 3), 0, urgent=True)
    assert message.encode() == bytes([4, 0, 1, 0, 2, 0, 3, 0, 1])
    encoded = Everything(
        1, 2, 0.5, "", b"", b"", Mood.BAD, 3, Place(4, 5), (), (), True, None, None, (), Ping(1, ""), last=True
    )
    assert encoded.encode()[1] == 0x80


@pytest.mark.parametrize("number", [-1, 2**32])
def test_a_value_that_does_not_fit_is_an_error_that_names_the_field(number: int) -> None:
    """No message is sent cut short."""
    with pytest.raises(ValueError, match=rf"a PING cannot be sent, .*: number = {number}:"):
        Ping(number, "").encode()


@given(st.binary(max_size=40))
def test_no_bytes_do_worse_than_a_decode_error(data: bytes) -> None:
    """Bytes from anyone are a message or a DecodeError, nothing else."""
    try:
        message = MESSAGES.decode(data)
    except DecodeError:
        return
    assert MESSAGES.decode(message.encode()).encode() == message.encode()


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "1 bytes expected"),
        (b"\x07", "no message has tag 7"),
        (b"\x01\x00\x00", "4 bytes expected"),
        (b"\x01\x00\x00\x00\x00\x01\xff", "not UTF-8"),
        (Ping(1, "").encode() + b"!", "1 bytes left over"),
        (b"\x02" * 6 + Ping(1, "").encode(), "nested deeper"),
    ],
)
def test_malformed_bytes_say_what_is_wrong(data: bytes, why: str) -> None:
    """A peer's mistake is named."""
    with pytest.raises(DecodeError, match=why):
        MESSAGES.decode(data)


def test_messages_cannot_be_changed() -> None:
    """All receivers of a broadcast share one object; `replace` makes another."""
    ping = Ping(1, "a")
    with pytest.raises(FrozenInstanceError):
        ping.number = 2  # type: ignore[misc]  # that is the point
    with pytest.raises((AttributeError, TypeError)):
        ping.extra = 2  # type: ignore[attr-defined]  # that is the point
    assert replace(ping, number=2) == Ping(2, "a")


@given(everything, everything)
def test_a_message_with_other_values_in_some_fields(left: Everything, right: Everything) -> None:
    """As `replace` makes it; the message itself stays as it was."""
    before = replace(left)
    assert left.replaced(share=right.share, first=right.first) == replace(left, share=right.share, first=right.first)
    assert left == before


def test_replaced_names_what_is_no_field() -> None:
    """Nothing is taken silently."""
    with pytest.raises(TypeError, match="a Ping has no field nummer"):
        Ping(1, "a").replaced(nummer=2)


def test_replaced_checks_what_the_class_checks() -> None:
    """A message whose class refuses values refuses them here, too."""

    class Even(Message, tag=9):
        """A number that is checked."""

        number: U8

        def __post_init__(self) -> None:
            if self.number % 2:
                raise ValueError("odd")

    assert Even(2).replaced(number=4) == Even(4)
    with pytest.raises(ValueError, match="odd"):
        Even(2).replaced(number=3)


@pytest.mark.parametrize(
    ("annotation", "why"),
    [
        (list[int], r"field x: whoever receives a list\[int\] could change it .* write tuple\[T, ...\]"),
        (dict, "field x: whoever receives a dict could change it"),
        (set[int], "could change it"),
        (bytearray, "could change it"),
        (tuple[tuple[list[int], ...], ...], "could change it"),
        (list[int] | None, "could change it"),
        (Annotated[list[int], By(lambda _, __: None, lambda _: [])], "could change it"),
        (Changeable, r"could change it for everybody else: write @dataclass\(frozen=True\)"),
        (Holder, r"whoever receives a list\[int\] could change it"),
        (Pair, r"whoever receives a dict\[int, int\] could change it"),
        (OwnList, "whoever receives a OwnList could change it"),
        (Writes, "could change it for everybody else: make it a frozen dataclass"),
        (Labelled, "could change it for everybody else: make it a frozen dataclass"),
        (Annotated[Any, By(lambda _, __: None, lambda _: None)], "could be anything"),
        (int, "field x: int does not say how many bytes it takes: write U8, U16, U32 or I64"),
        (object, "field x: object cannot travel: write U8"),
        (tuple[int, str], r"cannot travel: write tuple\[T, ...\], or a NamedTuple"),
    ],
)
def test_fields_that_cannot_travel_or_can_be_changed_are_refused(annotation: Any, why: str) -> None:
    """They are refused when the class is made, with what to write instead."""
    with pytest.raises(FieldError, match=why):
        made({"x": annotation}, tag=9)


def test_a_shape_belongs_to_its_own_field() -> None:
    """Another field of the same functions may say otherwise, or nothing."""
    kinds = [Annotated[int, By(Writer.u8, Reader.u8, shape=shape)] for shape in (None, number("B"), {"kind": "text"})]
    assert [kind.__metadata__[0].shape for kind in kinds] == [None, number("B"), {"kind": "text"}]  # type: ignore[attr-defined]


def test_a_notation_can_only_name_fields() -> None:
    """A wrong one is found when the class is made."""
    with pytest.raises(ValueError, match=r"names hop, which is not a field; there is hops"):
        made({"hops": U8}, notation="{hop}")


def test_a_notation_leaves_out_what_is_not_there() -> None:
    """Bits that are not set go, and so do words with a question mark that are zero."""
    assert Noted(1, Place(2, 3), 4, urgent=True).describe(Names()) == "NOTED n1 at=(x=2 y=3) n=4 urgent"
    assert Noted(1, Place(2, 3), 0, urgent=False).describe(Names()) == "NOTED n1 at=(x=2 y=3)"


def test_three_dots_in_a_notation_are_all_other_fields() -> None:
    """In their order, each as without a notation; dots within a word are text."""

    class Rest(Message, tag=9, notation="b={b} ... x{a}..."):
        """Five fields, of which two are named."""

        urgent: bool
        a: U8
        b: U8
        c: U8
        content: Message

    assert Rest(True, 1, 2, 3, Ping(4, "p")).describe(Names()) == (
        "REST b=2 urgent c=3 content=(PING number=4 name=p) x1..."
    )


def test_tags_are_unique_in_a_set() -> None:
    """Two messages of one tag are a mistake of ours, found when the set is made; the same message twice is none."""

    class Pong(Message, tag=1):
        """Another message of that tag."""

    with pytest.raises(ValueError, match="Pong and Ping share tag 1"):
        MessageSet([Ping, Pong])
    assert list(MessageSet([Ping, Ping])) == [Ping]


@pytest.mark.parametrize("tag", [-1, 256])
def test_a_tag_is_a_byte(tag: int) -> None:
    """Another one is refused when the class is made."""
    with pytest.raises(TypeError, match=f"tag {tag} is not between 0 and 255"):
        made({}, tag=tag)


class Loose(Message, tag=9):
    """Fields whose values Python does not look at."""

    path: tuple[U8, ...] = ()
    data: bytes = b""
    long: LongBytes = b""
    text: str = ""
    flag: bool = bit(0x01, default=False, kw_only=True)
    place: Place | None = None
    wanted: Filter | None = None
    inside: Message | None = None


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("path", [1, 2]),
        ("data", bytearray(b"x")),
        ("long", bytearray(b"x")),
        ("text", b"x"),
        ("text", "\ud800"),
        ("flag", [1]),
        ("flag", 1),
        ("place", Changeable(3)),
        ("wanted", [Filter()]),
        ("inside", Changeable(3)),
    ],
)
def test_a_value_of_another_type_than_its_field_is_not_sent(field: str, value: object) -> None:
    """Receivers could change it for each other, or would see another one than over a socket."""
    with pytest.raises(ValueError, match=f"a LOOSE cannot be sent, .*: {field} = "):
        Loose(**{field: value}).encode()  # type: ignore[arg-type]  # the mistake under test


def test_a_message_has_no_slots_of_its_own() -> None:
    """It would be no frozen dataclass, and could be changed."""
    with pytest.raises(TypeError, match="Bad: a message has fields with types, and no __slots__ of its own"):
        new_class("Bad", (Message,), {"tag": 1}, lambda body: body.update(__slots__=("x",)))


class Lists(Message, tag=5):
    """What has a count before it."""

    path: tuple[U16, ...] = ()
    data: bytes = b""
    text: str = ""
    longest: LongBytes = b""


@pytest.mark.parametrize(
    ("message", "hint"),
    [
        (
            Lists(path=tuple(range(300))),
            r"path = \(0, 1, .{1,60}\.\.\.: 300 values are too many: .* declare LongTuple\[T\]",
        ),
        (
            Lists(data=b"x" * 256),
            r"data = b'x{1,60}\.\.\.: 256 bytes are too many: bytes hold at most 255: declare LongByt",
        ),
        (Lists(text="x" * 256), r"text = 'x{1,60}\.\.\.: 256 bytes are too many: a str holds at most 255 of UTF-8"),
        (Lists(longest=b"x" * 65536), r"longest = .*: 65536 bytes are too many: LongBytes hold at most 65535"),
    ],
)
def test_what_is_too_long_is_reported_with_its_limit_and_the_longer_type(message: Lists, hint: str) -> None:
    """And with the message and the field, of whose value the beginning is shown."""
    with pytest.raises(ValueError, match=rf"a LISTS cannot be sent, because a value does not fit its field: {hint}"):
        message.encode()


class Perhaps(Message, tag=77):
    """A record of numbers alone, which may be absent."""

    place: Place | None
    again: Place | None


def test_an_optional_record_of_numbers_may_be_absent() -> None:
    """Its bit says so; what is no such record is refused as elsewhere."""
    messages = MessageSet((Perhaps,))
    for perhaps in (Perhaps(None, None), Perhaps(None, Place(1, 2)), Perhaps(Place(3, 4), None)):
        assert messages.decode(perhaps.encode()) == perhaps
    with pytest.raises(ValueError, match="of type Place"):
        Perhaps("no", None).encode()  # type: ignore[arg-type]  # on purpose
