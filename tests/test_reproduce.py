"""The main job from end to end, as a newcomer runs it."""

import re
import subprocess
import sys
from pathlib import Path

ROAMBUS = Path(sys.executable).with_name("roambus")


def test_reproduce_ends_with_report_and_pictures(tmp_path: Path) -> None:
    """The quick experiment runs whole: 36 traces, metrics, every figure twice, a report that needs nothing else."""
    out = tmp_path / "thesis"
    done = subprocess.run(
        [ROAMBUS, "reproduce", "thesis", "--quick", "--out", out], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == str(out / "report.html")
    assert len(list(out.glob("traces/**/trace.parquet"))) == 36
    assert (out / "metrics" / "points.csv").is_file()
    for figure in ("4.4a", "4.4b", "4.5a", "4.5b", "4.6", "4.7a", "4.7b", "4.8"):
        assert (out / "figures" / f"figure-{figure}.png").stat().st_size > 5_000
        assert (out / "figures" / f"figure-{figure}.svg").is_file()
    report = (out / "report.html").read_text()
    assert re.search(r"(src|href)=[\"']https?:", report) is None
    assert "does not hold" in report or "holds" in report


def test_a_damaged_trace_is_named_and_the_rest_counts(tmp_path: Path) -> None:
    """Aggregation leaves a damaged run out, says which, and ends with an exit code that tells."""
    out = tmp_path / "field"
    sweep: list[str | Path] = [ROAMBUS, "sweep", "beacon", "--set", "nodes=4", "--seeds", "2", "--out", out]
    subprocess.run(sweep, check=True, capture_output=True)
    damaged, *_ = sorted(out.glob("traces/**/trace.parquet"))
    damaged.write_bytes(damaged.read_bytes()[:100])
    done = subprocess.run([ROAMBUS, "aggregate", out], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert str(damaged.relative_to(out).parent) in done.stderr
    assert "Traceback" not in done.stderr
    assert (out / "metrics" / "runs.csv").read_text().count("\n") == 2
