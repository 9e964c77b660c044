"""Comparing transcripts so that a person sees what is different, and after which command."""

from __future__ import annotations

from difflib import unified_diff
from itertools import zip_longest


def difference(name: str, written: str, run: str) -> str:
    """Empty if there is none; else file, line and command of the first, and all of them as a unified diff."""
    if written == run:
        return ""
    before, after = written.splitlines(), run.splitlines()
    pairs = enumerate(zip_longest(before, after))
    first = next((index for index, (old, new) in pairs if old != new), len(before))
    command = next((line for line in reversed(before[:first]) if line.startswith(">")), "the head")
    diff = unified_diff(before, after, f"{name} (as written)", f"{name} (as it runs)", lineterm="", n=3)
    return "\n".join([f"{name}:{first + 1}: below {command!r} something else happens:", *diff])
