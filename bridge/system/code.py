"""The code that a name stands for: its files, and a hash of its behaviour.

`code_hash` identifies all code of a run, an agent or a metric. It follows imports, without running anything, within
roambus and the user's project, not into installed libraries. It hashes syntax trees without comments, formatting,
docstrings, and meanings of parameters and keys, so that only changed behaviour repeats a finished sweep.
"""

from __future__ import annotations

import ast
import re
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from functools import cache, lru_cache
from hashlib import sha256
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

from roambus.bridge.system.errors import UserError

C = TypeVar("C")

DISTRIBUTION = "roambus"
AGENTS, BACKENDS, METRICS = "roambus.agents", "roambus.backends", "roambus.metrics"
COMMANDS, STUDIES, STORES = "roambus.commands", "roambus.studies", "roambus.stores"
DRIVERS, RECORDERS, SIMULATORS = "roambus.drivers", "roambus.recorders", "roambus.simulators"
EXECUTORS, JOB_ARRAYS, PAGES = "roambus.executors", "roambus.job_arrays", "roambus.pages"
MACS, MOBILITIES, PROPAGATIONS = "roambus.macs", "roambus.mobilities", "roambus.propagations"
RADIOS, FORMATS, TEMPLATE_FOLDERS = "roambus.radios", "roambus.formats", "roambus.templates"


def installed(group: str) -> tuple[EntryPoint, ...]:
    """Return a group's entry points, reread after search path changes."""
    places = (Path(place) for place in sys.path)
    return _read(group, tuple((place, place.stat().st_mtime_ns) for place in places if place.exists()))


def named(group: str) -> dict[str, EntryPoint]:
    """Return entry points by name; no package replaces one of ours, and else the search path's first wins."""
    ours_first = sorted(installed(group), key=is_own, reverse=True)
    return {point.name: point for point in reversed(ours_first)}


def load(point: EntryPoint) -> Any:
    """Return the object that an entry point names; raise UserError with its package, whatever its import raises."""
    try:
        return point.load()
    except (UserError, KeyboardInterrupt):
        raise
    except BaseException as error:
        package = f" of package {point.dist.name}" if point.dist else ""
        problem = str(error) if isinstance(error, Exception) else f"{type(error).__name__}: {error}"
        text = f"{point.group}: {point.name}{package}: cannot import {point.value}: {problem}"
        raise UserError(text) from error


def brought(group: str, name: str) -> Any | None:
    """Return the object that the entry point of that name gives, or None without one; raise UserError."""
    point = named(group).get(name)
    return None if point is None else load(point)


def classes(group: str, base: type[C]) -> dict[str, type[C]]:
    """Return the subclasses of `base` that a group's entry points name; raise UserError for anything else."""
    found = {name: load(point) for name, point in named(group).items()}
    if not found:
        raise UserError(f"{group}: there are none: this installation is older than its sources, install it again")
    for name, value in found.items():
        if not (isinstance(value, type) and issubclass(value, base)):
            raise UserError(f"{group}: {name}: {named(group)[name].value} is not a subclass of {base.__name__}")
    return found


@contextmanager
def errors_of(module: str, what: str) -> Iterator[None]:
    """Raise UserError, beginning with `what`, for whatever a package's module raises in the block; ours has none."""
    try:
        yield
    except (Exception, SystemExit) as error:
        if isinstance(error, UserError) or is_ours(module):
            raise
        problem = " ".join(_NOISE.sub("", str(error)).split())
        raise UserError(f"{what} raised {type(error).__name__}: {problem:.300}") from error


_NOISE = re.compile(r"\x1b\[\d*m|Failed in nopython mode pipeline \(step: [^)]*\)")
"""Of Numba's messages: colours, and a line for each caller before the cause."""


def is_ours(module: str) -> bool:
    """Return whether a module, or an object in it, is of roambus by its name."""
    return module.startswith(f"{DISTRIBUTION}.")


def is_core(module: str) -> bool:
    """Return whether a module, or an object in it, is of roambus and of no extension."""
    return is_ours(module) and not module.startswith(f"{DISTRIBUTION}.extensions.")


def is_own(point: EntryPoint) -> bool:
    """Return whether it names a module of roambus."""
    return is_ours(point.value)


@lru_cache(maxsize=16)
def _read(group: str, _: tuple[tuple[Path, int], ...]) -> tuple[EntryPoint, ...]:
    return tuple(point for point in entry_points(group=group) if not is_own(point) or _exists(point.module))


def check_present(group: str, name: str, what: str) -> None:
    """Raise UserError, beginning with `what`, if that entry point is of an extension whose folder is deleted."""
    for point in entry_points(group=group, name=name):
        if is_own(point) and not _exists(point.module):
            extension = ".".join(point.module.split(".")[:3])
            raise UserError(f"{what}: this installation no longer has its extension, {extension}")


def _exists(module: str) -> bool:
    paths = [Path(root, *module.split(".")[1:]) for root in sys.modules[DISTRIBUTION].__path__]
    return any(path.with_suffix(".py").is_file() or (path / "__init__.py").is_file() for path in paths)


