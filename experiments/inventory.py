"""The agents, templates, sweeps, studies and metrics that there are: their names, files and summaries.

A study is an entry point of the group `roambus.studies`, such as `mine.study:STUDY`; its sweeps and templates lie in
that module's folder, all others in `templates`. A command takes a name or a path. An unknown name is an error with the
near names of every kind and their commands.

Nothing is imported for it, because shell completion waits for the list, and agents and studies take seconds (NumPy,
SciPy, Spark). So docstrings and declarations are read from sources; templates and sweeps begin with a describing
comment. `roambus show` loads an entry, and describes all that it has.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from roambus.bridge.agents import class_docstring
from roambus.bridge.system.code import AGENTS, STUDIES, TEMPLATE_FOLDERS, find_source, is_own_file, named
from roambus.bridge.system.code import METRICS as METRIC_PACKAGES
from roambus.bridge.system.errors import UserError
from roambus.python_protocol.settings import near, unknown
from roambus.spark.metrics.catalogue import METRICS
from roambus.spark.metrics.metric import metric

TEMPLATES = Path(__file__).parent / "templates"
"""The folder of files without a study, and of parts that all templates include."""
TEMPLATE_SUFFIX, SWEEP_SUFFIX = ".ini.j2", ".toml"
_CORE = Path(__file__).parent


def study_modules() -> dict[str, Path]:
    """Return the module files of all installed studies, by study."""
    return _module_files(STUDIES)


def shipped_studies() -> dict[str, Path]:
    """Return the folders of all installed studies, by name."""
    return {name: file.parent for name, file in study_modules().items()}


def shipped_folders() -> list[Path]:
    """Return the folders with templates and sweeps, of packages and of studies, ours first."""
    files = [*_module_files(TEMPLATE_FOLDERS).values(), *study_modules().values()]
    return list(dict.fromkeys(file.parent for file in sorted(files, key=is_own_file, reverse=True)))


def _module_files(group: str) -> dict[str, Path]:
    """Return the module files that a group's entry points name; none is loaded."""
    found = {name: find_source(point.module) for name, point in sorted(named(group).items())}
    return {name: file for name, file in found.items() if file is not None}


def shipped_files(suffix: str) -> dict[str, Path]:
    """The shipped files with this suffix by stem, the first of a name, without those that begin with an underscore."""
    files = [file for folder in shipped_folders() for file in sorted(folder.glob(f"[!_]*{suffix}"))]
    return {file.name.removesuffix(suffix): file for file in reversed(files)}


def shipped_study(file: Path) -> str | None:
    """The study whose folder has the file, and of several the one of its name; or None."""
    place = file.resolve().parent
    found = [name for name, folder in shipped_studies().items() if folder.resolve() == place]
    return file.stem if file.stem in found else next(iter(found), None)


def find_file(kind: str, name: str) -> Path:
    """The file of that path, or the shipped one of that name; raises UserError."""
    if Path(name).is_file():
        return Path(name)
    known = KINDS[kind].sources()
    if name not in known:
        raise no_such(kind, name)
    file: Path = known[name]
    return file


def no_such(kind: str, name: str) -> UserError:
    """The error for an unknown name, with near names."""
    runnable = (other for other in KINDS if other not in (kind, "metrics"))
    near = ((KINDS[other], found) for other, found in near_names(name, runnable).items())
    also = ", ".join(f"{other.singular} {found!r} ({other.use(found)})" for other, found in near)
    others = f"; near names of other kinds: {also}" if also else ""
    about = KINDS[kind]
    return UserError(f"{unknown(about.singular, name, about.sources())}{others}; or give the path of a file")


def near_names(name: str, kinds: Iterable[str]) -> dict[str, str]:
    """The kinds with a near name, each with the nearest, or the exact one."""
    found = {kind: near(name, KINDS[kind].sources()) for kind in kinds}
    return {kind: near[0] for kind, near in found.items() if near}


# Names and summaries


def names(kind: str) -> list[str]:
    """The names of a kind's entries, in order."""
    return sorted(KINDS[kind].sources())


def summaries(kind: str) -> dict[str, str]:
    """The names of a kind's entries, each with its summary."""
    about = KINDS[kind]
    return {name: about.summary(source) for name, source in sorted(about.sources().items())}


def sweeps_of_studies() -> dict[str, list[str]]:
    """The sweeps that stand behind a study, by study: all but those of the core that are called like their study."""
    found: dict[str, list[str]] = {}
    for name, file in sorted(shipped_files(SWEEP_SUFFIX).items()):
        study = shipped_study(file)
        if study and not (name == study and file.is_relative_to(_CORE)):
            found.setdefault(study, []).append(name)
    return dict(sorted(found.items()))


def first_sentence(text: str) -> str:
    """A docstring's or comment's first sentence, on one line."""
    line = " ".join(text.strip().partition("\n\n")[0].split())
    return re.split(r"(?<=\.)\s", line, maxsplit=1)[0]


def heading(file: Path) -> str:
    """The first sentence of a template's or sweep's head comment, without commands."""
    lines = file.read_text(encoding="utf-8").splitlines()
    start = next((number for number, line in enumerate(lines) if line.startswith("# ")), len(lines))
    comment = []
    for line in lines[start:]:
        if not line.startswith("#") or line.startswith("#  "):
            break
        comment.append(line.lstrip("# "))
    return re.sub(r":$", ".", first_sentence("\n".join(comment)))


