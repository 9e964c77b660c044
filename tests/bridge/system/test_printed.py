"""What strangers have named reaches the terminal as text."""

from __future__ import annotations

import pytest

from roambus.bridge.system.printed import escaped


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("agent=x\033]0;PWNED\007", "agent=x\\x1b]0;PWNED\\x07"),
        ("a\rb\x9b31m", "a\\rb\\x9b31m"),
        ("\u202eabc", "\\u202eabc"),
        ("a\tb\nc é 漢 \u00a0", "a\tb\nc é 漢 \u00a0"),
        ("bytes \udcff", "bytes \udcff"),
    ],
)
def test_what_acts_on_a_terminal_is_written_out(text: str, shown: str) -> None:
    """Lines, tabs, letters of any script and bytes that are no text stay."""
    assert escaped(text) == shown
