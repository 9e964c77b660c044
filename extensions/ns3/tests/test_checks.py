"""The doctor looks at ns-3 and at the adapter for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from roambus.bridge.system.errors import UserError
from roambus.bridge.wire.conversion import SCHEMA_HASH
from roambus.doctor import Status, simulators
from roambus.extensions.ns3.backend import find_adapter
from tests.support.commands import call


def finding_on(what: str) -> tuple[Status, str, str]:
    """Status, what was found, and the advice."""
    simulator = simulators()["ns3"]
    (check,) = (entry for entry in (*simulator.itself, simulator.modules) if entry.what == what)
    result = check.check()
    return result.status, result.found, result.advice


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def adapter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An ns-3 and an adapter that look as they should; returns the adapter."""
    monkeypatch.setenv("NS3_ROOT", str(tmp_path / "ns3"))
    monkeypatch.setenv("ROAMBUS_OMNET", str(tmp_path / "omnet"))
    write(tmp_path / "ns3" / "include" / "ns3" / "lr-wpan-mac.h", "")
    write(tmp_path / "ns3" / "lib64" / "libns3.44-core.so", "")
    program = tmp_path / "omnet" / "build" / "roambus-ns3"
    return write(program, f"...ns-3 3.44, ...{SCHEMA_HASH.hex()}...")


def test_an_adapter_for_another_ns3_is_broken(adapter: Path) -> None:
    """It would go on with the other one; so would a run, which says the same."""
    assert finding_on("adapter for ns-3")[0] is Status.OK
    write(adapter, f"...ns-3 3.43, ...{SCHEMA_HASH.hex()}...")
    wrong = f"{adapter} was built with ns-3 3.43, and NS3_ROOT has 3.44"
    assert finding_on("adapter for ns-3") == (Status.BROKEN, wrong, "run roambus doctor --build ns3")
    with pytest.raises(
        UserError, match=r"was built with ns-3 3\.43, .*: build it again with roambus doctor --build ns3"
    ):
        find_adapter()


def test_an_adapter_from_another_schema_is_broken(adapter: Path) -> None:
    """Simulator and host would not understand each other."""
    write(adapter, "...ns-3 3.44, ...")
    assert finding_on("adapter for ns-3")[:2] == (Status.BROKEN, f"{adapter} was made from another wire.proto")


@pytest.mark.usefixtures("adapter")
def test_an_ns3_that_is_not_there_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The advice is to install it; a run says the same in one line, and leaves nothing behind."""
    advice = "pip install --no-deps ns3, or let NS3_ROOT name its folder in another Python"
    monkeypatch.setenv("NS3_ROOT", "/nowhere")
    assert finding_on("ns-3") == (Status.MISSING, "NS3_ROOT=/nowhere holds no ns-3", advice)
    monkeypatch.chdir(tmp_path)
    assert call("roambus run field --agent beacon --backend ns3 --out out", monkeypatch) == 2
    assert capfd.readouterr() == ("", f"error: NS3_ROOT=/nowhere holds no ns-3: {advice}\n")
    assert not list(tmp_path.rglob("*.parquet"))