def study_summary(name: str) -> str:
    """Return the first sentence below an installed study's definition, or of its module."""
    tree, attribute = _tree(study_modules()[name]), named(STUDIES)[name].attr
    below = [
        text for before, text in pairwise(tree.body) if isinstance(before, ast.Assign) and _defines(before, attribute)
    ]
    own = [text.value.value for text in below if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant)]
    return first_sentence(str(own[0]) if own else ast.get_docstring(tree) or "")


def _defines(assignment: ast.Assign, name: str) -> bool:
    return any(isinstance(target, ast.Name) and target.id == name for target in assignment.targets)


def study_metrics() -> dict[str, str]:
    """The metrics that studies add to every run's, with the first study's meaning."""
    found: dict[str, str] = {}
    for added in metrics_by_study().values():
        found = added | found
    return found


def metrics_by_study() -> dict[str, dict[str, str]]:
    """The metrics that each study's folder declares, with their meanings; no study without any."""
    found: dict[str, dict[str, str]] = {}
    for study, file in _files_of_studies():
        if declared := declared_metrics(file):
            found[study] = declared | found.get(study, {})
    return found


def unknown_metric(name: str, known: Iterable[str]) -> str:
    """The message for a metric that results lack: the option that adds it, or near names."""
    files = (*_module_files(METRIC_PACKAGES).items(), *((str(file), file) for _, file in _files_of_studies()))
    for reference, file in files:
        if name in declared_metrics(file):
            return f"{name} is no metric of every run: roambus aggregate RESULTS --measure {reference} adds it"
    return unknown("metric", name, dict.fromkeys(known), "roambus list metrics")


def _files_of_studies() -> Iterator[tuple[str, Path]]:
    for study, folder in shipped_studies().items():
        yield from ((study, file) for file in sorted(folder.glob("*.py")))


def declared_metrics(file: Path) -> dict[str, str]:
    """A module's functions under `metric`, with their docstrings."""
    functions = [node for node in _tree(file).body if isinstance(node, ast.FunctionDef)]
    marked = [function for function in functions if any(map(_is_metric, function.decorator_list))]
    return {function.name: " ".join((ast.get_docstring(function) or "").split()) for function in marked}


def _is_metric(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Call) and ast.unparse(decorator.func).rpartition(".")[2] == metric.__name__


def _tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


# Files of one's own


def own_entries(kind: str) -> dict[str, str]:
    """The working folder's things of a kind by path, each with its summary."""
    found: dict[str, str] = {}
    pattern, read = KINDS[kind].own
    for file in sorted(Path().glob(pattern)) if pattern else ():
        with suppress(OSError, ValueError, SyntaxError, RecursionError, MemoryError):
            found |= read(file)
    return found


def own_study(file: Path) -> dict[str, str]:
    """The study in a Python file by path; empty without a STUDY."""
    tree = _tree(file)
    targets = (target for node in tree.body if isinstance(node, ast.Assign) for target in node.targets)
    return {str(file): first_sentence(ast.get_docstring(tree) or "")} if "STUDY" in map(ast.unparse, targets) else {}


def _own_agents(file: Path) -> dict[str, str]:
    classes = [node for node in _tree(file).body if isinstance(node, ast.ClassDef) and any(map(_is_agent, node.bases))]
    names = [str(file)] if len(classes) == 1 else [f"{file}:{class_.name}" for class_ in classes]
    return {name: first_sentence(ast.get_docstring(class_) or "") for name, class_ in zip(names, classes, strict=True)}


def _is_agent(base: ast.expr) -> bool:
    return ast.unparse(base) in ("Agent", "roambus.Agent")


def _own_sweep(file: Path) -> dict[str, str]:
    return {str(file): heading(file)} if "template" in tomllib.loads(file.read_text(encoding="utf-8")) else {}


# Kinds


@dataclass(frozen=True, slots=True)
class Kind:
    """What is listed, such as agents."""

    singular: str
    command: str
    """The command for the entry that is put for {}."""
    sources: Callable[[], Mapping[str, Any]]
    """Where each entry is defined, by its name."""
    summary: Callable[[Any], str]
    """The summary of an entry by its source."""
    own: tuple[str, Callable[[Path], dict[str, str]]] = ("", lambda _: {})
    """The pattern of a user's files, and their reader."""

    def use(self, name: str) -> str:
        """The command for an entry."""
        return self.command.format(name)


_NO_SUMMARY = "Its source has no summary; roambus show loads it."

KINDS: Mapping[str, Kind] = {
    "agents": Kind(
        "agent",
        "roambus run field --agent {}",
        lambda: {name: point.value for name, point in named(AGENTS).items()},
        lambda target: first_sentence(class_docstring(target) or _NO_SUMMARY),
        ("*.py", _own_agents),
    ),
    "templates": Kind(
        "template",
        "roambus run {}",
        lambda: shipped_files(TEMPLATE_SUFFIX),
        heading,
        (f"[!_]*{TEMPLATE_SUFFIX}", lambda file: {str(file): heading(file)}),
    ),
    "sweeps": Kind(
        "sweep",
        "roambus sweep {}",
        lambda: shipped_files(SWEEP_SUFFIX),
        heading,
        (f"*{SWEEP_SUFFIX}", _own_sweep),
    ),
    "studies": Kind(
        "study",
        "roambus reproduce {} --quick",
        lambda: {name: name for name in study_modules()},
        study_summary,
        ("*.py", own_study),
    ),
    "metrics": Kind(
        "metric",
        "roambus compare RESULTS --metric {}",
        lambda: study_metrics() | {known_metric.column: known_metric.meaning for known_metric in METRICS},
        str,
    ),
}
"""All that can be listed, by the plural."""
