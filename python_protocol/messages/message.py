"""Messages, which nodes send each other: classes with a tag and typed fields (`messages.fields`).

`class Gossip(Message, tag=1, notation="{notification} hops={hops}")` becomes a frozen dataclass with slots: on the
embedded radio all receivers of a broadcast get one object, and runs make millions. Bytes, size and text follow from the
tag, unique in the agent's set, and the fields in order; a class with its own `write` and `read` has a published format.
The size is that of the bytes, computed where the layout can.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import Field, dataclass, fields
from typing import Any, ClassVar, Self, dataclass_transform

from roambus.python_protocol.messages.fields import OTHERS, U16, FieldType, Names, bit
from roambus.python_protocol.messages.layout import FixedSize, Layout
from roambus.python_protocol.messages.octets import DecodeError, Reader, Writer, wrong_type


@dataclass_transform(frozen_default=True, field_specifiers=(bit,))
class _MessageClass(type):
    """Makes each subclass of `Message` a frozen dataclass with slots and a layout."""

    def __new__(
        mcs, class_name: str, bases: tuple[type, ...], namespace: dict[str, Any], **about: Any
    ) -> _MessageClass:
        """Take `about`: tag, name and notation in the class's head."""
        cls = super().__new__(mcs, class_name, bases, namespace)
        if not bases or "__dataclass_fields__" in namespace:  # the second class that dataclass makes for its slots
            return cls
        if "__slots__" in namespace:
            raise TypeError(f"{class_name}: a message has fields with types, and no __slots__ of its own")
        made: Any = dataclass(frozen=True, slots=True)(cls)
        made.take_in(**about)
        return made  # type: ignore[no-any-return]  # dataclass makes it of the same metaclass

    def __init__(cls, class_name: str, bases: tuple[type, ...], namespace: dict[str, Any], **_: Any) -> None:
        super().__init__(class_name, bases, namespace)


