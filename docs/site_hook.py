"""Adds to the site that mkdocs builds: pages of extensions, linked files of the repository, and a whole contents.

Each extension has its pages in its folder, so that deleting the folder deletes them; the site shows them, with their
pictures and tables, under the same paths. Pages link to files outside docs/ by their paths in the repository, such as
`../bridge/wire/wire.proto`. The site shows each such file as a page below files/, and the links lead there.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

from roambus.commands.pages import filled

ROOT = Path(__file__).parents[1]
DOCS = "docs/"
FILES = "files/"
"""Below it stand the pages of files from outside docs/, each under its path in the repository."""

EXTENSIONS = "Extensions"
"""The entry of the contents to which the pages of extensions are added."""
OF_EXTENSION = re.compile(r"extensions/[^/]+/(page\.md|results/.+\.(md|png|gif|csv))")
"""The files of an extension that the site has under their own paths."""

LINK = re.compile(r"(?<=\]\()([^)#\s:]+)(?=[)#])")
"""The target of a relative link, without its anchor."""

CELL = re.compile(r"<td.*?</td>", re.DOTALL)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add the pages of extensions to the contents, and at their end the pages that these do not name."""
    for entry in config.nav or ():
        if isinstance(entry, dict) and EXTENSIONS in entry:
            entry[EXTENSIONS] += _extensions()
    named = set(_pages(config.nav))
    pages = (page.relative_to(config.docs_dir).as_posix() for page in sorted(Path(config.docs_dir).rglob("*.md")))
    others = [page for page in pages if page not in named]
    if others:
        config.nav = [*(config.nav or ()), {"More": others}]
    return config


def _extensions() -> Iterator[dict[str, Any]]:
    """Entries of the contents: each extension's page, with its results below it if there are any."""
    for page in sorted(ROOT.glob("extensions/*/page.md")):
        measured = sorted(page.parent.glob("results/*.md"))
        paths = [file.relative_to(ROOT).as_posix() for file in (page, *measured)]
        yield {page.parent.name: paths if measured else paths[0]}


def _pages(entry: Any) -> Iterator[str]:
    if isinstance(entry, str):
        yield entry
    elif entry is not None:
        for part in entry.values() if isinstance(entry, dict) else entry:
            yield from _pages(part)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages of extensions, those of linked files, and of files that these link to."""
    for file in sorted(ROOT.glob("extensions/*/**/*")):
        if OF_EXTENSION.fullmatch(uri := file.relative_to(ROOT).as_posix()):
            files.append(File(uri, str(ROOT), config.site_dir, config.use_directory_urls))
    waiting = [file.src_uri for file in files.documentation_pages()]
    while waiting:
        for path in _outside(waiting.pop()):
            uri = _uri(path)
            if files.get_file_from_path(uri) is None:
                content = _page_of(path)
                files.append(File.generated(config, uri, content=content, inclusion=InclusionLevel.NOT_IN_NAV))
                waiting.append(uri)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001  # mkdocs' names
    """Fills in the tables of the code, and leads links to the pages of the site instead of the repository's files."""
    here = page.file.src_uri
    marked = _marked(markdown, Path(page.file.abs_src_path or here))
    return LINK.sub(lambda link: _relative(here, link[1]), filled(marked))


def _marked(markdown: str, file: Path) -> str:
    """Says below the title of a page of measurements that today's code would make other runs, if it would."""
    if not file.with_suffix(".keys").is_file():
        return markdown
    from docs.writers.keys import stale_line  # noqa: PLC0415  # only a site with records needs what makes runs

    line = stale_line(file)
    return markdown.replace("\n", f"\n\n*{line}*\n", 1) if line else markdown


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001  # mkdocs' names
    """A bar in a cell is written with a backslash, which Python's Markdown would show in code."""
    return CELL.sub(lambda cell: cell[0].replace(r"\|", "|"), html)


def _relative(here: str, target: str) -> str:
    path = _target(here, target)
    if not (ROOT / path).is_file():
        if not path.startswith(DOCS):  # within docs/ mkdocs looks itself
            raise PluginError(f"{_path(here)} links to {target}, but there is no file {path}")
        return target
    return posixpath.relpath(_uri(path), posixpath.dirname(here) or ".")


def _outside(uri: str) -> Iterable[str]:
    """The files outside docs/ that a page links to; of files that are shown as they are, none."""
    path = _path(uri)
    if not path.endswith(".md"):
        return []
    targets = (_target(uri, link) for link in LINK.findall((ROOT / path).read_text(encoding="utf-8")))
    return [target for target in targets if not target.startswith(DOCS) and (ROOT / target).is_file()]


def _target(uri: str, link: str) -> str:
    """The path in the repository that a link of a page means."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(_path(uri)), link))


def _path(uri: str) -> str:
    """The file in the repository that a page of the site is made of."""
    if OF_EXTENSION.fullmatch(uri):
        return uri
    if not uri.startswith(FILES):
        return DOCS + uri
    path = uri.removeprefix(FILES)
    return path if (ROOT / path).is_file() else path.removesuffix(".md")


def _uri(path: str) -> str:
    """The URI of a page by its path: the inverse of `_path`."""
    if path.startswith(DOCS):
        return path.removeprefix(DOCS)
    if OF_EXTENSION.fullmatch(path):
        return path
    return FILES + (path if path.endswith(".md") else f"{path}.md")


def _page_of(path: str) -> str:
    text = (ROOT / path).read_text(encoding="utf-8")
    if path.endswith(".md"):
        return text
    head = f"---\ntitle: {Path(path).name}\nsearch:\n  exclude: true\n---\n\n# {path}\n"
    return f"{head}\n````{Path(path).suffix[1:]}\n{text}````\n"
