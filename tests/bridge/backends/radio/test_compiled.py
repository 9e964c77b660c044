"""The cache of compiled code."""

import shutil
from pathlib import Path

from bridge.backends.radio.compiled import PACKAGE, fingerprint
from bridge.backends.radio.kernel import _compile


def test_an_edit_anywhere_in_the_package_changes_the_fingerprint(tmp_path: Path) -> None:
    """Content and names count; nothing else does."""
    for source in PACKAGE.glob("*.py"):
        shutil.copy(source, tmp_path)
    assert fingerprint(tmp_path) == fingerprint()
    with (tmp_path / "receiver.py").open("a") as source_file:
        source_file.write("# edited\n")
    assert fingerprint(tmp_path) != fingerprint()


def test_other_sources_are_other_compiled_code() -> None:
    """What the entry point closes over is part of its key in Numba's cache."""
    first, second = _compile("sources"), _compile("edited sources")
    keys = [entry._cache._index_key((), entry.targetctx.codegen()) for entry in (first, second)]
    assert keys[0] != keys[1]
    assert keys[0] == _compile("sources")._cache._index_key((), first.targetctx.codegen())
