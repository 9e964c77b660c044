"""The documentation site: it builds, is whole, and loads nothing from elsewhere."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

from tests.support.browser import chromium
from tests.support.documents import documents

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
LINK = re.compile(r"(?<=\]\()[^)#\s:]+(?=[)#])")
LOADED = re.compile(
    r"<(?:script|link|img|source|iframe|object|embed|video|audio)\b[^>]*\b(?:src|href|data)=\"?([^\s\">]+)"
)
LOADED_BY_STYLE = re.compile(r"url\(\s*['\"]?([^)'\"]+)|@import\s+['\"]([^'\"]+)")
ELSEWHERE = re.compile(r"(?:[a-z]+:)?//")


def build(root: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """What becomes of the site of the mkdocs.yml in `root`."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site."""
    folder = tmp_path_factory.mktemp("site")
    done = build(ROOT, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_every_page_is_there_and_in_the_contents(site: Path) -> None:
    """Also those that mkdocs.yml does not name."""
    start = (site / "index.html").read_text(encoding="utf-8")
    for page in documents():
        at = on_site(page).as_posix()
        assert (site / at).is_file()
        assert at == "index.html" or f'href="{at}"' in start, at


def test_linked_files_of_the_repository_are_on_the_site(site: Path) -> None:
    """Each link leads to a page that has the file's lines."""
    for page in documents():
        at = on_site(page)
        html = (site / at).read_text(encoding="utf-8")
        for link in LINK.findall(page.read_text(encoding="utf-8")):
            path = (page.parent / link).resolve().relative_to(ROOT)
            if not path.is_relative_to("docs") and path.suffix not in {".md", ".csv", ".gif", ".png"}:
                up = "../" * (len(at.parts) - 1)
                assert f'href="{up}files/{path}.html' in html, f"{page.name}: {link}"
                assert first_line(ROOT / path) in plain(site / "files" / f"{path}.html")


def on_site(page: Path) -> Path:
    """Where a page stands on the site: those of extensions as in the repository."""
    return page.relative_to(DOCS if page.is_relative_to(DOCS) else ROOT).with_suffix(".html")


def first_line(path: Path) -> str:
    """That is not empty."""
    return next(line for line in path.read_text(encoding="utf-8").splitlines() if line.strip())


def plain(page: Path) -> str:
    """A page's text without its mark-up."""
    return unescape(re.sub(r"<[^>]*>", "", page.read_text(encoding="utf-8")))


def test_a_linked_page_links_back(site: Path) -> None:
    """Links of Markdown files outside docs/ lead to the pages that they mean."""
    page = (site / "files" / "omnet" / "index.html").read_text(encoding="utf-8")
    assert 'href="../../reference/bridge.html"' in page


def test_bars_in_tables_are_bars(site: Path) -> None:
    """Without the backslash that Markdown needs before them."""
    assert r'"12s 0..2 \|' in (DOCS / "reference" / "ideal.md").read_text(encoding="utf-8")
    assert '"12s 0..2 |' in plain(site / "reference" / "ideal.html")


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    """Neither scripts nor styles, fonts or pictures: the site can be read without a network."""
    pages, styles = list(site.rglob("*.html")), list(site.rglob("*.css"))
    assert len(pages) > len(documents())
    assert styles
    loaded = [target for page in pages for target in LOADED.findall(page.read_text(encoding="utf-8"))]
    assert any(target.endswith(".css") for target in loaded)
    for file in [*pages, *styles]:
        loaded += map("".join, LOADED_BY_STYLE.findall(file.read_text(encoding="utf-8")))
    assert not [target for target in loaded if ELSEWHERE.match(target)]


def test_the_search_works_from_disk(site: Path) -> None:
    """Without a server and a network: it finds a page by a word on it, and asks for files of the site alone."""
    asked: list[str] = []
    with chromium() as browser:
        page = browser.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.goto((site / "index.html").as_uri())
        page.get_by_role("textbox", name="Search").press_sequentially("setdest")
        page.locator(".md-search-result__link", has_text="Movement from files").first.wait_for()
    assert asked
    assert [address for address in asked if not address.startswith(site.as_uri())] == []


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Another project with our hook: a page that its contents do not name links to a file outside docs/."""
    (tmp_path / "docs").mkdir()
    shutil.copy(DOCS / "site_hook.py", tmp_path / "docs")
    (tmp_path / "docs" / "index.md").write_text("# Start\n")
    (tmp_path / "docs" / "new.md").write_text("# New\n\n[code](../code.py)\n")
    (tmp_path / "code.py").write_text("print(1 < 2)\n")
    (tmp_path / "mkdocs.yml").write_text(SMALL)
    return tmp_path


SMALL = """\
site_name: small
theme: mkdocs
use_directory_urls: false
hooks: [docs/site_hook.py]
exclude_docs: "*.py"
nav: [index.md]
"""


def test_a_new_page_is_taken_in_with_what_it_links_to(small: Path) -> None:
    """It stands under More."""
    done = build(small, small / "site")
    assert done.returncode == 0, done.stdout + done.stderr
    start = (small / "site" / "index.html").read_text(encoding="utf-8")
    assert start.index("More") < start.index('href="new.html"')
    assert 'href="files/code.py.html"' in (small / "site" / "new.html").read_text(encoding="utf-8")
    assert "print(1 < 2)" in plain(small / "site" / "files" / "code.py.html")


def test_a_link_that_leads_nowhere_is_refused(small: Path) -> None:
    """With the page and the file that is not there."""
    (small / "code.py").unlink()
    done = build(small, small / "site")
    assert done.returncode == 1
    assert "docs/new.md links to ../code.py, but there is no file code.py" in done.stderr
