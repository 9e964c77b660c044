"""Puts figures into the page itself, so that the page can hide single lines of them.

A figure is a file, which may come from anywhere: only elements and attributes that draw are taken over.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError, fromstring, tostring

from roambus.bridge.errors import UserError
from roambus.experiments.figures.drawing import LINE_ID

_SVG = "{http://www.w3.org/2000/svg}"
_XLINK_HREF = "{http://www.w3.org/1999/xlink}href"
_ELEMENTS = frozenset({"svg", "g", "defs", "path", "use", "clipPath", "rect", "text", "tspan"})
_ATTRIBUTES = frozenset({"viewBox", "d", "x", "y", "width", "height", "transform", "style", "clip-path"})
_WORDS = frozenset({"text", "tspan"})
_REFERRED_TO = frozenset({"path", "clipPath"})
_TARGET = "url(#"


def inline_figure(file: Path, prefix: str, lines: Sequence[str], alternative: str) -> str:
    """The figure as an element `svg`; its ids begin with `prefix`, so that several can stand in one page.

    Its lines get `lines` as their data-at, in their order; `alternative` is for who cannot see it. Raises UserError if
    the file is no figure, OSError.
    """
    root = _parsed(file)
    _leave_out_foreign(root)
    for element in root.iter():
        _localise(element, prefix, lines)
    for size in ("width", "height"):
        root.attrib.pop(size, None)
    root.attrib.update({"role": "img", "aria-label": alternative})
    return tostring(root, encoding="unicode")


def _parsed(file: Path) -> Element:
    try:
        root = fromstring(file.read_bytes())  # noqa: S314  # expat itself bounds what entities grow to
    except ParseError as error:
        raise UserError(f"{file}: this is no SVG: {error}: delete it and run `roambus figures` again") from None
    if root.tag != f"{_SVG}svg":
        raise UserError(
            f"{file}: this is no SVG, but begins with {root.tag!r}: delete it and run `roambus figures` again"
        )
    return root


def _leave_out_foreign(parent: Element) -> None:
    for child in list(parent):
        if child.tag.startswith(_SVG) and child.tag.removeprefix(_SVG) in _ELEMENTS:
            _leave_out_foreign(child)
        else:
            parent.remove(child)


def _localise(element: Element, prefix: str, lines: Sequence[str]) -> None:
    """Gives an element names of its own, and leaves it only the attributes and texts that draw."""
    tag, old = element.tag.removeprefix(_SVG), dict(element.attrib)
    element.tag, element.tail = tag, None
    element.text = element.text if tag in _WORDS else None
    element.attrib.clear()
    for name in filter(_ATTRIBUTES.__contains__, old):
        element.set(name, " ".join(old[name].split()).replace(_TARGET, f"{_TARGET}{prefix}"))
    if old.get(_XLINK_HREF, "").startswith("#"):
        element.set("href", f"#{prefix}{old[_XLINK_HREF][1:]}")
    if "id" in old and tag in _REFERRED_TO:
        element.set("id", prefix + old["id"])
    line = re.fullmatch(LINE_ID, old.get("id", ""))
    if line is not None:
        element.set("data-at", "".join(lines[int(line[1]) :][:1]))