def find_module(name: str) -> ModuleSpec | None:
    """Find a module without running packages, the working folder last."""
    names = name.split(".")
    try:
        spec = find_spec(names[0]) or PathFinder.find_spec(names[0], [*sys.path, str(Path.cwd())])
    except (ImportError, ValueError):
        return None
    for depth in range(2, len(names) + 1):
        if spec is None:
            return None
        spec = PathFinder.find_spec(".".join(names[:depth]), spec.submodule_search_locations)
    return spec


# Entry points


_CODE = Path(__file__).resolve().parents[2]
"""The parent folder of the package's parts, in checkout and wheel."""
_NAMES = ("bridge", "python_protocol", "spark", "experiments", "extensions")
PARTS = {f"{DISTRIBUTION}.{name}": _CODE / name for name in _NAMES}
"""Followed parts of roambus, with their folders."""
PACKAGE_FOLDER = Path(str(sys.modules[DISTRIBUTION].__file__)).parent
"""The package's folder; in a checkout it links to the parts."""
MEANINGS = {"doc", "source", "help", "meaning"}
"""The arguments of a declaration that hold its meaning."""
DECLARATIONS = {"parameter": 1, "key": 3, "Key": 3}
"""Declaring functions with their positional arguments before a meaning."""


# Files


def is_own_file(file: Path) -> bool:
    """Return whether a file is roambus'."""
    place = file.resolve()
    return place.is_relative_to(PACKAGE_FOLDER.resolve()) or _is_of_a_part(place)


@cache
def _is_of_a_part(file: Path) -> bool:
    """Return whether a file is of a part; tests, which extensions have in their folders, stand for users."""
    return any(file.is_relative_to(part) and "tests" not in file.relative_to(part).parts for part in PARTS.values())


def module_files(module: str, file: Path) -> list[Path]:
    """Return a class's files: `file`, or its whole foreign package."""
    if "." in module and not is_ours(module):
        return sorted(file.parent.rglob("*.py"))
    return [file]


def find_files(module: str) -> Sequence[Path]:
    """Return a package's files, or `module_files` of a module, without running any."""
    file = find_source(module)
    if file is None:
        return ()
    return sorted(file.parent.rglob("*.py")) if file.name == "__init__.py" else module_files(module, file)


def data_files(module: str) -> list[tuple[str, Path]]:
    """Return names and files of a foreign package that are no code, templates or sweeps: its code may read them."""
    file = find_source(module)
    if file is None or "." not in module or is_ours(module):
        return []
    found = sorted(file.parent.rglob("[!.]*.*"))
    return [(one.name, one) for one in found if one.is_file() and one.suffix not in _NO_DATA]


_NO_DATA = {".py", ".pyc", ".j2", ".toml"}


def data_hash(files: Iterable[tuple[str, Path]]) -> bytes:
    """Hash the names and contents of files, empty without any; raise OSError."""
    parts = (sha256(part).digest() for name, file in files for part in (name.encode(), file.read_bytes()))
    return b"".join(parts)


def find_source(module: str) -> Path | None:
    """Return a module's source file without running it, or None."""
    spec = find_module(module)
    if spec is None or not spec.origin or not spec.origin.endswith(".py") or not Path(spec.origin).is_file():
        return None
    return Path(spec.origin).resolve()


def project_files(starts: Iterable[Path]) -> set[Path]:
    """Return these files and their imports within roambus and their project."""
    found: set[Path] = set()
    waiting = [start.resolve() for start in starts]
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            waiting += _imported_files(file)
    return found


@cache
def is_installed(file: Path) -> bool:
    """Return whether a file is roambus' or installed."""
    return _is_of_a_part(file) or any(map(file.is_relative_to, _libraries()))


@cache
def _libraries() -> list[Path]:
    """The folders of installed packages and of Python's own."""
    return [Path(sysconfig.get_path(name)) for name in ("purelib", "platlib", "stdlib")]


def _imported_files(file: Path) -> Iterable[Path]:
    if _is_of_a_part(file):
        return _imported_of_ours(file)
    return [imported for name in imported_names(file) if (imported := imported_file(name, file)) is not None]


def imported_names(file: Path) -> frozenset[str]:
    """Return the modules that a file may import; relative ones begin with dots. Raise OSError."""
    return _code_of(file).imports


@cache
def _imported_of_ours(file: Path) -> frozenset[Path]:
    """Cache roambus' own: a process runs the code it imported."""
    found = (imported_file(name, file) for name in _our_code(file).imports)
    return frozenset(imported for imported in found if imported is not None)


def imported_file(module: str, importer: Path) -> Path | None:
    """Return a module's file in roambus or the importer's project; dots are relative.

    A helper beside the importer comes before one of the working folder.
    """
    if module.startswith("."):
        name = module.lstrip(".")
        folder = importer.parents[len(module) - len(name) - 1]
        return _in_folder(folder, name.split(".") if name else [])
    if module.partition(".")[0] == DISTRIBUTION:
        return _file_of_ours(module)
    if is_installed(importer) and not any(folder.name == module.partition(".")[0] for folder in importer.parents):
        return None
    file = find_source(module)
    if is_installed(importer) or (file is not None and is_installed(file)):
        return file if is_installed(importer) else None
    names = module.split(".")
    return (None if names[0] in sys.stdlib_module_names else _in_folder(import_root(importer), names)) or file


