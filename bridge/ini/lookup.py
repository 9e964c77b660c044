"""Looks keys up in an ini, and checks them against `roambus.bridge.ini.keys`."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from functools import cached_property
from random import Random
from typing import Any

from roambus.bridge.errors import UserError
from roambus.bridge.ini import keys
from roambus.bridge.ini.keys import CHANNEL, IDEAL, NETWORK, NODE, OPTIONS, Key
from roambus.bridge.ini.syntax import Entry, Ini
from roambus.bridge.ini.values import Uniform
from roambus.python_protocol.roles import NodeId


class Lookup:
    """The values of an ini's keys, typed, with Castalia's defaults. Every method raises UserError."""

    def __init__(self, ini: Ini) -> None:
        self._ini = ini
        self._found: dict[str, Any] = {}

    def option(self, name: str) -> Any:
        """The value of one of OMNeT++'s options."""
        return self._value(OPTIONS.by_name[name], name)

    def network(self, name: str) -> Any:
        """The value of a key of the network."""
        return self._value(NETWORK.by_name[name], NETWORK.module + name)

    def channel(self, name: str) -> Any:
        """The value of a key of the wireless channel."""
        return self._value(CHANNEL.by_name[name], CHANNEL.module + name)

    def ideal(self, name: str) -> Any:
        """The value of a key of the ideal links."""
        return self._value(IDEAL.by_name[name], IDEAL.module + name)

    def node(self, node: NodeId, name: str) -> Any:
        """The value of a key of one node."""
        path = f"SN.node[{node}].{name}"
        value = self._value(self._node_key(node, name), path)
        return self._draw(value, path) if isinstance(value, Uniform) else value

    def shared(self, name: str) -> Any:
        """The value of a key that must be the same for all nodes."""
        first = self.node(0, name)
        for node in self.nodes:
            if self.node(node, name) != first:
                raise self.error(f"SN.node[{node}].{name}", "must be the same for all nodes as for node 0")
        return first

    @cached_property
    def nodes(self) -> range:
        """All nodes."""
        return range(self.network("numNodes"))

    def error(self, path: str, problem: str) -> UserError:
        """A UserError that names file and key, and the line if the key is set."""
        entry = self._ini.find(path)
        return self._ini.error(entry, problem) if entry else UserError(f"{self._ini.path}: {_generic(path)}: {problem}")

    def check_keys(self) -> None:
        """Every key of the ini has a meaning."""
        paths = [path for _, path in self._known()]
        for entry in self._ini.entries:
            if not _is_ignored(entry) and not any(entry.pattern.matches(path) for path in paths):
                raise self._ini.error(entry, _unknown_key(entry.key))

    def check_values(self) -> None:
        """Every key has a value that can be read and is supported."""
        for key, path in self._known():
            self._value(key, path)

    def _known(self) -> Iterator[tuple[Key, str]]:
        """Every key that has a meaning in this ini, with its full path."""
        for group in (OPTIONS, NETWORK, CHANNEL, IDEAL):
            yield from ((key, group.module + key.name) for key in group.keys)
        for node in self.nodes:
            manager = self.node(node, "MobilityManagerName")
            for key in (*NODE.keys, *keys.MOBILITY_MANAGERS[manager].keys):
                yield key, f"SN.node[{node}].{key.name}"

    def _node_key(self, node: NodeId, name: str) -> Key:
        if name in NODE.by_name:
            return NODE.by_name[name]
        return keys.MOBILITY_MANAGERS[self.node(node, "MobilityManagerName")].by_name[name]

    def _value(self, key: Key, path: str) -> Any:
        if path not in self._found:
            self._found[path] = self._read(key, path)
        return self._found[path]

    def _read(self, key: Key, path: str) -> Any:
        entry = self._ini.find(path)
        text = entry.value if entry else key.default
        if text is None:
            raise self._not_set(key, path)
        try:
            value = key.read(text)
        except ValueError as error:
            raise self.error(path, str(error)) from None
        if key.only and value not in key.only:
            default = "" if entry else ", the default,"
            raise self.error(path, f"{text}{default} is not known to the embedded radio ({key.doc}); {_choices(key)}")
        return value

    def _not_set(self, key: Key, path: str) -> UserError:
        close = difflib.get_close_matches(path, [entry.key for entry in self._ini.entries], n=1)
        hint = f"; did you mean it by {close[0]}?" if close else ""
        return UserError(f"{self._ini.path}: {_generic(path)} is not set ({key.doc}){hint}")

    def _draw(self, uniform: Uniform, path: str) -> float:
        return Random(f"{path}/{self.option('seed-set')}").uniform(uniform.low, uniform.high)


def _is_ignored(entry: Entry) -> bool:
    if "." not in entry.key:
        return entry.key in keys.IGNORED_OPTIONS
    name = entry.key.rpartition(".")[2]
    return name in keys.IGNORED_OBJECT_OPTIONS or re.fullmatch(r"rng-\d+", name) is not None


def _choices(key: Key) -> str:
    choices = [str(choice).lower() if isinstance(choice, bool) else str(choice) for choice in key.only]
    return f"it knows {', '.join(choices)}"


def _generic(path: str) -> str:
    return re.sub(r"node\[[^\]]*\]", "node[*]", path)


def _unknown_key(key: str) -> str:
    close = difflib.get_close_matches(_generic(key), _all_keys(), n=1)
    hint = f"; did you mean {close[0]}?" if close else ""
    return f"unknown key, or no node or module that it could concern{hint}"


def _all_keys() -> list[str]:
    groups = [OPTIONS, NETWORK, CHANNEL, IDEAL, NODE, *keys.MOBILITY_MANAGERS.values()]
    return [group.module + key.name for group in groups for key in group.keys] + sorted(keys.IGNORED_OPTIONS)
