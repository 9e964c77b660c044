"""Looks keys up in an ini: the known keys, and their values.

The scenario's modules declare the keys. Any other key, except OMNeT++'s reporting options, is an error, so that nothing
is silently ignored. A back-end may know more (`SimulatorKeys`): Castalia has keys and values that the embedded radio
lacks. Values are looked up by full path, with the node's number for `node[*]`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain, groupby, product
from pathlib import Path
from random import Random
from typing import Any, Protocol, TypeVar

from roambus.bridge.formats.ini.syntax import Entry, Ini
from roambus.bridge.keys import EVERY_NODE, Uniform
from roambus.bridge.mobility import registry
from roambus.bridge.mobility.registry import MANAGER
from roambus.bridge.scenario import definition, ideal, mac, macs, nodes, radio
from roambus.bridge.scenario.definition import NetworkSettings, RunSettings
from roambus.bridge.scenario.models import KINDS, PROPAGATIONS, RADIOS
from roambus.bridge.system.errors import UserError
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.settings import ANY, Setting, plain, settings_of

SHARED: dict[str, tuple[Setting, ...]] = {
    "The run and its network": definition.KEYS,
    "The wireless channel": (*radio.CHANNEL_KEYS, PROPAGATIONS.key),
    "Interference of a place": radio.INTERFERENCE_KEYS,
    "Measured links": ideal.MEASURED_KEYS,
    "Ideal links": ideal.KEYS,
    "ns-3": radio.NS3_KEYS,
    "Reception": (RADIOS.key,),
}
"""The keys that occur once in an ini, by subject."""

PER_NODE: dict[str, tuple[Setting, ...]] = {
    "Nodes": nodes.KEYS,
    "The radio": radio.KEYS,
    "The MAC and the routing": (macs.PROTOCOL, *mac.ROUTING_KEYS),
    "Mobility": registry.KEYS,
    "The application": nodes.APPLICATION_KEYS,
}
"""Every node's keys."""

PER_MANAGER: dict[str, tuple[Setting, ...]] = registry.MODEL_KEYS
"""A node's further keys, by mobility manager."""

IGNORED_OPTIONS = frozenset((
    "cmdenv-autoflush", "cmdenv-event-banners", "cmdenv-express-mode", "cmdenv-interactive",
    "cmdenv-log-prefix", "cmdenv-output-file", "cmdenv-performance-display", "cmdenv-redirect-output",
    "cmdenv-status-frequency", "cmdenv-stop-batch-on-error", "debug-on-errors", "description",
    "eventlog-file", "experiment-label", "fname-append-host", "load-libs", "measurement-label", "ned-path",
    "output-scalar-file", "output-scalar-file-append", "output-scalar-precision", "output-vector-file",
    "output-vector-file-append", "output-vector-precision", "print-undisposed", "record-eventlog",
    "replication-label", "result-dir", "user-interface", "warnings",
))  # fmt: skip
"""OMNeT++ options that affect only reporting. Others are refused: they could make Castalia's run another scenario."""

IGNORED_OBJECT_OPTIONS = frozenset((
    "bin-recording", "cmdenv-log-level", "module-eventlog-recording", "param-record-as-scalar",
    "result-recording-modes", "scalar-recording", "statistic-recording", "vector-buffer",
    "vector-record-eventnumbers", "vector-recording", "vector-recording-intervals",
))  # fmt: skip
"""Reporting options at the end of a path, such as `**.vector-recording`."""


CHOSEN_MODULES = (mac.MAC, mac.ROUTING, radio.CHANNEL)
"""Castalia's modules whose type an ini may choose."""

STACK = ("SN.wirelessChannel", f"SN.{EVERY_NODE}.Communication.", f"SN.{EVERY_NODE}.zCoor", "SN.field_z")
"""Keys of which a simulator may know more; the host must read all others itself."""

MOST_MISTAKES = 20
"""The most mistakes shown at once."""

SINGLE_MISTAKES = 2
"""More unknown keys of one module share a line."""

_UNKNOWN = "unknown key, or no node or module that it could concern"

S = TypeVar("S")

PER_MAC: dict[str, tuple[Setting, ...]] = macs.KEYS
"""A node's further keys, by MAC."""

