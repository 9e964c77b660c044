"""Writes a Lua dissector for Wireshark from the messages that agents declare.

A field's bytes follow from its type (`messages.layout`). Each agent's table describes its messages to `dissector.lua`,
for the frames of its own PAN. A filter begins with a message's type; a class, then a tag, distinguishes those that
share one. Names are untrusted, and Wireshark runs the file: each name is a Lua string with every unusual byte as a
number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from roambus.extensions.export.capture import agent_name, pan_of
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.messages.fields import CustomCodec, Integer, Maybe, Repeated
from roambus.python_protocol.messages.layout import Declared, Enumeration, Layout, Record, groups, masks
from roambus.python_protocol.messages.message import Inner, Message
from roambus.python_protocol.messages.octets import Shape, number, repeated

_SAME_FOR_ALL = Path(__file__).with_name("dissector.lua")
_NO_KEY = re.compile(r"[^a-z0-9]+")
"""Characters not allowed in a lower-case filter name."""
_PLAIN = re.compile(r"[ !#-\[\]-~]*")
"""Printable ASCII without quotation mark and backslash, literal in a Lua string."""


def dissector(agents: Mapping[str, type[Agent]]) -> Iterator[str]:
    """Return a dissector's lines for these agents, by their references."""
    # A name comes from a file, and a line end in it would end the comment: what follows would be code.
    names = ", ".join(_lua(agent_name(agent)) for agent in agents)
    yield f"-- Dissects what these agents of roambus say: {names}. It was generated from their messages.\n"
    yield "-- Use it by: tshark -X lua_script:FILE -r CAPTURE, or put it into Wireshark's folder of plugins.\n\n"
    yield _SAME_FOR_ALL.read_text(encoding="utf-8")
    for reference, agent in agents.items():
        name = agent_name(reference)
        yield f"\nregister({_lua(_description(name, list(agent.messages)))})\n"


def _description(name: str, messages: Sequence[type[Message]]) -> dict[str, Any]:
    keys = _keys(messages)
    by_tag = {cls.tag: _message(cls, key) for cls, key in zip(messages, keys, strict=True)}
    return {"name": name, "key": _key(name), "pan": pan_of(name), "messages": by_tag}


def _message(cls: type[Message], key: str) -> dict[str, Any]:
    kind = _type(cls)
    known = {} if kind is None else {"type": kind}
    return {"class": cls.__name__, "key": key, **known, "shape": _shape(cls)}


def _keys(messages: Sequence[type[Message]]) -> list[str]:
    """Return messages' filter prefixes: the type, or the class if types are shared."""
    types = [_key(_type(cls) or cls.__name__) for cls in messages]
    own = [_key(cls.__name__) for cls in messages]
    chosen = [kind if types.count(kind) == 1 else cls for kind, cls in zip(types, own, strict=True)]
    return [
        name if chosen.count(name) == 1 and name not in {"tag", "type", "raw", "malformed"} else f"{name}_{cls.tag}"
        for name, cls in zip(chosen, messages, strict=True)
    ]


def _type(cls: type[Message]) -> str | None:
    name: object = cls.message_type
    return name if isinstance(name, str) else None


def _key(name: str) -> str:
    return _NO_KEY.sub("_", name.lower()).strip("_") or "message"


def _shape(cls: type[Message]) -> Shape:
    """Return the shape of the bytes after the tag; a class with its own `read` declares it as `shape`."""
    is_own = cls.read.__func__ is not Message.read.__func__ or cls.write is not Message.write  # type: ignore[attr-defined]  # of methods of classes
    return _declared(cls) if is_own else _fields(cls._layout)


def _fields(layout: Layout) -> Shape:
    named: list[Shape] = []
    for group in groups(layout.declared):
        if group[0].sort == "bit":
            named.append({"name": "", "shape": {"kind": "flags", "flags": [_flag(*mask) for mask in masks(group)]}})
        else:
            named += [{"name": _key(field.name), "shape": _described(field.kind)} for field in group]
    return {"kind": "fields", "fields": named}


def _flag(field: Declared, mask: int) -> Shape:
    """Return a bit, with the shape of the optional value that it marks."""
    own = {"shape": _described(field.kind)} if field.is_optional else {}
    return {"name": _key(field.name), "mask": mask, **own}


def _described(kind: Any) -> Shape:
    """Return the shape of a field's type, which has a reader in `dissector.lua`."""
    match kind.kind if isinstance(kind, Maybe) else kind:
        case Integer(code):
            return number(code)
        case Repeated(item, count):
            return repeated(_described(item), count.code)
        case Record():
            return _fields(kind.layout)
        case Enumeration():
            return {"kind": "enumerated", "names": kind.names}
        case Inner():
            tags = [getattr(cls, "tag", None) for cls in kind.classes]  # a base of others stands for any message
            return {"kind": "inner", "tags": [] if None in tags else tags}
    return _declared(kind.cls if isinstance(kind, CustomCodec) else kind)


def _declared(kind: Any) -> Shape:
    """Return the shape that a type declares; one written by hand without it is opaque."""
    shape = getattr(kind, "shape", None)
    return shape if isinstance(shape, dict) else {"kind": "opaque"}


def _lua(value: Any) -> str:
    match value:
        case dict():
            return "{" + ", ".join(f"[{_lua(key)}] = {_lua(item)}" for key, item in value.items()) + "}"
        case list():
            return "{" + ", ".join(map(_lua, value)) + "}"
        case str():
            # A byte that is no plain character is written as its number.
            content = value.encode(errors="replace")
            text = "".join(chr(byte) if _PLAIN.fullmatch(chr(byte)) else f"\\{byte:03}" for byte in content)
            return f'"{text}"'
    return str(value)
