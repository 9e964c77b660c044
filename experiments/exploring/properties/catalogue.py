"""All properties by name, and those that a user has written in a file."""

from __future__ import annotations

from pathlib import Path

from roambus.bridge.agents.code import Announce, announce_file, silently
from roambus.bridge.agents.imports import import_file
from roambus.bridge.errors import UserError
from roambus.experiments.exploring.properties.delivering import (
    everything_delivered,
    nothing_lost,
    nothing_twice,
    order_kept,
    probes_arrive,
)
from roambus.experiments.exploring.properties.leaders import one_leader_a_partition
from roambus.experiments.exploring.properties.property import Check, Property, View
from roambus.experiments.exploring.properties.routing import (
    no_loops,
    no_phantoms,
    nothing_stuck,
    tables_lead_to_subscribers,
)
from roambus.python_protocol.settings import unknown

EVENTUALLY_QUIET = "eventually quiet"


def _never_asked(_: View) -> str | None:
    """Whatever happens, a time comes when nothing is under way (looked for in the graph of all states)."""
    return None


def _property(
    check: Check,
    *,
    at_any_time: bool = False,
    history: bool = False,
    lasts: bool = False,
    name: str | None = None,
) -> Property:
    about = (check.__doc__ or "").strip().split("\n")[0]
    return Property(name or check.__name__.replace("_", " "), check, at_any_time, history, lasts, about)


PROPERTIES = {
    one.name: one
    for one in (
        _property(no_loops, at_any_time=True),
        _property(no_loops, name="no lasting loops"),
        _property(tables_lead_to_subscribers),
        _property(nothing_stuck),
        _property(no_phantoms),
        _property(nothing_lost, history=True),
        _property(everything_delivered, history=True),
        _property(nothing_twice, history=True, lasts=True),
        _property(order_kept, history=True, lasts=True),
        _property(probes_arrive),
        _property(one_leader_a_partition),
        _property(_never_asked, name=EVENTUALLY_QUIET),
    )
}
"""The properties that come with roambus, by name."""


def find_property(text: str, folder: Path, announce: Announce = silently) -> Property:
    """The property of that name, or that of `file.py:function`, a path from `folder`; `announce` is told of the file.

    Raises ValueError, UserError, OSError.
    """
    file, colon, name = text.rpartition(":")
    if not colon:
        if text not in PROPERTIES:
            raise ValueError(unknown("property", text, PROPERTIES))
        return PROPERTIES[text]
    announce_file(f"property {text}", folder / file, announce)
    found = getattr(import_file(f"property {text!r}", folder / file), name, None)
    if not isinstance(found, Property):
        raise UserError(f"property {text!r}: {name} is no function under @once_quiet or @at_any_time")
    return found
