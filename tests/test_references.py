"""Every page, file and module that pages, docstrings and messages name exists."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from roambus.commands.pages import pages
from tests.support.places import ROOT
from tests.support.removed import BROUGHT, is_there

TOPS = ("bridge", "experiments", "extensions", "omnet", "python_protocol", "spark", "benchmarks", "tests", "docs")
FOLDERS = (*TOPS, "roambus")
WRITTEN = (".py", ".md", ".toml", ".j2", ".h", ".cc", ".proto", ".txt")
MADE = re.compile(r"(build|\.venv|__pycache__|\.egg-info|_pb2)")
PAGE = re.compile(r"roambus\s+docs\s+([a-z][a-z0-9-]+)")
FILE = re.compile(rf"(?<![\w/.-])((?:{'|'.join(TOPS)})/[\w./-]*[\w]\.(?:py|md|toml|proto|j2|txt|json|png|cc|h))\b")
PARTS = "bridge|spark|experiments|extensions|python_protocol|commands|testing|reference"
MODULE = re.compile(
    rf"(?:(?<![\w/.-])|python -m )((?:roambus\.(?:{PARTS})|benchmarks)(?:\.[a-z_][a-z0-9_]*)+)(?![\w/-])"
)
LEFT_OUT = re.compile(r"(extensions/[^/]+/)?(tests|results)/|docs/results/")
"""Tests invent names; results are frozen, and name the commit at which their commands worked."""
GROUPS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"].keys() | {
    "roambus.backends",
    "roambus.metrics",
}
EXAMPLES = {"extensions/NAME/page.md", "tests/rumour.txt", "bridge/host/x.py", "tests/bridge/host/test_x.py"}


def sources() -> Iterator[Path]:
    yield from (ROOT / "README.md", ROOT / "Makefile", ROOT / "pyproject.toml")
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            inside = path.relative_to(ROOT)
            is_linked = folder == "roambus" and len(inside.parts) > 2 and inside.parts[1] in TOPS
            if path.suffix in WRITTEN and path.is_file() and not is_linked and not MADE.search(inside.as_posix()):
                yield path


def prose(path: Path) -> Iterator[str]:
    """The docstrings and texts of a module, and all of another file."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        yield text
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
    yield "\n".join(line.partition("#")[2] for line in text.splitlines() if "#" in line)


@pytest.fixture(scope="module")
def said() -> list[tuple[str, str]]:
    """Each text with the file that it is from."""
    own = Path(__file__)
    return [(path.relative_to(ROOT).as_posix(), text) for path in sources() if path != own for text in prose(path)]


def test_pages_named_by_roambus_docs(said: list[tuple[str, str]]) -> None:
    """`roambus docs NAME` prints something, wherever it is written."""
    known = {*pages(), "page"}
    wrong = {(file, name) for file, text in said for name in PAGE.findall(text) if name not in known}
    wrong = {pair for pair in wrong if pair[1] not in TAUGHT.get(pair[0], ())}
    assert sorted(wrong) == []


TAUGHT = {"tests/roambus/test_docs.py": ("tutorail",)}
"""Names that are wrong on purpose."""


def test_files(said: list[tuple[str, str]]) -> None:
    """A path leads to a file from the repository's top, or from the folder or top folder of the file that names it."""
    wrong = {
        (file, name)
        for file, text in said
        if not LEFT_OUT.match(file)
        for name in FILE.findall(text)
        if not is_removed(name)
        and not any((ROOT / folder / name).exists() for folder in ("", file.partition("/")[0], Path(file).parent))
        and name not in EXAMPLES
    }
    assert sorted(wrong) == []


def test_modules(said: list[tuple[str, str]]) -> None:
    """A dotted name is a module, or a name in one."""
    wrong = {
        (file, name)
        for file, text in said
        if not LEFT_OUT.match(file)
        for name in MODULE.findall(text)
        if not is_removed(name) and not exists(name)
    }
    assert sorted(wrong) == []


def is_removed(name: str) -> bool:
    """Whether it is of an extension that is deleted."""
    extension = re.match(r"(?:roambus\.)?extensions[./](\w+)", name)
    return extension is not None and extension[1] in BROUGHT and not is_there(extension[1])


def exists(name: str) -> bool:
    """Whether it is a module, the name of something in a module, or a group of entry points."""
    if re.fullmatch(
        r"roambus\.(agents|backends|commands|studies|metrics|stores|recorders|executors|job_arrays|simulators|pages|drivers)",
        name,
    ):
        return True
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            spec = find_spec(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        if spec is not None:
            return length == len(parts) or names_in(spec.origin, parts[length])
    return False


def names_in(origin: str | None, name: str) -> bool:
    return origin is not None and re.search(rf"\b{name}\b", Path(origin).read_text(encoding="utf-8")) is not None
