"""Debian's tshark, as tests ask it what it makes of a capture."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

MALFORMED = "_ws.malformed || _ws.lua.error || _ws.expert.group == 0x07000000"
"""A filter for packets that are wrong in any dissector, or that make one fail."""


def tshark(capture: Path, script: Path, *options: str) -> list[str]:
    """The lines that tshark prints of a capture with a dissector in Lua; skips where there is no tshark."""
    program = shutil.which("tshark")
    if program is None:
        pytest.skip("tshark is not installed (Debian's package tshark)")
    command = [program, "-X", f"lua_script:{script}", "-r", str(capture), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = [line for line in done.stderr.splitlines() if line and not line.startswith("Running as user")]
    assert (done.returncode, said) == (0, [])
    return done.stdout.splitlines()


def columns(capture: Path, script: Path, fields: Sequence[str], which: str = "") -> list[list[str]]:
    """The values of these fields in each packet; an empty text for what a packet does not have."""
    options = [word for field in fields for word in ("-e", field)]
    lines = tshark(capture, script, *(["-Y", which] if which else []), "-T", "fields", *options)
    return [line.split("\t") for line in lines]


def counts(capture: Path, script: Path, fields: Sequence[str]) -> Counter[tuple[str, ...]]:
    """How many packets have each combination of values."""
    return Counter(tuple(row) for row in columns(capture, script, fields))