_CHOSEN = (*PER_MANAGER.values(), *PER_MAC.values(), *chain(*(models.keys.values() for models in KINDS)))

KEYS = (*chain(*SHARED.values(), *PER_NODE.values(), *_CHOSEN),)
"""All keys; several managers, MACs or models share a path."""

_SEED = settings_of(RunSettings)["seed"]
_NODES = settings_of(NetworkSettings)["nodes"]


class WrongKeyError(ValueError):
    """An impossible value at `path`."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(problem)
        self.path = path


class SimulatorKey(Protocol):
    """A key declared by a simulator."""

    @property
    def default(self) -> str | None:
        """Its default; None if it must be set."""

    def check(self, text: str) -> None:
        """Raise ValueError for an invalid text."""


class SimulatorKeys(Protocol):
    """The simulator's keys beyond those declared here."""

    def declared(self, chosen: Callable[[str], str | None]) -> Mapping[str, SimulatorKey] | None:
        """The simulator's keys by full path; `chosen` is the ini's text at a path.

        None accepts any value. Raises WrongKeyError, UserError.
        """


class NoFurtherKeys:
    """No further keys, as for the embedded radio."""

    def declared(self, chosen: Callable[[str], str | None]) -> Mapping[str, SimulatorKey]:
        """No keys."""
        del chosen
        return {}


class AnyKeys:
    """An ini checked when its run was made, on any back-end."""

    def declared(self, chosen: Callable[[str], str | None]) -> None:
        """Whatever the ini says."""
        del chosen


