"""A folder of results is one experiment: what differs from its request is refused, and no complete run is replaced."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from roambus.experiments.sweeps.request_file import command_again
from tests.support.agents import write_agent
from tests.support.commands import call

SWEEP = "roambus sweep field --agents flooding --set nodes=3 --set time_limit=2 --seeds 1 --workers 1 --out r"
IDEAL = "--backend ideal"
Captured = pytest.CaptureFixture[str]
RUN = "roambus run field --agent flooding --set nodes=3 --set time_limit=2 --out r"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's, with nothing in it."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def traces() -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in Path("r").rglob("traces/**/*.*") if file.is_file()}


@pytest.mark.parametrize("command", [SWEEP, RUN])
@pytest.mark.parametrize(
    ("options", "refusal"),
    [
        ((IDEAL, "--backend radio"), "r holds runs with backend ideal, not radio: choose another --out"),
        ((f"{IDEAL} --level full", IDEAL), "r holds runs with level full, not app: choose another --out"),
        ((f"{IDEAL} --record", IDEAL), "r holds runs with record yes, not no: choose another --out"),
        ((IDEAL, f"{IDEAL} --record"), "r holds runs with record no, not yes: choose another --out"),
    ],
)
def test_what_differs_from_the_request_is_refused_by_name(
    command: str, options: tuple[str, str], refusal: str, monkeypatch: pytest.MonkeyPatch, capfd: Captured
) -> None:
    """Each is in a run's key or folder: another run would take the place of this one. --replace does not mix them."""
    assert call(f"{command} {options[0]}", monkeypatch) == 0
    before = traces()
    for replacing in ("", " --replace"):
        capfd.readouterr()
        assert call(f"{command} {options[1]}{replacing}", monkeypatch) == 2
        assert refusal in capfd.readouterr().err
    assert traces() == before != {}


def test_another_text_of_the_template_is_refused_for_agents_that_are_added(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: Captured
) -> None:
    """No run of theirs is there to be replaced, but they would be compared in two scenarios; so too when merged."""
    sweep = "roambus sweep {}/own.ini.j2 --agents {} --seeds 1 --workers 1 --backend ideal --out {}"
    for place, side in (("a", 30), ("b", 40)):
        (folder / place).mkdir()
        text = (
            f'{{% set time_limit = 2 %}}{{% set nodes = 3 %}}{{% set side = {side} %}}{{% include "field.ini.j2" %}}\n'
        )
        (folder / place / "own.ini.j2").write_text(text)
    assert call(sweep.format("a", "flooding", "r"), monkeypatch) == 0
    assert call(sweep.format("a", "gossip", "r"), monkeypatch) == 0
    before = traces()
    capfd.readouterr()
    assert call(sweep.format("b", "beacon", "r"), monkeypatch) == 2
    assert "r holds runs of another text of own.ini.j2 or its parts: choose another --out" in capfd.readouterr().err
    assert traces() == before != {}
    assert call(sweep.format("b", "beacon", "s"), monkeypatch) == 0
    assert call("roambus aggregate r s --out t", monkeypatch) == 2
    assert "s: its text of the template is " in capfd.readouterr().err
    assert call(sweep.format("b", "beacon", "r --replace"), monkeypatch) == 0


def test_an_earlier_versions_folder_is_known_by_its_traces(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Its request has no back-end."""
    assert call(f"{SWEEP} --backend ideal", monkeypatch) == 0
    request = json.loads((folder / "r/sweep.json").read_text())
    assert (request.pop("backend"), request.pop("level"), request.pop("record")) == ("ideal", "app", False)
    (folder / "r/sweep.json").write_text(json.dumps(request))
    assert call(f"{SWEEP} --backend radio", monkeypatch) == 2
    assert "r holds runs with backend ideal, not radio" in capfd.readouterr().err


@pytest.mark.parametrize("command", [SWEEP.replace("flooding", "mine.py"), RUN.replace("flooding", "mine.py")])
def test_a_complete_run_of_an_agent_that_has_changed_is_replaced_on_request_only(
    folder: Path, command: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The refusal leaves the run and the request as they are."""
    write_agent(folder, "mine", "pass")
    assert call(f"{command} --backend ideal", monkeypatch) == 0
    before, request = traces(), (folder / "r/sweep.json").read_bytes()
    write_agent(folder, "mine", "now")
    capfd.readouterr()
    assert call(f"{command} --backend ideal", monkeypatch) == 2
    assert "holds a complete run, which this one would replace" in capfd.readouterr().err
    assert (traces(), (folder / "r/sweep.json").read_bytes()) == (before, request)
    assert call(f"{command} --backend ideal --replace", monkeypatch) == 0
    assert traces() != before


def test_a_range_makes_the_runs_of_its_seeds_and_no_others(monkeypatch: pytest.MonkeyPatch, capfd: Captured) -> None:
    """Byte for byte as in a sweep of all seeds; a second range is added, and one command names both."""
    ideal = f"{SWEEP} --backend ideal"
    assert call(ideal.replace("seeds 1", "seeds 8").replace("--out r", "--out all"), monkeypatch) == 0
    every = _by_seed("all")
    assert call(ideal.replace("seeds 1", "seeds 3..5"), monkeypatch) == 0
    before = traces()
    assert _by_seed("r") == {seed: every[seed] for seed in (3, 4, 5)}
    capfd.readouterr()
    assert call(ideal.replace("seeds 1", "seeds 5..7,2..2"), monkeypatch) == 0
    assert "runs done 3, already there 1, failed 0" in capfd.readouterr().out
    assert traces().items() >= before.items()
    assert json.loads(Path("r/sweep.json").read_text())["seeds"] == [2, 3, 4, 5, 6, 7]
    next(Path("r").rglob("seed=6/trace.parquet")).unlink()
    again = command_again(Path("r"))
    assert " --seeds 2..7 " in again
    assert call(again, monkeypatch) == 0
    assert "runs done 1, already there 5, failed 0" in capfd.readouterr().out
    assert _by_seed("r") == {seed: every[seed] for seed in range(2, 8)}


def _by_seed(results: str) -> dict[int, bytes]:
    files = Path(results).rglob("trace.parquet")
    return {int(file.parent.name.removeprefix("seed=")): file.read_bytes() for file in files}


def test_more_seeds_and_agents_are_added(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same request but for these is the same experiment."""
    assert call(f"{SWEEP} --backend ideal", monkeypatch) == 0
    before, more = traces(), SWEEP.replace("seeds 1", "seeds 2").replace("flooding", "gossip,flooding")
    assert call(f"{more} --backend ideal", monkeypatch) == 0
    assert traces().items() >= before.items()
    assert len(list(Path("r").rglob("trace.parquet"))) == 4
