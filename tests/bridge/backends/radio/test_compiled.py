"""The cache of compiled code."""

import shutil
from pathlib import Path

from roambus.bridge.backends.radio.engine import FINGERPRINT_LENGTH, PACKAGE, entry_point, fingerprint


def test_an_edit_anywhere_in_the_package_changes_the_fingerprint(tmp_path: Path) -> None:
    """Content and names count; nothing else does."""
    for source in PACKAGE.glob("*.py"):
        shutil.copy(source, tmp_path)
    assert fingerprint(tmp_path) == fingerprint()
    with (tmp_path / "receiver.py").open("a") as source_file:
        source_file.write("# edited\n")
    assert fingerprint(tmp_path) != fingerprint()


def test_the_cache_is_named_after_the_sources() -> None:
    """Code that has changed never opens the cache of what it was before."""

    def loop(until: int) -> int:
        return until

    assert entry_point(loop).__qualname__.endswith(fingerprint()[:FINGERPRINT_LENGTH])
