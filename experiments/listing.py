"""What there is, a name and a sentence each, without importing any of it.

A list has to be there at once, also for a shell that completes a name. Agents, studies and their metrics are Python
modules that bring NumPy, SciPy or Spark with them, which takes seconds. So their docstrings and declarations are read
from the source: an agent's from the module that its entry point names, a study's metrics from the calls of `Metric` in
its folder. Templates and sweeps tell what they are in the comment that they begin with. All the rest of a thing is in
`roambus.experiments.inventory`, which loads it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from roambus.bridge.agents import GROUP, class_docstring
from roambus.experiments.shipped import SWEEP_SUFFIX, TEMPLATE_SUFFIX, shipped_files, shipped_studies
from roambus.spark.metrics.catalogue import METRICS, Metric


def names(kind: str) -> list[str]:
    """The names of all things of a kind, in their order."""
    return sorted(_SOURCES[kind]())


def summaries(kind: str) -> dict[str, str]:
    """The names of all things of a kind, each with the sentence that says what it is."""
    summary = _SUMMARIES[kind]
    return {name: summary(source) for name, source in sorted(_SOURCES[kind]().items())}


def first_sentence(text: str) -> str:
    """The first sentence of a docstring or a comment, on one line."""
    line = " ".join(text.strip().partition("\n\n")[0].split())
    return re.split(r"(?<=\.)\s", line, maxsplit=1)[0]


def heading(file: Path) -> str:
    """The first sentence of the comment with which a template or a sweep begins; a command in it is not part of it."""
    lines = file.read_text(encoding="utf-8").splitlines()
    start = next((number for number, line in enumerate(lines) if line.startswith("# ")), len(lines))
    comment = []
    for line in lines[start:]:
        if not line.startswith("#") or line.startswith("#  "):
            break
        comment.append(line.lstrip("# "))
    return re.sub(r":$", ".", first_sentence("\n".join(comment)))


def study_summary(folder: Path) -> str:
    """The first sentence of a study's module."""
    return first_sentence(ast.get_docstring(_tree(folder / "study.py")) or "")


def study_metrics() -> dict[str, str]:
    """The metrics that studies add to those of every run, each with its meaning in the first study that has it."""
    found: dict[str, str] = {}
    for folder in shipped_studies().values():
        for file in sorted(folder.glob("*.py")):
            found = dict(_declared(_tree(file))) | found
    return found


def _declared(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The column and the meaning of each metric that a module computes, as texts or as its names for texts."""
    assigned = [pair for node in tree.body if isinstance(node, ast.Assign) for pair in _pairs(node)]
    named = {ast.unparse(target): value for target, value in assigned}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    if any(ast.unparse(call.func) == "ExtraMetrics" for call in calls):  # one that only shows metrics declares some too
        for call in (call for call in calls if ast.unparse(call.func) == Metric.__name__):
            column, _, meaning = (ast.literal_eval(named.get(ast.unparse(one), one)) for one in call.args[:3])
            yield column, meaning


def _pairs(node: ast.Assign) -> Iterable[tuple[ast.expr, ast.expr]]:
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
            return zip(targets, values, strict=True)
    return [(node.targets[0], node.value)]


def _tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


_SOURCES: Mapping[str, Callable[[], Mapping[str, Any]]] = {
    "agents": lambda: {point.name: point.value for point in entry_points(group=GROUP)},
    "templates": lambda: shipped_files(TEMPLATE_SUFFIX),
    "sweeps": lambda: shipped_files(SWEEP_SUFFIX),
    "studies": shipped_studies,
    "metrics": lambda: study_metrics() | {metric.column: metric.meaning for metric in METRICS},
}
_UNTOLD = "Its source says nothing of it; roambus show loads it."
_SUMMARIES: Mapping[str, Callable[[Any], str]] = {
    "agents": lambda target: first_sentence(class_docstring(target) or _UNTOLD),
    "templates": heading,
    "sweeps": heading,
    "studies": study_summary,
    "metrics": str,
}
SINGULAR = {"agents": "agent", "templates": "template", "sweeps": "sweep", "studies": "study", "metrics": "metric"}
KINDS = tuple(SINGULAR)
"""What can be listed, by the word for it."""
