"""Pages, messages and docstrings follow the style page of `docs/contributing.md`, as far as a program can check it."""

import re
from collections.abc import Collection
from pathlib import Path

import pytest

from tests.support.places import ROOT
from tests.support.style import LONGEST, Sentence, sentences_of

ROUNDABOUT = re.compile(
    r"\b(mend(s|ed|ing)?|to the letter|take[sn]? on|thawed|reckon\w*|work(s|ed)? off|none of ours|lest|for want of|"
    r"in vain|by hand of|unto|aught|come[s]? to the same|is told of)\b",
    re.IGNORECASE,
)
"""Words that a reader has to translate, such as "reckon": "compute" says the same."""
WRITTEN = (".md", ".py", ".j2", ".toml", ".html", ".js")
FOLDERS = (
    "docs",
    "bridge",
    "experiments",
    "extensions",
    "python_protocol",
    "roambus/commands",
    "roambus/testing",
    "spark",
)
LEFT = {
    "benchmarks": 60,
    "bridge": 60,
    "docs": 350,
    "experiments": 20,
    "extensions": 520,
    "omnet": 20,
    "python_protocol": 30,
    "roambus": 20,
    "spark": 10,
    "tests": 350,
}
"""Sentences of more than 25 words, or that hide their actor, by folder; lower a number once you rewrite some."""
PROTOCOLS = [
    *(ROOT / "docs" / "protocols").glob("*.md"),
    *(test.parents[1] / "page.md" for test in (ROOT / "extensions").glob("*/tests/test_protocol_page.py")),
]
CLEAN = ("benchmarks/hardware", "benchmarks/trials", "extensions/vetting")
"""The folders whose sentences name the actor first; a folder is added once all of its sentences do."""


def written() -> list[Path]:
    return [ROOT / "README.md", *(path for folder in FOLDERS for path in files_in(folder, WRITTEN))]


def files_in(folder: str, suffixes: Collection[str]) -> list[Path]:
    """The files of a folder with these suffixes, without the tests that an extension has in its own."""
    found = [path for path in (ROOT / folder).rglob("*") if path.suffix in suffixes]
    return [path for path in found if "tests" not in path.relative_to(ROOT).parts]


def test_no_roundabout_words() -> None:
    """Plain words do: correct, exactly, accept, compute, without success."""
    found = [
        f"{file.relative_to(ROOT)}:{number}: {match[0]}"
        for file in written()
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        for match in ROUNDABOUT.finditer(line)
    ]
    assert found == []


@pytest.mark.parametrize("folder", CLEAN)
def test_sentences_name_the_actor_first(folder: str) -> None:
    """No sentence begins with a clause in "what" or "who", or hides its actor behind "told" or "nobody"."""
    files = files_in(folder, {".py", ".md"})
    found = [
        f"{sentence.place}: {sentence.text}" for file in files for sentence in sentences_of(file) if sentence.refused()
    ]
    assert found == []


@pytest.mark.parametrize("folder", LEFT)
def test_no_more_sentences_are_long_or_hide_their_actor(folder: str) -> None:
    """In no text and docstring of the repository; the number that is left only falls."""
    files = [file for suffix in (".md", ".py") for file in (ROOT / folder).rglob(f"*{suffix}")]
    own = [file for file in files if not file.stem.endswith("_pb2")]
    broken = [
        f"{sentence.place}: {sentence.text}" for file in own for sentence in sentences_of(file) if breaks(sentence)
    ]
    assert len(broken) <= LEFT[folder], "\n".join(broken)


@pytest.mark.parametrize("page", PROTOCOLS, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_protocols_page_has_short_sentences(page: Path) -> None:
    """Each has at most 25 words, and names its actor."""
    assert [sentence.text for sentence in sentences_of(page) if breaks(sentence)] == []


def breaks(sentence: Sentence) -> bool:
    """Whether it is long, or hides its actor."""
    return sentence.words > LONGEST or bool(sentence.refused())


def test_a_sentence_that_hides_its_actor_is_found(tmp_path: Path) -> None:
    """Wherever it stands in a docstring; a question, code and an actor in front are allowed."""
    file = tmp_path / "mine.py"
    file.write_text(
        '"""A run. What it costs is printed.\n\nWhat does it cost? The user learns what it costs, by `tell`."""\n'
        'X = 1\n"""Whoever asks is told."""\n'
    )
    assert [sentence.text for sentence in sentences_of(file) if sentence.refused()] == [
        "What it costs is printed.",
        "Whoever asks is told.",
    ]