class Lookup:
    """Typed values of an ini's keys, with Castalia's defaults; methods raise UserError.

    The ini's files lie in `folder`, unless `elsewhere` places them. A value refused here counts if `beyond` knows it
    and the host does not need it.
    """

    def __init__(
        self, ini: Ini, folder: Path, elsewhere: Mapping[str, Path] | None = None, beyond: SimulatorKeys | None = None
    ) -> None:
        self._ini = ini
        self._folder = folder
        self._elsewhere = elsewhere or {}
        self._beyond = beyond or NoFurtherKeys()
        self._found: dict[str, Any] = {}
        self._values: dict[tuple[str, str], Any] = {}
        self._replaced: dict[str, UserError] = {}
        """The mistakes in texts that the simulator refuses, by path."""

    def value(self, key: Setting, node: NodeId | None = None) -> Any:
        """The value of a key, of `node`, or the one that all nodes share, which is checked."""
        if EVERY_NODE not in key.name:
            return self._value(key, key.name)
        if node is not None:
            return self._of_node(key, node)
        first = self._of_node(key, 0)
        for other in self.nodes:
            differs = self._of_node(key, other) != first
            self.refuse(differs, key.name, "must be the same for all nodes as for node 0", other)
        return first

    def build(self, settings: type[S], node: NodeId | None = None, **given: Any) -> S:
        """Build a settings class from `given` fields and, for the others, its declared keys.

        `given` fields are not checked here.
        """
        keys = settings_of(settings).items()
        return settings(**given, **{name: self.value(key, node) for name, key in keys if name not in given})

    @cached_property
    def network(self) -> NetworkSettings:
        """The network's settings."""
        return self.build(NetworkSettings)

    @cached_property
    def nodes(self) -> range:
        """The ids of all nodes; of one where `check` refuses their number."""
        return range(self._chosen(_NODES) or 1)

    def _chosen(self, key: Setting, node: NodeId | None = None) -> Any:
        """The value of a key; None where `check` refuses it."""
        try:
            return self.value(key, node)
        except UserError:
            return None

    def file(self, key: Setting, node: NodeId | None = None) -> Path:
        """The file that a key names."""
        name: str = self.value(key, node)
        path = self._elsewhere.get(name, self._folder / name)
        self.refuse(not path.is_file(), key.name, f"there is no file {path}: name one beside the ini", node)
        return path

    @contextmanager
    def mistakes_of(self, path: str, node: NodeId | None = None) -> Iterator[None]:
        """Blame a ValueError in the block on the key at that path."""
        try:
            yield
        except ValueError as error:
            raise self.error(path, str(error), node) from None

    def error(self, path: str, problem: str, node: NodeId | None = None) -> UserError:
        """A UserError that names file, key and its line; `node` gives a node's own key."""
        entry = self._ini.find(_at(path, node or 0))
        return self._ini.error(entry, problem) if entry else UserError(f"{self._ini.path}: {_generic(path)}: {problem}")

    def refuse(self, wrong: object, path: str, problem: str, node: NodeId | None = None) -> None:
        """Raise `error` if anything is `wrong`."""
        if wrong:
            raise self.error(path, problem, node)

    def check(self, mistakes: Sequence[str] = (), *parts: Callable[[], Any]) -> list[Any]:
        """Return the values of `parts`; raise one UserError for all unknown keys and wrong or unsupported values.

        `mistakes` are known already.
        """
        return _all_or_raise(mistakes, chain(self._checks(), parts))[-len(parts) :]

    def _checks(self) -> Iterator[Callable[[], Any]]:
        known = [(key, path) for key, path in self._known() if self._is_there(key, path)]
        paths = [*(path for _, path in known), *self._possible()]
        checked = [entry for entry in self._ini.entries if self._declared is not None and not _is_ignored(entry.key)]
        unknown = [
            entry for entry in checked if not (self._beyond_path(entry) or any(map(entry.pattern.matches, paths)))
        ]
        yield from (partial(_raise, error) for error in self._replaced.values())
        yield from (partial(self._check_beyond, entry) for entry in checked)
        for _, group in groupby(sorted(unknown, key=_module), key=_module):
            yield partial(self._refuse_unknown, list(group), paths)
        yield from (partial(self._value, key, path) for key, path in known)
        yield from (partial(self._check_set, *declared) for declared in (self._declared or {}).items())
        yield partial(self._refuse_covered, paths, [entry for entry in checked if entry not in unknown])

    def _check_set(self, path: str, declared: SimulatorKey) -> None:
        if declared.default is None and self._ini.find(path) is None:
            raise UserError(f"{self._ini.path}: {_generic(path)} is not set, and has no default")

    def _refuse_covered(self, known: Sequence[str], entries: Sequence[Entry]) -> None:
        """Raise UserError for an entry that no path reaches, because an earlier and wider one has them all."""
        # By now all known paths have been looked up. A wider line at the end is a default, which need not count.
        unused = [entry for entry in entries if entry.line not in self._ini.used]
        paths = [*dict.fromkeys((*known, *(self._declared or ())))] if unused else []
        covered = ((entry, self._ini.covering(entry, paths)) for entry in unused)
        _all_or_raise((), (partial(self._refuse_later, *pair) for pair in covered if pair[1] is not None))

    def _refuse_later(self, entry: Entry, earlier: Entry | None) -> None:
        if earlier is not None:
            first = f"{earlier.key} in line {earlier.line} has all that it concerns, and the first match counts"
            raise self._ini.error(entry, f"this line has no effect: {first}: put it above that line")

    def check_files(self, unused: Sequence[str], backend: str) -> None:
        """Raise UserError for a file of an `unused` key, which this back-end does not read."""
        of_models = chain(*(models.files_of(self.value(models.key)) for models in KINDS))
        for key in (ideal.CONTACTS_FILE, ideal.LINKS_FILE, radio.TEMPORAL_FILE, radio.LOSSES_FILE, *of_models):
            is_ignored = key.name.startswith(tuple(unused)) and self.value(key)
            self.refuse(is_ignored, key.name, f"the back-end {backend} does not read this file: leave it out")

    def _check_beyond(self, entry: Entry) -> None:
        beyond = self._beyond_path(entry)
        if beyond is not None and self._declared:
            with self.mistakes_of(beyond):
                self._declared[beyond].check(entry.value)

    def _beyond_path(self, entry: Entry) -> str | None:
        return next((path for path in self._beyond_paths(entry) if entry.pattern.matches(path)), None)

    def _refuse_unknown(self, entries: Sequence[Entry], known: Sequence[str]) -> None:
        """Raise UserError for unknown keys of one module: a line each, or one line for many."""
        names = [key.name for key in KEYS] if self.is_limited else map(_generic, (*known, *(self._declared or ())))
        likely = [*dict.fromkeys(names), *sorted(IGNORED_OPTIONS)]
        _all_or_raise((), (partial(self._refuse_other, entry) for entry in entries))
        if len(entries) <= SINGLE_MISTAKES:
            hints = (f"{_UNKNOWN}{_meant(_generic(entry.key), likely)}" for entry in entries)
            raise UserError("\n".join(map(str, map(self._ini.error, entries, hints))))
        keys = ", ".join(f"{entry.key.rpartition('.')[2]} (line {entry.line})" for entry in entries[1:])
        raise self._ini.error(entries[0], f"{_UNKNOWN}; so are {keys}")

    def _refuse_other(self, entry: Entry) -> None:
        """Raise UserError for a key of a node beyond the last, of a model that is not chosen, or of another MAC."""
        number = re.search(r"\.node\[(\d+)", entry.key)
        if number and int(number[1]) not in self.nodes:
            last, count = self.nodes[-1], f"{_NODES.name} is {len(self.nodes)}"
            raise self._ini.error(entry, f"there is no node {number[1]}: {count}, so the last node is {last}")
        for models, name in ((kind, name) for kind in KINDS for name in kind.keys):
            own, what, keys = self._chosen(models.key), models.what, models.keys[name]
            if own and name != own and any(entry.pattern.matches(key.name) for key in keys):
                raise self._ini.error(entry, f"this is a key of the {what} {name}, and the {what} is {own}")
        for node, (name, keys) in product(self.nodes, PER_MAC.items()):
            own = self._chosen(macs.PROTOCOL, node)
            if own and name != own and any(entry.pattern.matches(_at(key.name, node)) for key in keys):
                raise self._ini.error(entry, f"this is a key of the MAC {name}, and the MAC of node {node} is {own}")

    def _known(self) -> Iterator[tuple[Setting, str]]:
        of_models = [models.keys[name] for models in KINDS if (name := self._chosen(models.key))]
        yield from ((key, key.name) for key in chain(*SHARED.values(), *of_models))
        for node in self.nodes:
            manager, own_mac = self._chosen(MANAGER, node), self._chosen(macs.PROTOCOL, node)
            of_mac = PER_MAC.get(own_mac, mac.TunableMacSettings.keys()) if own_mac else ()
            chosen = PER_MANAGER[manager] if manager else (), of_mac
            yield from ((key, _at(key.name, node)) for key in chain(*PER_NODE.values(), *chosen))

    def _possible(self) -> Iterator[str]:
        """The keys that cannot be checked because a model, the MAC or the mobility manager is invalid."""
        for models in KINDS:
            if self._chosen(models.key) is None:
                yield from (key.name for key in chain(*models.keys.values()))
        for node, (choice, keys) in product(self.nodes, ((MANAGER, PER_MANAGER), (macs.PROTOCOL, PER_MAC))):
            if self._chosen(choice, node) is None:
                yield from (_at(key.name, node) for key in chain(*keys.values()))

    def has(self, key: Setting) -> bool:
        """Whether every node's module has the key."""
        return all(self._is_there(key, _at(key.name, node)) for node in self.nodes)

    @property
    def is_limited(self) -> bool:
        """Whether only the embedded radio's keys and values count."""
        return self._declared == {}

    @cached_property
    def _declared(self) -> Mapping[str, SimulatorKey] | None:
        len(self.nodes)  # first of all, for there may be no more than a limit
        while True:
            try:
                return self._beyond.declared(self._text)
            except WrongKeyError as error:
                if error.path in self._replaced:
                    raise self._replaced[error.path] from None
                self._replaced[error.path] = self.error(error.path, str(error))

    def _text(self, path: str) -> str | None:
        """The ini's text at a path; a possible one where the text is refused, so that all else is checked, too."""
        entry = self._ini.find(path)
        key = next((key for key in KEYS if key.name == _generic(path)), None)
        if path not in self._replaced and not (entry and key and self._is_refused(key, path)):
            return entry.value if entry else None
        if key is None:
            return None
        return key.default or (f'"{key.choices[0]}"' if key.choices else "1")

    def _is_refused(self, key: Setting, path: str) -> bool:
        """Whether the host itself refuses the value, which no simulator judges."""
        return not key.name.startswith(STACK) and self._chosen(key, _node_in(path)) is None

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path in self._declared or ():
            found.setdefault(path.rpartition(".")[2], []).append(path)
        return found

    def _beyond_paths(self, entry: Entry) -> Iterable[str]:
        name = entry.key.rpartition(".")[2]
        return self._by_name[name] if name in self._by_name else chain(*self._by_name.values())

    def _is_there(self, key: Setting, path: str) -> bool:
        """Whether the module has the key; other MACs, routings or channels may lack it."""
        return not self._declared or not key.name.startswith(CHOSEN_MODULES) or path in self._declared

    def _of_node(self, key: Setting, node: NodeId) -> Any:
        path = _at(key.name, node)
        value = self._value(key, path)
        if isinstance(value, Uniform):  # by the path and the seed, so that no node's place depends on another's
            return Random(f"{path}/{self.value(_SEED)}").uniform(*value)
        return value

    def _value(self, key: Setting, path: str) -> Any:
        if path not in self._found:
            self._found[path] = self._read(key, path)
        return self._found[path]

    def _read(self, key: Setting, path: str) -> Any:
        entry = self._ini.find(path)
        text = entry.value if entry else key.default
        if text is None:
            hint = _meant(path, (entry.key for entry in self._ini.entries)).replace("mean", "mean it by")
            remedy = f"write {_generic(path)} = {plain(key.choices[0]) if key.choices else key.takes}"
            raise UserError(f"{self._ini.path}: {_generic(path)} is not set ({key.meaning}){hint}: {remedy}")
        known = key.name, text  # most nodes have the same values
        if known not in self._values:
            try:
                self._values[known] = key.read(text)
            except ValueError as error:
                if key.default is None or not self._is_beyond(key, path):  # without a default the host needs it
                    raise self.error(path, f"{'' if entry else 'the default '}{error}") from None
                self._values[known] = _unlimited(key, text)
        return self._values[known]

    def _is_beyond(self, key: Setting, path: str) -> bool:
        """Whether the back-end judges a value that the key refuses, and has done so."""
        return key.name.startswith(STACK) and (self._declared is None or path in self._declared)


