"""How options of the command line are read that are given several times."""

from __future__ import annotations

from collections.abc import Sequence

from bridge.errors import UserError


def pairs(option: str, texts: Sequence[str]) -> dict[str, str]:
    """NAME=VALUE of each `option`; raises UserError."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise UserError(f"{option} {text}: write NAME=VALUE")
        if name in found:
            raise UserError(f"{option} {name}: given twice")
        found[name] = value
    return found
