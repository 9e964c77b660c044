"""Holds results against the checklist: each item is stated, or missing with what to do."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from roambus.experiments.provenance.checklist import ITEMS, Item, MissingError
from roambus.experiments.provenance.evidence import Evidence


@dataclass(frozen=True, slots=True)
class Finding:
    """An item with what is stated, or with what to do because it is not; `source` is the checklist's letter."""

    item: str
    source: str
    is_stated: bool
    words: str


def audit(results: Path) -> list[Finding]:
    """The findings for all items, in their order; raises UserError if there are no results or an ini is damaged."""
    found = Evidence(results)
    found.traces  # noqa: B018  # raises if there is none
    return [_finding(item, found) for item in ITEMS]


def _finding(item: Item, found: Evidence) -> Finding:
    try:
        return Finding(item.name, item.source, True, item.find(found))
    except MissingError as missing:
        return Finding(item.name, item.source, False, str(missing))
