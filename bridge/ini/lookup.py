"""Looks keys up in an ini, and builds the settings classes of the scenario from what they declare.

A value is looked for by the full path of its key, in which the number of the node stands instead of `node[*]`. It is
read once, by the declaration of its key; whatever is wrong with it is a UserError that names file, line and key.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from functools import cached_property
from itertools import chain
from random import Random
from typing import Any, TypeVar

from roambus.bridge.errors import UserError
from roambus.bridge.ini.keys import IGNORED_OBJECT_OPTIONS, IGNORED_OPTIONS, PER_MANAGER, PER_NODE, SHARED
from roambus.bridge.ini.syntax import Entry, Ini
from roambus.bridge.keys.key import EVERY_NODE, Key, declared_keys
from roambus.bridge.keys.values import Uniform
from roambus.bridge.scenario.mobility import MANAGER
from roambus.bridge.scenario.network import NetworkSettings, RunSettings
from roambus.python_protocol.roles import NodeId

S = TypeVar("S")

_SEED = declared_keys(RunSettings)["seed"]
_NODES = declared_keys(NetworkSettings)["nodes"]


class Lookup:
    """The values of an ini's keys, typed, with Castalia's defaults. Every method raises UserError."""

    def __init__(self, ini: Ini) -> None:
        self._ini = ini
        self._found: dict[str, Any] = {}

    def value(self, key: Key, node: NodeId | None = None) -> Any:
        """The value of a key; if every node has the key, the value of `node`, or the one that all nodes share."""
        if not key.is_per_node:
            return self._value(key, key.path)
        return self._shared(key) if node is None else self._of_node(key, node)

    def build(self, settings: type[S], node: NodeId | None = None, **given: Any) -> S:
        """An instance of a settings class: `given` fields as they are, the others from the keys that they declare."""
        declared = {name: key for name, key in declared_keys(settings).items() if name not in given}
        return settings(**given, **{name: self.value(key, node) for name, key in declared.items()})

    @cached_property
    def network(self) -> NetworkSettings:
        """The settings of the network as a whole."""
        return self.build(NetworkSettings)

    @cached_property
    def nodes(self) -> range:
        """The ids of all nodes."""
        return range(self.value(_NODES))

    def error(self, path: str, problem: str, node: NodeId | None = None) -> UserError:
        """A UserError that names file and key, and the line if the key is set; a node's own key if `node` is given."""
        entry = self._ini.find(_at(path, node or 0))
        return self._ini.error(entry, problem) if entry else UserError(f"{self._ini.path}: {_generic(path)}: {problem}")

    def check_keys(self) -> None:
        """Raises UserError for a key of the ini that has no meaning."""
        paths = [path for _, path in self._known()]
        for entry in self._ini.entries:
            if not _is_ignored(entry) and not any(entry.pattern.matches(path) for path in paths):
                raise self._ini.error(entry, _unknown_key(entry.key))

    def check_values(self) -> None:
        """Raises UserError for a value that cannot be read, or is not supported."""
        for key, path in self._known():
            self._value(key, path)

    def _known(self) -> Iterator[tuple[Key, str]]:
        """Every key that has a meaning in this ini, with its full path."""
        yield from ((key, key.path) for key in chain(*SHARED.values()))
        for node in self.nodes:
            manager = PER_MANAGER[self.value(MANAGER, node)]
            yield from ((key, _at(key.path, node)) for key in chain(*PER_NODE.values(), manager))

    def _of_node(self, key: Key, node: NodeId) -> Any:
        path = _at(key.path, node)
        value = self._value(key, path)
        return self._draw(value, path) if isinstance(value, Uniform) else value

    def _shared(self, key: Key) -> Any:
        first = self._of_node(key, 0)
        for node in self.nodes:
            if self._of_node(key, node) != first:
                raise self.error(key.path, "must be the same for all nodes as for node 0", node)
        return first

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
            raise self.error(
                path,
                f"{text}{default} is not known to the embedded radio ({key.doc}); it knows {', '.join(key.choices())}",
            )
        return value

    def _not_set(self, key: Key, path: str) -> UserError:
        close = difflib.get_close_matches(path, [entry.key for entry in self._ini.entries], n=1)
        hint = f"; did you mean it by {close[0]}?" if close else ""
        return UserError(f"{self._ini.path}: {_generic(path)} is not set ({key.doc}){hint}")

    def _draw(self, uniform: Uniform, path: str) -> float:
        return Random(f"{path}/{self.value(_SEED)}").uniform(uniform.low, uniform.high)


def _is_ignored(entry: Entry) -> bool:
    if "." not in entry.key:
        return entry.key in IGNORED_OPTIONS
    name = entry.key.rpartition(".")[2]
    return name in IGNORED_OBJECT_OPTIONS or re.fullmatch(r"rng-\d+", name) is not None


def _at(path: str, node: NodeId) -> str:
    """The path of the key at that node."""
    return path.replace(EVERY_NODE, f"node[{node}]")


def _generic(path: str) -> str:
    return re.sub(r"node\[[^\]]*\]", EVERY_NODE, path)


def _unknown_key(key: str) -> str:
    close = difflib.get_close_matches(_generic(key), _all_keys(), n=1)
    hint = f"; did you mean {close[0]}?" if close else ""
    return f"unknown key, or no node or module that it could concern{hint}"


def _all_keys() -> list[str]:
    keys = chain(*SHARED.values(), *PER_NODE.values(), *PER_MANAGER.values())
    return [key.path for key in keys] + sorted(IGNORED_OPTIONS)
