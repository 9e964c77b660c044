"""The cache of compiled code."""

import shutil
from pathlib import Path
from threading import Thread
from types import ModuleType
from typing import cast

import pytest
from numba.core.caching import CacheImpl

from roambus.bridge.backends.radio import kernel
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.backends.radio.engine import PACKAGE, entry_point, fingerprint
from roambus.bridge.backends.radio.kernel import Parts
from roambus.bridge.backends.radio.mac.interface import Mac
from roambus.bridge.system.code import PARTS
from roambus.bridge.system.errors import UserError
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


def test_a_helper_outside_of_the_package_changes_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numba looks at the loop's own file alone, so that old code of a helper would silently run on."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "fast_mac.py").write_text("from fast_helper import wait\n")
    names = set()
    for code in ("wait = 1\n", "wait = 2\n"):
        (tmp_path / "fast_helper.py").write_text(code)
        kernel._with_hash.cache_clear()
        names.add(kernel._with_hash("fast_mac"))
    assert len(names) == 2


def test_a_helper_in_the_folder_of_an_extension_changes_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A MAC of ours in several modules is compiled from them all; what it imports from elsewhere has other names."""
    monkeypatch.setitem(PARTS, "roambus.extensions", tmp_path)
    (tmp_path / "split_mac").mkdir()
    mac, helper, further = (tmp_path / "split_mac" / name for name in ("mac.py", "helper.py", "further.py"))
    mac.write_text("from roambus.extensions.split_mac.helper import wait\nfrom roambus.bridge.keys import key\n")
    helper.write_text("from roambus.extensions.split_mac.further import wait\n")
    further.write_text("wait = 1\n")
    (tmp_path / "split_mac" / "unused.py").touch()
    assert kernel._of_its_extension([mac]) == {mac, helper, further}
    assert kernel._of_its_extension([PACKAGE / "mac/csma_ca.py"]) == {PACKAGE / "mac/csma_ca.py"}


def test_a_data_file_of_the_package_changes_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table that a module has read is a constant of the compiled loop; templates are none."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "tabled").mkdir()
    (tmp_path / "tabled/__init__.py").touch()
    (tmp_path / "tabled/mac.py").touch()

    def named_with(file: str, content: str) -> str:
        (tmp_path / "tabled" / file).write_text(content)
        kernel._with_hash.cache_clear()
        return kernel._with_hash("tabled.mac")

    names = [named_with("table.txt", "1"), named_with("table.txt", "2"), named_with("a.ini.j2", "3")]
    assert names[0] != names[1] == names[2]


class Uncompilable:
    """A loop that Numba refuses."""

    class stats:  # noqa: N801  # as Numba names it
        """Nothing is kept."""

        cache_path = None

    def compile(self, signature: object) -> None:
        """Refuse it as Numba does."""
        del signature
        raise TypeError("\x1b[1mFailed in nopython mode pipeline (step: nopython frontend)\n\x1b[0mnot a number")


def test_a_package_whose_code_is_not_compiled_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """With what Numba says of the cause, and without the callers."""
    state = RadioBackend(at_places(0))._state
    monkeypatch.setattr(kernel, "_loop", lambda _: Uncompilable())
    monkeypatch.setattr(kernel, "_BOUND", {})
    problem = "the radio cannot be compiled with slow.mac, which raised TypeError: not a number"
    with pytest.raises(UserError, match=problem):
        kernel.bind(state, Parts(cast("Mac", ModuleType("slow.mac"))))
    with pytest.raises(TypeError):
        kernel.bind(state, Parts.of(at_places(0)))
