"""The documentation site: it builds, is whole, and loads nothing from elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
LINK_OUT = re.compile(r"\]\((\.\./[^)#\s]+)")
LOADED = re.compile(
    r"<(?:script|link|img|source|iframe|object|embed|video|audio)\b[^>]*\b(?:src|href|data)=\"?([^\s\">]+)"
)
LOADED_BY_STYLE = re.compile(r"url\(\s*['\"]?([^)'\"]+)|@import\s+['\"]([^'\"]+)")
ELSEWHERE = re.compile(r"(?:[a-z]+:)?//")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_every_page_is_there_and_in_the_contents(site: Path) -> None:
    """Also those that mkdocs.yml does not name."""
    start = (site / "index.html").read_text(encoding="utf-8")
    for page in DOCS.glob("*.md"):
        assert (site / page.with_suffix(".html").name).is_file()
        assert page.name == "index.md" or f'href="{page.with_suffix(".html").name}"' in start, page.name


def test_linked_files_of_the_repository_are_on_the_site(site: Path) -> None:
    """Each link leads to a page that has the file's lines."""
    for page in DOCS.glob("*.md"):
        html = (site / page.with_suffix(".html").name).read_text(encoding="utf-8")
        for link in LINK_OUT.findall(page.read_text(encoding="utf-8")):
            path = link.removeprefix("../")
            if not path.endswith(".md"):
                assert f'href="files/{path}.html' in html, f"{page.name}: {link}"
                assert first_line(ROOT / path) in plain(site / "files" / f"{path}.html")


def first_line(path: Path) -> str:
    """That is not empty."""
    return next(line for line in path.read_text(encoding="utf-8").splitlines() if line.strip())


def plain(page: Path) -> str:
    """A page's text without its mark-up."""
    return unescape(re.sub(r"<[^>]*>", "", page.read_text(encoding="utf-8")))


def test_a_linked_page_links_back(site: Path) -> None:
    """Links of Markdown files outside docs/ lead to the pages that they mean."""
    page = (site / "files" / "omnet" / "index.html").read_text(encoding="utf-8")
    assert 'href="../../bridge.html"' in page


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    """Neither scripts nor styles, fonts or pictures: the site can be read without a network."""
    pages, styles = list(site.rglob("*.html")), list(site.rglob("*.css"))
    assert len(pages) > len(list(DOCS.glob("*.md")))
    assert styles
    loaded = [target for page in pages for target in LOADED.findall(page.read_text(encoding="utf-8"))]
    assert any(target.endswith(".css") for target in loaded)
    for file in [*pages, *styles]:
        loaded += map("".join, LOADED_BY_STYLE.findall(file.read_text(encoding="utf-8")))
    assert not [target for target in loaded if ELSEWHERE.match(target)]
