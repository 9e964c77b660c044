"""Makes the file of a figure an element of a page.

The file may come from anywhere, so only listed drawing elements and attributes are kept: SVG has more ways to run a
script than any list.
"""

from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import Element, ParseError, fromstring, tostring

from roambus.bridge.system.errors import UserError

# What Matplotlib writes and a figure needs. Styles are taken over whole: the policy of the page loads nothing for them.
_SVG = "{http://www.w3.org/2000/svg}"
_XLINK_HREF = "{http://www.w3.org/1999/xlink}href"
_ELEMENTS = frozenset({"svg", "g", "defs", "path", "use", "clipPath", "rect", "text", "tspan"})
_ATTRIBUTES = frozenset({"viewBox", "d", "x", "y", "width", "height", "transform", "style", "clip-path"})
_WORDS = frozenset({"text", "tspan"})
_REFERRED_TO = frozenset({"path", "clipPath"})
_TARGET = "url(#"


def inline_figure(file: Path, prefix: str, alternative: str) -> str:
    """The figure as an element `svg`, with ids that begin with `prefix`; `alternative` is for screen readers.

    Raises UserError, OSError.
    """
    root = _parsed(file)
    try:
        _leave_out_foreign(root)
    except RecursionError:
        raise UserError(f"{file}: its groups are nested too deep: delete it and run `roambus figures` again") from None
    for element in root.iter():
        _localise(element, prefix)
    for name in ("width", "height"):
        root.attrib.pop(name, None)
    root.attrib |= {"role": "img", "aria-label": alternative}
    return tostring(root, encoding="unicode")


def _parsed(file: Path) -> Element:
    try:
        root = fromstring(file.read_bytes())  # noqa: S314  # expat itself bounds what entities grow to
    except (ParseError, LookupError, ValueError) as error:  # also of an encoding that nobody knows
        raise UserError(f"{file}: this is not an SVG: {error}: delete it and run `roambus figures` again") from None
    # Well-formed XML of another kind would become a page with nothing in the figure's place, and nobody would know why.
    if root.tag != f"{_SVG}svg":
        raise UserError(
            f"{file}: this is not an SVG, but begins with {root.tag!r}: delete it and run `roambus figures` again"
        )
    return root


def _leave_out_foreign(parent: Element) -> None:
    for child in list(parent):
        if child.tag.startswith(_SVG) and child.tag.removeprefix(_SVG) in _ELEMENTS:
            _leave_out_foreign(child)
        else:
            parent.remove(child)


def _localise(element: Element, prefix: str) -> None:
    # Two figures on a page use the same ids, and a page has each id once: so all get the figure's prefix.
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
