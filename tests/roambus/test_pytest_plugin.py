"""The types of the plugin's fixtures have a public name, which an entry point leads to."""

from __future__ import annotations

import re

import pytest

import roambus.pytest_plugin as public
from roambus.python_protocol import simtime


def test_a_name_is_that_of_the_plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever module the entry point names; what that does not have cannot be imported."""
    monkeypatch.setattr(public, "brought", lambda *asked: {("pytest11", "roambus"): simtime}[asked])
    assert public.SECOND is simtime.SECOND
    with pytest.raises(AttributeError, match="Point"):
        assert public.Point


def test_without_the_plugin_its_names_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the extension."""
    monkeypatch.setattr(public, "brought", lambda *_: None)
    with pytest.raises(ImportError, match=re.escape("not installed: it is the extension testing")):
        assert public.PointMaker