class Message(metaclass=_MessageClass):
    """Base of all messages; one without a tag is never sent."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    tag: ClassVar[int]
    message_type: ClassVar[str]
    """The name in traces and transcripts, as in the paper: "RREQ", "BMIG"."""
    _head: ClassVar[bytes]
    """The tag as the byte with which the message begins."""
    _layout: ClassVar[Layout]
    _fixed: ClassVar[FixedSize | None]
    _members: ClassVar[Sequence[tuple[str, Callable[[Any], Any], Callable[[Any, Any], None]]]]
    """Each field's name, and functions that read and set its slot, also frozen."""
    _notation: ClassVar[str] = OTHERS

    @classmethod
    def take_in(cls, tag: int | None = None, name: str | None = None, notation: str | None = None) -> None:
        """Take the class's head; `name` is the class name in capitals unless given.

        Raise TypeError for a tag that is no byte, a field that cannot travel, or an own `encode` or `encoded_size`;
        ValueError for a wrong notation.
        """
        for method in ("encode", "encoded_size"):
            if method in vars(cls):
                raise TypeError(f"{cls.__name__}.{method} replaces what the size on the air is found by: write `write`")
        if tag is not None:
            if not 0 <= tag <= 255:
                raise TypeError(f"{cls.__name__}: tag {tag} is not between 0 and 255")
            cls.tag, cls._head = tag, bytes([tag])
            if "message_type" not in vars(cls):
                cls.message_type = name or cls.__name__.upper()
        if notation is not None:
            cls._notation = notation
        cls._layout = Layout(cls, cls._notation)
        cls._fixed = None if cls.write is not Message.write else cls._layout.fixed_size()
        members = ((field.name, getattr(cls, field.name)) for field in fields(cls))
        cls._members = [(name, member.__get__, member.__set__) for name, member in members]

    def replaced(self, **changes: Any) -> Self:
        """Return the message with other values in some fields; raise TypeError for an unknown name.

        It takes half the time of `dataclasses.replace`: forwarding nodes do little else.
        """
        # The slots are set one by one, past the constructor, whose arguments would have to be sorted by name again.
        made = object.__new__(type(self))
        for name, value, put in self._members:
            put(made, changes.pop(name) if name in changes else value(self))
        if changes:
            raise TypeError(f"a {type(self).__name__} has no field {', '.join(changes)}")
        if hasattr(made, "__post_init__"):
            made.__post_init__()
        return made

    def write(self, writer: Writer) -> None:
        """Append the fields, without the tag."""
        for write in self._layout.writers:
            write(writer, self)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Read the bytes of `write`; raise DecodeError."""
        return cls(**cls._layout.read(reader))

    def encode(self) -> bytes:
        """Return the bytes on the air, tag first; raise ValueError for a value that does not fit."""
        writer = Writer(self._head)
        try:
            self.write(writer)
        except struct.error as error:
            field = self._layout.unfit_field(self) or repr(self)
            text = f"a {self.message_type} cannot be sent, because a value does not fit its field: {field}: {error}"
            raise ValueError(text) from None
        return writer.getvalue()

    def encoded_size(self) -> int:
        """Return the length of `encode()`, without bytes if the size is fixed; raise as that does."""
        fixed = self._fixed
        if fixed is not None:
            values = fixed.values(self)
            if tuple(map(type, values)) == fixed.types:
                try:
                    fixed.pack(*values)
                except struct.error:
                    pass  # it is told below which field it is
                else:
                    return fixed.size
        return len(self.encode())

    def describe(self, names: Names) -> str:
        """The message as transcripts write it."""
        return f"{self.message_type} {self._layout.notation.show(self, names)}".rstrip()

    @classmethod
    def as_field(cls, *others: type[Message]) -> FieldType:
        """Return the type of a field for a message of these classes; of any if this is `Message`."""
        return Inner((cls, *others))


class Inner:
    """The type of a field that holds a message with its tag."""

    holds_message = True
    """Shown in parentheses without a notation."""

    def __init__(self, classes: tuple[type[Message], ...]) -> None:
        self.classes = classes

    def write(self, writer: Writer, value: Message) -> None:
        """Append tag and fields."""
        if not isinstance(value, self.classes):
            raise wrong_type(value, self.classes[0])
        writer.data += value._head
        value.write(writer)

    def read(self, reader: Reader) -> Message:
        """Take a message of the reader's set off the front; raise DecodeError."""
        message: Message = reader.message()
        if Message not in self.classes and not isinstance(message, self.classes):
            raise DecodeError(f"a {message.message_type} is not allowed here")
        return message

    def show(self, value: Message, names: Names) -> str:
        """As the message describes itself."""
        return value.describe(names)


class MessageSet:
    """The messages of one protocol, by tag."""

    def __init__(self, classes: Iterable[type[Message]]) -> None:
        """Raise ValueError if two classes share a tag, TypeError if one has none."""
        self._classes: dict[int, type[Message]] = {}
        for cls in classes:
            if not hasattr(cls, "tag"):
                raise TypeError(f"{cls.__name__} has no tag: write class {cls.__name__}(Message, tag=...)")
            known = self._classes.setdefault(cls.tag, cls)
            if known is not cls:
                raise ValueError(f"{cls.__name__} and {known.__name__} share tag {cls.tag}")

    def __iter__(self) -> Iterator[type[Message]]:
        return iter(self._classes.values())

    def __contains__(self, cls: type[Message]) -> bool:
        return self._classes.get(getattr(cls, "tag", -1)) is cls

    def read(self, reader: Reader) -> Message:
        """Read a message or fragment off `reader`; raise DecodeError."""
        tag = reader.u8()
        cls = self._classes.get(tag, Fragment if tag == Fragment.tag else None)
        if cls is None:
            raise DecodeError(f"no message has tag {tag}")
        return cls.read(reader)

    def decode(self, data: bytes) -> Message:
        """Return the message of `data`; raise DecodeError for other or left over bytes."""
        reader = Reader(data, self)
        message = self.read(reader)
        reader.finish()
        return message


class Fragment(Message, tag=0xFE, notation="{datagram}.{offset}/{size}"):
    """A piece of a message longer than a frame; the driver makes and joins pieces.

    The whole is the `datagram`, numbered as in RFC 4944, section 5.3.
    """

    datagram: U16
    size: U16
    """Bytes of the whole message."""
    offset: U16
    piece: bytes
