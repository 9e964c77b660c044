"""The cache of compiled code."""

import shutil
from pathlib import Path
from threading import Thread

import pytest
from numba.core.caching import CacheImpl

from roambus.bridge.backends.radio import kernel
from roambus.bridge.backends.radio.engine import PACKAGE, entry_point, fingerprint
from roambus.bridge.backends.radio.kernel import Parts
from roambus.bridge.system.files import locked
from tests.bridge.backends.radio.runs import at_places, run


@pytest.mark.parametrize("edited", ["receiver.py", "mac/csma_ca.py"])
def test_an_edit_anywhere_in_the_package_changes_the_fingerprint(tmp_path: Path, edited: str) -> None:
    """Behaviour counts; nothing else does."""
    package = shutil.copytree(PACKAGE, tmp_path / "radio")
    assert fingerprint(package) == fingerprint()
    with (package / edited).open("a") as source_file:
        source_file.write("EDITED = True\n")
    assert fingerprint(package) != fingerprint()


def test_the_cache_is_named_after_the_sources() -> None:
    """Code that has changed never opens the cache of what it was before."""

    def loop(until: int) -> int:
        return until

    assert entry_point(loop, "mac").__qualname__.endswith(fingerprint())


def test_where_nothing_can_be_kept_each_process_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user without a home folder, who may not write where roambus is installed, has the radio, too."""
    monkeypatch.setattr(CacheImpl, "_locator_classes", [])

    def plus_one(number: int) -> int:
        return number + 1

    assert entry_point(plus_one, "mac")(1) == 2


def test_while_one_process_compiles_others_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then they read what it has made; here it is there already."""
    run(at_places(0), [])
    parts = Parts.of(at_places(0))
    cache = Path(kernel._loop(parts).stats.cache_path)
    monkeypatch.setattr(kernel, "_BOUND", {})
    monkeypatch.setattr(kernel, "is_compiled", lambda _: False)
    waiting = Thread(target=run, args=(at_places(0), []))
    with locked(cache):
        waiting.start()
        waiting.join(0.2)
        assert kernel._BOUND == {}
    waiting.join()
    assert [name for name, *_ in kernel._BOUND] == [parts.name]
