"""A broken entry point of another package is an error with its package's name, not a traceback, wherever it is used."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from roambus import doctor
from roambus.bridge.agents import agent_names, own_agents
from roambus.bridge.system import code
from roambus.bridge.system.code import (
    AGENTS,
    EXECUTORS,
    RECORDERS,
    SIMULATORS,
    STORES,
    brought,
    check_present,
    load,
    named,
)
from roambus.bridge.system.errors import UserError
from roambus.console.sweep_runs import extension, recorder
from roambus.doctor import simulators
from roambus.experiments.sweeps.stores import open_store

GROUPS = (EXECUTORS, RECORDERS, SIMULATORS, STORES)
LINES = "broken = theirs:Thing\ngone = roambus.extensions.gone.command:Thing\n"
BROKEN = "broken of package theirs: cannot import theirs:Thing: out of order"


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package that registers a thing of each kind, and that cannot be imported."""
    (tmp_path / "theirs.py").write_text("raise RuntimeError('out of order')\n")
    install(tmp_path, "theirs", "".join(f"[{group}]\n{LINES}" for group in (*GROUPS, AGENTS)))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "theirs", raising=False)  # of another test


def install(folder: Path, name: str, entry_points: str) -> None:
    """Writes the metadata of a package."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(entry_points)


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
    monkeypatch.setattr(code, "named", lambda group: {"broken": named(group)["broken"]})
    with pytest.raises(UserError, match="--record: this installation has no extension"):
        recorder(is_kept=True)


def test_the_entry_point_of_a_name_is_loaded_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """None of the others is imported."""
    points = {"broken": named(STORES)["broken"], "mine": EntryPoint("mine", f"{__name__}:LINES", STORES)}
    monkeypatch.setattr(code, "named", {STORES: points}.get)
    assert (brought(STORES, "mine"), brought(STORES, "another")) == (LINES, None)


@pytest.mark.parametrize(
    ("raised", "error"), [("KeyboardInterrupt", KeyboardInterrupt), ("Refusal('as it is')", UserError)]
)
def test_an_interruption_and_a_refusal_pass_as_they_are(
    tmp_path: Path, raised: str, error: type[BaseException]
) -> None:
    """Neither is a broken package."""
    (tmp_path / "theirs.py").write_text(f"from {UserError.__module__} import UserError as Refusal\nraise {raised}\n")
    with pytest.raises(error, match=r"^(as it is)?$"):
        load(named(STORES)["broken"])


def test_a_package_that_is_installed_meanwhile_is_found(tmp_path: Path) -> None:
    """As from a notebook's cell: the folder, which was searched before, has changed."""
    assert "late" not in named(STORES)
    install(tmp_path, "late", f"[{STORES}]\nlate = theirs:Thing\n")
    assert named(STORES)["late"].value == "theirs:Thing"


def test_of_two_with_one_name_the_first_on_the_path_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python would import it."""
    for name in ("second", "first"):
        install(tmp_path / name, name, f"[{STORES}]\ntwice = {name}:Thing\n")
        monkeypatch.syspath_prepend(tmp_path / name)
    assert named(STORES)["twice"].value == "first:Thing"


def test_agents_of_other_packages_are_not_ours() -> None:
    """The processes of all runs import ours before the first run; those of others could do anything."""
    assert "broken" in agent_names()
    assert "broken" not in own_agents()
    assert "mft" in own_agents()


def test_an_unknown_store_is_refused_with_those_that_there_are() -> None:
    """By the beginnings of their addresses; other texts are folders."""
    with pytest.raises(UserError, match=r"nowhere://x: results can lie in a folder or on a store: .*\bbroken://"):
        open_store("nowhere://x")
    assert open_store("nowhere/x") is None


def test_no_package_takes_the_place_of_castalia(monkeypatch: pytest.MonkeyPatch) -> None:
    """The doctor builds the modules of roambus for it."""
    theirs = EntryPoint("castalia", "theirs:Thing", SIMULATORS)
    mine = EntryPoint("mine", f"{__name__}:LINES", SIMULATORS)
    monkeypatch.setattr(doctor, "named", lambda _: {"castalia": theirs, "mine": mine})
    assert simulators() == {"castalia": doctor.CASTALIA, "mine": LINES}


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


def test_what_a_deleted_extension_brought_is_refused_with_its_name(tmp_path: Path) -> None:
    """Another package's entry point, and a name without one, are left to the caller."""
    install(tmp_path, "elsewhere", f"[{STORES}]\nelsewhere = theirs.other:Thing\n")
    for name in ("broken", "elsewhere", "nothing"):
        check_present(STORES, name, f"the store {name}")
    with pytest.raises(UserError, match=r"the store gone: .* no longer has its extension, roambus\.extensions\.gone$"):
        check_present(STORES, "gone", "the store gone")


def test_no_package_replaces_one_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though it stands first on the search path; what only it has is found."""
    install(tmp_path / "first", "other", f"[{AGENTS}]\nflooding = theirs:Flooding\nfirst = theirs:First\n")
    monkeypatch.syspath_prepend(tmp_path / "first")
    assert named(AGENTS)["flooding"].value.startswith("roambus.")
    assert named(AGENTS)["first"].value == "theirs:First"
