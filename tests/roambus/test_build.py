"""`roambus doctor --build`: what is missing is named, and what is built lies where runs look for it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import roambus
from roambus.bridge.backends.castalia import installation
from roambus.bridge.backends.castalia.installation import Modules, build_modules, find_modules
from roambus.bridge.system.errors import RoambusError, UserError
from roambus.command_line import commands

MAKEFILE = "castalia:\n\t@echo compiling\n\ttouch $(BUILD)/libroambus.so\n"


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Sources that make builds at once; the environment names no others, and a cache of their own."""
    folder = tmp_path / "omnet"
    folder.mkdir()
    (folder / "Makefile").write_text(MAKEFILE)
    monkeypatch.delenv("ROAMBUS_OMNET", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(installation, "PACKAGED", folder)
    return folder


def installed(sources: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same sources, as pip installs them."""
    folder = sources.parent / "site-packages" / "roambus" / "omnet"
    folder.parent.mkdir(parents=True)
    monkeypatch.setattr(installation, "PACKAGED", sources.rename(folder))
    return folder


def call() -> Result:
    return CliRunner().invoke(commands, ["doctor", "--build", "castalia"])


def test_in_a_checkout_all_goes_to_the_folder_build(sources: Path) -> None:
    """As by `make -C omnet castalia`."""
    build_modules(find_modules())
    assert find_modules().library == sources / "build" / "libroambus.so"
    assert find_modules().library.is_file()


def test_installed_all_goes_to_the_users_cache(
    sources: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The package's folder stays as it is; what make prints does not mix with the command's own output."""
    folder = installed(sources, monkeypatch)
    build_modules(find_modules())
    library = find_modules().library
    assert library.is_file()
    assert library.is_relative_to(sources.parent / "cache" / "roambus" / "castalia")
    assert library.parent.name.startswith(f"{roambus.__version__}-")
    assert [path.name for path in folder.iterdir()] == ["Makefile"]
    captured = capfd.readouterr()
    assert captured.out == ""
    assert "compiling" in captured.err


@pytest.mark.parametrize("root", ["OMNETPP_ROOT", "CASTALIA_ROOT"])
def test_other_simulators_have_a_library_of_their_own(
    sources: Path, monkeypatch: pytest.MonkeyPatch, root: str
) -> None:
    """It is compiled against their headers."""
    installed(sources, monkeypatch)
    found = set()
    for name in ("a", "b", "a"):
        monkeypatch.setenv(root, name)
        found.add(find_modules().library)
    assert len(found) == 2


def test_sources_that_cannot_be_written_to_are_left_alone(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever they lie."""
    monkeypatch.setattr(os, "access", lambda path, _: path != sources)
    assert find_modules().build.is_relative_to(sources.parent / "cache")


def test_the_environment_can_name_other_sources(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are built in place."""
    monkeypatch.setenv("ROAMBUS_OMNET", "/elsewhere/omnet")
    assert find_modules() == Modules(Path("/elsewhere/omnet"), Path("/elsewhere/omnet/build"))
    with pytest.raises(
        UserError, match="/elsewhere/omnet does not hold the sources of the modules: correct ROAMBUS_OM"
    ):
        build_modules(find_modules())


def test_make_cannot_build_below_a_blank(sources: Path) -> None:
    """It would take the path for two."""
    with pytest.raises(UserError, match="a b: let XDG_CACHE_HOME name a folder without blanks"):
        build_modules(Modules(sources, sources / "a b"))


def test_an_error_of_make_ends_the_command(sources: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Its own words stand above ours."""
    (sources / "Makefile").write_text("castalia:\n\t@echo no such header >&2; false\n")
    with pytest.raises(RoambusError, match="make castalia failed: its error is above"):
        build_modules(find_modules())
    assert "no such header" in capfd.readouterr().err


def test_all_that_is_missing_is_named_at_once(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what to do about each, before anything is compiled."""
    monkeypatch.setenv("PATH", str(sources))
    for root in ("OMNETPP_ROOT", "CASTALIA_ROOT"):
        monkeypatch.delenv(root, raising=False)
    error = call().exception
    assert isinstance(error, UserError)
    assert str(error).startswith("nothing can be built for castalia yet: OMNeT++ is missing (OMNETPP_ROOT is not")
    for what in ("CASTALIA_ROOT", "there is no g++", "apt-get install make", "libzmq3-dev", "protobuf-compiler"):
        assert what in str(error)
    assert not (sources / "build").exists()
