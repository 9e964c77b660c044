"""A broken entry point of another package is an error with its package's name, not a traceback, wherever it is used."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from roambus.bridge.system.code import (
    AGENTS,
    EXECUTORS,
    RECORDERS,
    SIMULATORS,
    STORES,
    check_present,
    load,
    named,
)
from roambus.bridge.system.errors import UserError
from roambus.console.sweep_runs import extension, recorder
from roambus.doctor import simulators
from roambus.experiments.sweeps.stores import open_store

GROUPS = (EXECUTORS, RECORDERS, SIMULATORS, STORES)
BROKEN = "broken of package theirs: cannot import theirs:Thing: out of order"


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package that registers a thing of each kind, and that cannot be imported."""
    (tmp_path / "theirs.py").write_text("raise RuntimeError('out of order')\n")
    info = tmp_path / "theirs-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    lines = "broken = theirs:Thing\ngone = roambus.extensions.gone.command:Thing\n"
    (info / "entry_points.txt").write_text("".join(f"[{group}]\n{lines}" for group in GROUPS))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "theirs", raising=False)  # of another test


def test_the_doctor_names_the_package() -> None:
    """It asks each simulator."""
    with pytest.raises(UserError, match=f"roambus.simulators: {BROKEN}"):
        simulators()


def test_a_store_names_the_package() -> None:
    """Results lie there."""
    with pytest.raises(UserError, match=f"roambus.stores: {BROKEN}"):
        open_store("broken://bucket/results")


def test_an_option_names_the_package() -> None:
    """The executor is an extension's."""
    with pytest.raises(UserError, match=f"roambus.executors: {BROKEN}"):
        extension("--spark", EXECUTORS, "broken")


def test_an_option_without_its_extension_is_refused() -> None:
    """The message names the option."""
    with pytest.raises(UserError, match="--nothing: this installation has no extension for it"):
        extension("--nothing", EXECUTORS, "nothing")


def test_another_packages_recorder_does_not_take_the_place_of_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    """`--record` asks for the one that is called so."""
    monkeypatch.setattr("roambus.console.sweep_runs.named", lambda group: {"broken": named(group)["broken"]})
    with pytest.raises(UserError, match="--record: this installation has no extension"):
        recorder(is_kept=True)


def test_an_end_of_the_process_is_an_error(tmp_path: Path) -> None:
    """A package that calls `sys.exit` on import does not end the command silently."""
    (tmp_path / "theirs.py").write_text("raise SystemExit(0)\n")
    with pytest.raises(UserError, match="cannot import theirs:Thing: SystemExit: 0"):
        load(named(STORES)["broken"])


@pytest.mark.parametrize("group", GROUPS)
def test_an_extension_whose_folder_is_deleted_has_no_entry_points(group: str) -> None:
    """The metadata of an installation names it until roambus is installed again; other packages are not looked at."""
    assert "gone" not in named(group)
    assert "broken" in named(group)


def test_the_core_of_roambus_is_there() -> None:
    """A module of roambus may be a file or a package."""
    check_present(AGENTS, "mft", "the agent mft")
    assert {"mft", "beacon"} <= named(AGENTS).keys()


def test_what_a_deleted_extension_brought_is_refused_with_its_name() -> None:
    """Another package's entry point, and a name without one, are left to the caller."""
    for name in ("broken", "nothing"):
        check_present(STORES, name, f"the store {name}")
    with pytest.raises(UserError, match=r"the store gone: .* no longer has its extension, roambus\.extensions\.gone$"):
        check_present(STORES, "gone", "the store gone")
