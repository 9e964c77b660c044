"""The profiles of MFT-PubSub."""

from __future__ import annotations

from roambus.python_protocol.mft.messages import MftParameters
from roambus.python_protocol.settings import parameter_settings

CORRECTIONS = {
    "sticky_parent",
    "home_decides",
    "correct_old",
    "forget_ways",
    "replay_always",
    "greet_back",
    "tell_turns",
    "ask_gaps",
}


def test_as_published_switches_all_corrections_off_and_changes_nothing_else() -> None:
    """Its first sender of a round is the parent, too."""
    published, ours = MftParameters(profile="as_published"), MftParameters()
    changed = {name for name in parameter_settings(MftParameters) if getattr(published, name) != getattr(ours, name)}
    assert changed == {*CORRECTIONS, "profile"}
    assert not any(getattr(published, name) for name in CORRECTIONS)


def test_the_thesis_is_the_profile_unless_another_is_named() -> None:
    """It has every correction."""
    assert MftParameters(profile="thesis") == MftParameters()
