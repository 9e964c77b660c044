"""The mutants that no test can notice, because what they do is the same: `equivalent.toml`, each with its reason."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import NamedTuple

from benchmarks.mutations.targets import Mutant

FILE = Path(__file__).with_name("equivalent.toml")


class Key(NamedTuple):
    """Names a mutant, wherever its line has moved."""

    module: str
    method: str
    what: str


def key(mutant: Mutant) -> Key:
    """The key of a mutant in the list of equivalent ones."""
    return Key(mutant.module, mutant.method, mutant.what)


def read_equivalents(file: Path = FILE) -> dict[Key, str]:
    """Why each listed mutant is equivalent to the original, by its key."""
    entries = tomllib.loads(file.read_text()).get("equivalent", [])
    return {Key(one["module"], one["method"], one["what"]): one["reason"] for one in entries}