def _unlimited(key: Setting, text: str) -> Any:
    """The value of a refused text, or the embedded radio's default if it is no value."""
    try:
        return replace(key, choices=(), within=ANY).read(text)
    except ValueError:
        return key.read(key.default)


def _all_or_raise(known: Sequence[str], checks: Iterable[Callable[[], Any]]) -> list[Any]:
    """Make all checks; raise one UserError, a line for each different mistake, the `known` ones included."""
    mistakes = dict.fromkeys(known)
    values = []
    for check in checks:
        try:
            values.append(check())
        except UserError as error:
            mistakes[str(error)] = None
    if mistakes:
        shown = list(mistakes)[:MOST_MISTAKES]
        more = [f"and {len(mistakes) - MOST_MISTAKES} mistakes more"] if len(mistakes) > MOST_MISTAKES else []
        raise UserError("\n".join([*shown, *more]))
    return values


def _raise(error: UserError) -> None:
    raise error


def _is_ignored(key: str) -> bool:
    """Whether it affects only reporting, or random number streams, of which we use none."""
    _, dot, name = key.rpartition(".")
    is_of_object = name in IGNORED_OBJECT_OPTIONS or re.fullmatch(r"rng-\d+", name) is not None
    return is_of_object if dot else key in IGNORED_OPTIONS


def _node_in(path: str) -> NodeId | None:
    """The node of a path, if it is one of a node."""
    found = re.search(r"node\[(\d+)\]", path)
    return int(found[1]) if found else None


def _at(path: str, node: NodeId) -> str:
    return path.replace(EVERY_NODE, f"node[{node}]")


def _module(entry: Entry) -> str:
    """The module of the entry's key; the key itself outside the network."""
    key = _generic(entry.key)
    return key.rpartition(".")[0] or key


def _generic(path: str) -> str:
    return re.sub(r"node\[[^\]]*\]", EVERY_NODE, path)


def _meant(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {close[0]}?" if close else ""
