"""The aggregation benchmark: its mixes of rows, where it keeps traces, and what it says to a mistake."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from benchmarks import aggregation
from benchmarks.aggregation import LOCAL, Cost, folder_name, main
from benchmarks.synthetic_traces import MIXES, RICH, THESIS, places, synthetic_trace, write_traces
from roambus.bridge.trace.schema import EVENT, NOTIFICATION_ID, TRACE_SCHEMA
from roambus.python_protocol.trace_rows import DELIVER

ROWS = 20_000


@pytest.mark.parametrize("agent", MIXES)
def test_a_trace_has_the_mix_of_its_agent(agent: str) -> None:
    """Exactly as many rows as asked for, and of them as many deliveries as the mix says, give or take a quarter."""
    trace = synthetic_trace(MIXES[agent], ROWS, 66, seed=1)
    assert trace.schema == TRACE_SCHEMA
    assert len(trace) == ROWS
    delivered = trace[EVENT].to_pylist().count(DELIVER)
    assert delivered / ROWS == pytest.approx(MIXES[agent].deliveries, rel=0.25)


def test_what_a_cache_does_names_a_notification() -> None:
    """Of the agent whose traces are rich in deliveries: each such row has one."""
    rows = synthetic_trace(MIXES["caching"], ROWS, 66, seed=1).to_pylist()
    named = {row[EVENT] for row in rows if row[NOTIFICATION_ID] is not None}
    assert {"store", "replay", "cache", "forget", DELIVER} <= named
    assert all(row[NOTIFICATION_ID] is not None for row in rows if row[EVENT] in named)


def test_each_mix_has_its_own_agents_and_folder(tmp_path: Path) -> None:
    """So that what is kept for one mix is not taken for the other."""
    assert {place.partition("/")[0] for place in places(10, THESIS)} == {"agent=mft", "agent=aodv"}
    assert {place.partition("/")[0] for place in places(10, RICH)} == {"agent=caching"}
    assert (folder_name(10, THESIS), folder_name(10, RICH)) == ("10-rows", "10-rich-rows")
    (file,) = write_traces(tmp_path, 300, 1, mix=RICH, nodes=3)
    assert pq.read_metadata(file).num_rows == 300


@pytest.mark.parametrize(
    ("options", "given"),
    [
        ([], (THESIS, LOCAL, 500_000)),
        (
            ["--mix", "rich", "--spark", "spark://127.0.0.1:1", "--rows-a-run", "5"],
            (RICH, "spark://127.0.0.1:1", 5),
        ),
    ],
)
def test_options_choose_mix_cluster_and_size_of_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, options: list[str], given: tuple[str, str, int]
) -> None:
    """Without them it is the thesis' mix on this machine."""
    asked = []

    def measure(*words: object) -> tuple[Cost, Cost]:
        asked.append(words)
        return Cost(10, 3.0, 3.0, 1, 0.0, 1.0, 1.0), Cost(10, 1.0, 1.0, 1, 0.0)

    monkeypatch.setattr(aggregation, "measure", measure)
    assert main(["--rows", "10", "--folder", str(tmp_path), *options]) == 0
    assert asked == [(10, tmp_path, *given)]


def test_too_few_rows_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is generated, and the exit code is 2."""
    assert main(["--rows", "10", "--mix", "rich"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "at least" in error