def import_root(file: Path) -> Path:
    """Return the folder from which a file is imported: the first above it that is no package."""
    return next(folder for folder in file.parents if not (folder / "__init__.py").is_file())


@cache
def _file_of_ours(module: str) -> Path | None:
    for part, folder in PARTS.items():
        if f"{module}.".startswith(f"{part}."):
            return _in_folder(folder, module.removeprefix(part).split(".")[1:])
    return None


def _in_folder(folder: Path, names: Sequence[str]) -> Path | None:
    path = folder.joinpath(*names)
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)


# Hash


class Code(NamedTuple):
    """A file's behaviour hash and possible imports; relative ones begin with dots."""

    hash: bytes
    imports: frozenset[str]


def code_hash(starts: Iterable[Path]) -> bytes:
    """Hash files and their imports in roambus and their project; raise OSError.

    Names and places of files do not matter.
    """
    return hash_files(project_files(starts))


def hash_files(files: Set[Path]) -> bytes:
    """Hash the behaviour of these files alone; raise OSError."""
    ours = set(filter(_is_of_a_part, files))
    hashes = [_our_code(file).hash for file in ours] + [_code_of(file).hash for file in files - ours]
    return sha256(b"".join(sorted(hashes))).digest()


@cache
def _our_code(file: Path) -> Code:
    return _code(file.read_bytes())


def _code_of(file: Path) -> Code:
    """Return a file's code; raise OSError, and UserError for what Python runs and nobody can follow."""
    try:
        return _code(file.read_bytes())
    except RecursionError:
        remedy = "write long sums and chains as lists, or put them into a data file"
        raise UserError(f"{file}: its code is nested too deeply to find what it imports: {remedy}") from None


@lru_cache(maxsize=256)
def _code(source: bytes) -> Code:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, MemoryError):  # whoever imports it gets the message
        return Code(sha256(source).digest(), frozenset())
    words: list[str] = []
    imports: list[ast.AST] = []
    _describe(tree, words.append, imports.append)
    names = frozenset(name for node in imports for name in _modules_of(node))
    return Code(sha256("\0".join(words).encode(errors="surrogatepass")).digest(), names)


def _modules_of(node: ast.AST) -> Iterator[str]:
    """Yield an import's possible modules; for `roambus`, those defining its names."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield from _with_packages(alias.name)
            yield from _homes().values() if alias.name == DISTRIBUTION else ()
    elif isinstance(node, ast.ImportFrom):
        module = "." * node.level + (node.module or "")
        yield from _with_packages(module)
        for alias in node.names:
            yield f"{module}{'' if module.endswith('.') else '.'}{alias.name}"
            if module == DISTRIBUTION:
                yield from (home for name, home in _homes().items() if alias.name in (name, "*"))


def _with_packages(module: str) -> Iterator[str]:
    """Yield a module, and the packages above it, whose `__init__` is executed first; those of roambus do nothing."""
    names = module.split(".")
    is_foreign = names[0] not in ("", DISTRIBUTION)
    yield from (".".join(names[:depth]) for depth in range(1 if is_foreign else len(names), len(names) + 1))


def _homes() -> Mapping[str, str]:
    """Return the defining modules of `roambus`' names."""
    return cast("Mapping[str, str]", sys.modules[DISTRIBUTION].homes())


def _describe(node: ast.AST, add: Callable[[str], None], add_import: Callable[[ast.AST], None]) -> None:
    """Add words for the tree, the same in every Python, and its imports.

    Skips empty fields: new versions of Python add some.
    """
    if isinstance(node, ast.Import | ast.ImportFrom):
        add_import(node)
    add(type(node).__name__)
    for name in node._fields:
        value = getattr(node, name, None)
        if value is None or value == []:
            continue
        add(name)
        for child in _executed(node, name, value) if isinstance(value, list) else (value,):
            if isinstance(child, ast.AST):
                _describe(child, add, add_import)
            else:
                add(repr(child))
    add(")")


def _executed(node: ast.AST, name: str, values: list[object]) -> list[object]:
    """Return the list's members, less those for people only."""
    if not isinstance(node, ast.Call):
        return [value for value in values if not (isinstance(value, ast.Expr) and _is_text(value.value))]
    called = getattr(node.func, "attr", getattr(node.func, "id", ""))  # of an ast.Attribute, or an ast.Name
    if (first := DECLARATIONS.get(called)) is None:
        return values
    if name == "keywords":
        return [value for value in values if not (isinstance(value, ast.keyword) and value.arg in MEANINGS)]
    return values[:first] + [value for value in values[first:] if not _is_text(value)]


def _is_text(node: object) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
