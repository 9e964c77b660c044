"""The main job from end to end, as a newcomer runs it."""

import re
from pathlib import Path

import pytest

from roambus.spark.engine import session as engine
from tests.support.commands import call
from tests.support.removed import REMOVED

SMALL_SWEEP = """
template = "tree"
backend = "ideal"
seeds = 3

[set]
time_limit = 60 # s

[agents]
flooding = {}
gossip = {}
"""
SMALL_STUDY = """
from pathlib import Path

from roambus.experiments.studies.study import Study, StudySweep

FILE = str(Path(__file__).with_name("small.toml"))
STUDY = Study("small", "nobody", (StudySweep(FILE, lambda measured: [], quick={"agent": "gossip"}, quick_seeds=2),))
"""
LATE_CLAIM = """
from pathlib import Path

from roambus.experiments.claims import ClaimTest
from roambus.experiments.studies.study import Study, StudySweep

FILES = [str(Path(__file__).with_name(name)) for name in ("small.toml", "later.toml")]
CLAIM = ClaimTest("flooding delivers", "its rate is above 0", lambda measured: [])
SWEEPS = (StudySweep(FILES[0], lambda measured: []), StudySweep(FILES[1], lambda measured: [], claims=(CLAIM,)))
STUDY = Study("small", "nobody", SWEEPS)
"""
Captured = pytest.CaptureFixture[str]
SHORT = "--seeds 2 --set config=C2,C4 --set time_limit=40 --set publish_until=30"
"""Less than `--quick`, which `make reproduce` runs as it is."""
RUNS = 16


@pytest.mark.usefixtures("session")
def test_reproduce_ends_with_report_and_pictures_and_a_trace_damaged_later_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A short experiment runs whole; aggregated again, it leaves a damaged run out, says which, and exits with 1."""
    out = tmp_path / "thesis"
    code, printed = call(f"roambus reproduce thesis --quick {SHORT} --out {out}", monkeypatch), capsys.readouterr()
    assert code == 0, printed.out + printed.err
    check_results(out)
    head, _, claims = printed.out.partition(" 1. ")
    assert "time limit 40 s (study: 700 s); publish until 30 s (study: 500 s)" in head
    assert "not run: config C32" in claims
    assert "report" in REMOVED or printed.out.splitlines()[-1] == str(out / "report.html")
    damaged, *_ = sorted(out.glob("traces/**/trace.parquet"))
    damaged.write_bytes(damaged.read_bytes()[:100])
    assert call(f"roambus aggregate {out}", monkeypatch) == 1
    said = capsys.readouterr().err
    assert str(damaged.relative_to(out).parent) in said
    assert "Traceback" not in said
    assert (out / "metrics" / "runs.csv").read_text().count("\n") == RUNS


@pytest.mark.slow
@pytest.mark.usefixtures("session")
@pytest.mark.parametrize(
    ("options", "made"),
    [
        ("--quick --seeds 4..6", (1, 3, "4..6")),
        ("--quick", (1, 2, "2")),
        ("--seeds 1 --set time_limit=58", (2, 1, "1")),
        ("--precision 9 --metric messages --first-seeds 3", (1, 3, "3")),
    ],
)
def test_a_study_is_run_with_as_many_agents_and_seeds_as_are_asked_for(
    options: str, made: tuple[int, int, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """In small, too, where the study says which; a precision has these agents. The report says what there was."""
    (tmp_path / "small.toml").write_text(SMALL_SWEEP)
    (tmp_path / "small.py").write_text(SMALL_STUDY)
    out = tmp_path / "results"
    code = call(f"roambus reproduce {tmp_path / 'small.py'} {options} --out {out}", monkeypatch)
    assert code == 0, capsys.readouterr().err
    agents, seeds, named = made
    assert len(list(out.glob("traces/**/trace.parquet"))) == agents * seeds
    report = (out / "report.html").read_text()
    assert f" --seeds {named} --" in report
    assert f" --set time_limit={58 if '--set' in options else 60} " in report


@pytest.mark.parametrize(
    ("study", "refused"),
    [
        (LATE_CLAIM, ("--seeds 3..5", "--precision adds seeds from 0 up, and not 3..5: give --seeds a number")),
        (SMALL_STUDY, ("", "--precision: study small has no claims: name a --metric")),
    ],
)
def test_a_precision_that_cannot_be_is_refused_before_the_first_sweeps_runs(
    study: str, refused: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """Also if only a later sweep has claims, or none."""
    (tmp_path / "small.toml").write_text(SMALL_SWEEP)
    (tmp_path / "later.toml").write_text(SMALL_SWEEP)
    (tmp_path / "small.py").write_text(study)
    monkeypatch.setattr(engine, "begin_java", lambda: None)
    results = tmp_path / "results"
    options, error = refused
    command = f"roambus reproduce {tmp_path / 'small.py'} --precision 0.1 {options} --out {results}"
    assert call(command, monkeypatch) == 2
    assert error in capsys.readouterr().err
    assert not results.exists()


def test_a_value_that_no_sweep_of_the_study_takes_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """Before anything is run."""
    (tmp_path / "small.toml").write_text(SMALL_SWEEP)
    (tmp_path / "small.py").write_text(SMALL_STUDY)
    monkeypatch.setattr(engine, "begin_java", lambda: None)  # it takes some seconds
    results = tmp_path / "results"
    assert call(f"roambus reproduce {tmp_path / 'small.py'} --set nonsense=3 --out {results}", monkeypatch) == 2
    assert "small.toml: --set: unknown variable of template tree.ini.j2 'nonsense'" in capsys.readouterr().err
    assert not results.exists()


def check_results(out: Path) -> None:
    """All traces, metrics, every figure twice, a report that needs nothing else."""
    assert len(list(out.glob("traces/**/trace.parquet"))) == RUNS
    assert (out / "metrics" / "points.csv").is_file()
    for figure in ("4.4a", "4.4b", "4.5a", "4.5b", "4.6", "4.7a", "4.7b", "4.8"):
        assert (out / "figures" / f"figure-{figure}.png").stat().st_size > 5_000
        assert (out / "figures" / f"figure-{figure}.svg").is_file()
    if "report" in REMOVED:  # an extension writes it
        return
    report = (out / "report.html").read_text()
    assert re.search(r"(src|href)=[\"']https?:", report) is None
    assert "does not hold" in report or "holds" in report
