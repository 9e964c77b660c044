"""The types of the fixtures by their public name: `from roambus.pytest_plugin import PointMaker`.

The plugin is an extension (`roambus docs testing`); pytest and this module find it by its entry point.
"""

from __future__ import annotations

from typing import Any

from roambus.bridge.system.code import load, named


def __getattr__(name: str) -> Any:
    """Return a name of the plugin; raise ImportError without the plugin."""
    point = named("pytest11").get("roambus")
    if point is None:
        raise ImportError("the pytest plugin of roambus is not installed: it is the extension testing")
    return getattr(load(point), name)
