"""Every page, file and module that pages, docstrings and messages name exists."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import click
import pytest

from roambus.command_line import commands
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
"""Tests invent names; of results the commands are tested below."""
RESULTS = re.compile(r"(docs|extensions/[^/]+)/results/.*\.md")
CALL = r"roambus (?P<name>[a-z]+)(?P<rest>(?:\\\n|[^`\n])*)"
QUOTED, LISTED = re.compile(rf"(?:`|\$ ){CALL}"), re.compile(rf"^(?:\$ )?{CALL}", re.MULTILINE)
AT_COMMIT = re.compile(r"\bcommits? `?(?P<id>[0-9a-f]{8,40})\b")
GROUPS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"].keys() | {
    "roambus.backends",
    "roambus.metrics",
}
CONTEXT = click.Context(commands, resilient_parsing=True)
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


def test_commands_of_results(said: list[tuple[str, str]]) -> None:
    """A results page names programs and options that exist, or the commit that had them in the same paragraph."""
    wrong = {
        (file, name)
        for file, text in said
        if RESULTS.fullmatch(file)
        for paragraph in re.split(r"\n\s*\n", text)
        if not AT_COMMIT.search(paragraph)
        for name in missing_in(paragraph)
    }
    assert sorted(wrong) == []


def missing_in(text: str) -> Iterator[str]:
    """The programs, commands and options of a text that are not there; those of deleted extensions are passed over."""
    yield from (name for name in MODULE.findall(text) if not is_removed(name) and not exists(name))
    for found in (LISTED if text.lstrip().startswith("```") else QUOTED).finditer(text):
        command = commands.get_command(CONTEXT, found["name"])
        if command is None:
            yield f"roambus {found['name']}"
            continue
        options = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        named = re.findall(r"(?<!\S)--[a-z][a-z-]*", found["rest"])
        yield from (f"roambus {found['name']} {option}" for option in named if option not in options)


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("`python -m benchmarks.peers` and `roambus run field --set nodes=2`", []),
        ("People who use\nroambus often say so.", []),
        ("`python -m benchmarks.no_such` does", ["benchmarks.no_such"]),
        ("```sh\nroambus fly field\n```", ["roambus fly"]),
        ("$ roambus run field \\\n    --swiftly 3", ["roambus run --swiftly"]),
    ],
)
def test_what_is_missing_is_found(text: str, missing: list[str]) -> None:
    """Programs, commands and options, in sentences and in listings, on lines that go on."""
    assert list(missing_in(text)) == missing


def test_commits_of_results_had_the_programs(said: list[tuple[str, str]]) -> None:
    """The commit beside the name of a removed program has its file."""
    if subprocess.run(["git", "rev-parse", "HEAD~20"], cwd=ROOT, capture_output=True, check=False).returncode:
        pytest.skip("the history is not here")
    for file, text in said:
        for paragraph in re.split(r"\n\s*\n", text) if RESULTS.fullmatch(file) else ():
            commits = [found["id"] for found in AT_COMMIT.finditer(paragraph)]
            gone = [name for name in MODULE.findall(paragraph) if not is_removed(name) and not exists(name)]
            for name in gone:
                assert any(is_in_commit(name, commit) for commit in commits), (file, name)


def is_in_commit(name: str, commit: str) -> bool:
    """Whether git has the module at that commit."""
    folder = name.replace(".", "/")
    return any(
        subprocess.run(
            ["git", "cat-file", "-e", f"{commit}:{path}"], cwd=ROOT, capture_output=True, check=False
        ).returncode
        == 0
        for path in (f"{folder}.py", f"{folder}/__main__.py")
    )


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
