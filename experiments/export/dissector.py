"""Writes a Lua dissector for Wireshark from the messages that agents declare.

A field's bytes follow from its type (`messages.octets`). Each agent's table describes its messages to `dissector.lua`,
for the frames of its own PAN. A filter begins with a message's type; a class, then a tag, distinguishes those that
share one. Names are untrusted, and Wireshark runs the file: each name is a Lua string with every unusual byte as a
number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from roambus.experiments.export.capture import agent_name, pan_of
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.messages.octets import (
    BitText,
    Blob,
    Enumerated,
    Fields,
    Fixed,
    Flags,
    Inner,
    Number,
    Padding,
    Repeated,
    Shape,
    Tagged,
    Text,
)

_SAME_FOR_ALL = Path(__file__).with_name("dissector.lua")
_NO_KEY = re.compile(r"[^a-z0-9]+")
"""Characters not allowed in a lower-case filter name."""
_PLAIN = re.compile(r"[ !#-\[\]-~]*")
"""Printable ASCII without quotation mark and backslash, literal in a Lua string."""
_BARE: dict[type[Shape], str] = {Text: "text", Padding: "padding", BitText: "bittext"}


def dissector(agents: Mapping[str, type[Agent]]) -> Iterator[str]:
    """Return a dissector's lines for these agents, by their references."""
    # A name comes from a file, and a line end in it would end the comment: what follows would be code.
    names = ", ".join(_lua(agent_name(one)) for one in agents)
    yield f"-- Dissects what these agents of roambus say: {names}. It was generated from their messages.\n"
    yield "-- Use it by: tshark -X lua_script:FILE -r CAPTURE, or put it into Wireshark's folder of plugins.\n\n"
    yield _SAME_FOR_ALL.read_text(encoding="utf-8")
    for reference, agent in agents.items():
        name = agent_name(reference)
        yield f"\nregister({_lua(_description(name, list(agent.messages)))})\n"


def _description(name: str, messages: Sequence[type[Message]]) -> dict[str, Any]:
    """Return an agent's table: its messages by tag, their first byte."""
    keys = _keys(messages)
    by_tag = {cls.tag: _message(cls, key) for cls, key in zip(messages, keys, strict=True)}
    return {"name": name, "key": _key(name), "pan": pan_of(name), "messages": by_tag}


def _message(cls: type[Message], key: str) -> dict[str, Any]:
    """Return a message's table; without its own type it shows its payload's."""
    kind = _type(cls)
    known = {} if kind is None else {"type": kind}
    return {"class": cls.__name__, "key": key, **known, "shape": _described(cls.shape_of_fields())}


def _keys(messages: Sequence[type[Message]]) -> list[str]:
    """Return messages' filter prefixes: the type, or the class if types are shared."""
    types = [_key(_type(cls) or cls.__name__) for cls in messages]
    own = [_key(cls.__name__) for cls in messages]
    chosen = [kind if types.count(kind) == 1 else cls for kind, cls in zip(types, own, strict=True)]
    return [
        one if chosen.count(one) == 1 and one not in {"tag", "type", "raw", "malformed"} else f"{one}_{cls.tag}"
        for one, cls in zip(chosen, messages, strict=True)
    ]


def _type(cls: type[Message]) -> str | None:
    """Return the class's type; None if each message has that of its payload."""
    name: object = cls.message_type
    return name if isinstance(name, str) else None


def _key(name: str) -> str:
    return _NO_KEY.sub("_", name.lower()).strip("_") or "message"


def _described(shape: Shape) -> dict[str, Any]:
    """Return the shape as a Lua table with a reader in `dissector.lua`; an unknown one is opaque."""
    match shape:
        case Number(code):
            return {"kind": "number", "code": code}
        case Enumerated(names):
            return {"kind": "enumerated", "names": list(names)}
        case Blob(count):
            return {"kind": "blob", "code": count.code}
        case Fixed(size):
            return {"kind": "fixed", "size": size}
        case Inner(tags):
            return {"kind": "inner", "tags": list(tags)}
    return _described_compound(shape)


def _described_compound(shape: Shape) -> dict[str, Any]:
    """Describe shapes that hold others, and those without content."""
    match shape:
        case Repeated(item, count):
            return {"kind": "repeated", "code": count.code, "item": _described(item)}
        case Fields(fields):
            named = [{"name": _key(name) if name else "", "shape": _described(one)} for name, one in fields]
            return {"kind": "fields", "fields": named}
        case Flags(flags):
            masks = [{"name": _key(one.name), "mask": one.mask} for one in flags]
            shapes = [{} if one.shape is None else {"shape": _described(one.shape)} for one in flags]
            return {"kind": "flags", "flags": [{**mask, **known} for mask, known in zip(masks, shapes, strict=True)]}
        case Tagged(cases):
            return {"kind": "tagged", "cases": {tag: _described(one) for tag, one in cases}}
    return {"kind": _BARE.get(type(shape), "opaque")}


def _lua(value: Any) -> str:
    """Return the value in Lua: tables, lists, strings and numbers."""
    match value:
        case dict():
            return "{" + ", ".join(f"[{_lua(key)}] = {_lua(one)}" for key, one in value.items()) + "}"
        case list():
            return "{" + ", ".join(map(_lua, value)) + "}"
        case str():
            # A byte that is no plain character is written as its number.
            content = value.encode(errors="replace")
            text = "".join(chr(byte) if _PLAIN.fullmatch(chr(byte)) else f"\\{byte:03}" for byte in content)
            return f'"{text}"'
    return str(value)
