"""The types of the fixtures by their public name: `from roambus.pytest_plugin import PointMaker`.

The plugin is an extension (`roambus docs testing`); pytest and this module find it by its entry point.
"""

from __future__ import annotations

from typing import Any

from roambus.bridge.system.code import brought


def __getattr__(name: str) -> Any:
    """Return a name of the plugin; raise ImportError without the plugin."""
    plugin = brought("pytest11", "roambus")
    if plugin is None:
        raise ImportError("the pytest plugin of roambus is not installed: it is the extension testing")
    return getattr(plugin, name)
