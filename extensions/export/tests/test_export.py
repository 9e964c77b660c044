"""What other programs are given: OMNeT++'s own tool reads every value."""

from __future__ import annotations

import csv
import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from roambus.bridge.backends.castalia.installation import OMNETPP_ROOT
from roambus.bridge.runs.layout import SWEEP_FILE
from roambus.bridge.system.errors import UserError
from roambus.extensions.export import exporter
from roambus.extensions.export.exporter import ExportOptions, export_results
from roambus.extensions.export.result_files import quoted
from roambus.extensions.export.runs import find_runs, rows
from roambus.python_protocol.roles import BROADCAST
from roambus.spark.aggregation.computation import EXTRA, SENT
from roambus.spark.metrics.catalogue import DELIVERED, DELIVERY_RATE_ALL, METRICS
from tests.spark.synthetic import Row, deliver, energy, publish, random_trace, role, send, write_trace

RUN = "agent=mft/network=C2/speed=2.5/seed=3"
LABEL = RUN.replace("/", ",")
NASTY = 'P"U\\B €$x;#,'
ROWS: list[Row] = [
    role(0, "publisher"),
    {"time_s": 0.0, "node": 1, "event": "move", "detail": "1.500 2.000"},
    {"time_s": 4.0, "node": 1, "event": "move", "detail": "3.500 2.000"},
    publish(1.0, 0, "0.0", [1, 2]),
    send(1.0, 0, "PUB", 31),
    deliver(1.25, 1, "0.0", 1),
    deliver(1.5, 2, "0.0", 2),
    deliver(1.75, 1, "0.0", 3),
    send(2.0, 0, "PUB", 32),
    send(2.5, 1, NASTY, 7),
    {"time_s": 3.0, "node": 1, "event": "drop", "message_type": "PUB", "peer": 2},
    {"time_s": 3.5, "node": 2, "event": "drop", "message_type": "PUB"},
    publish(3.5, 0, "0.1", []),
    energy(5.0, 0, 12.5),
    {"time_s": 5.0, "node": 2, "event": "radio", "message_type": "received", "detail": "17"},
]
VECTORS: dict[tuple[str, str], list[tuple[float, float]]] = {
    ("SN.node[0]", "published"): [(1, 2), (3.5, 0)],
    ("SN.node[0]", "sent:PUB"): [(1, 31), (2, 32)],
    ("SN.node[1]", f"sent:{NASTY}"): [(2.5, 7)],
    ("SN.node[1]", "deliveryDelay"): [(1.25, 0.25)],
    ("SN.node[1]", "deliveryHops"): [(1.25, 1)],
    ("SN.node[1]", "duplicate"): [(1.75, 3)],
    ("SN.node[2]", "deliveryDelay"): [(1.5, 0.5)],
    ("SN.node[2]", "deliveryHops"): [(1.5, 2)],
    ("SN.node[1]", "dropped:PUB"): [(3, 2)],
    ("SN.node[2]", "dropped:PUB"): [(3.5, BROADCAST)],
    ("SN.node[1]", "x"): [(0, 1.5), (4, 3.5)],
    ("SN.node[1]", "y"): [(0, 2), (4, 2)],
}
"""All that ROWS say over time."""
MEASURED = {
    **dict.fromkeys((metric.column for metric in METRICS), float("nan")),
    DELIVERED: 2,
    DELIVERY_RATE_ALL: 2 / 3,
}
SCALARS = {
    ("SN", DELIVERED): 2,
    ("SN", DELIVERY_RATE_ALL): 2 / 3,
    ("SN", "latest_s"): 0.5,
    ("SN", "sent_PUB"): 2,
    ("SN.node[0]", "energy_mj"): 12.5,
    ("SN.node[2]", "received"): 17,
}


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Results of one run, with metrics that no Spark has to compute."""
    write_trace(tmp_path, RUN, ROWS)
    metrics = pd.DataFrame([{**MEASURED, SENT: {"PUB": 2}, EXTRA: {"latest_s": 0.5}}], index=[RUN])
    monkeypatch.setattr(exporter, "metrics_of", lambda *_: (metrics, {}))
    return tmp_path


def exported(path: Path, *formats: str, out: Path | None = None) -> list[Path]:
    done = list(export_results(path, ExportOptions(formats, out)))
    assert [problem for _, problem in done if problem] == []
    return [file for file, _ in done if file]


@pytest.fixture(scope="session")
def scavetool() -> Path:
    """OMNeT++'s own reader of its result files."""
    root = os.environ.get(OMNETPP_ROOT)
    if not root:
        pytest.skip(f"{OMNETPP_ROOT} does not say where OMNeT++ is")
    return Path(root, "bin", "opp_scavetool")


def read_by(scavetool: Path, *files: Path) -> list[dict[str, str]]:
    """What the tool makes of the files: the records that omnetpp.scave's DataFrames have as rows, too."""
    command = [str(scavetool), "export", "-F", "CSV-R", "-o", "-", *map(str, files)]
    done = subprocess.run(command, capture_output=True, check=True)
    assert done.stderr == b""
    csv.field_size_limit(2**24)
    return list(csv.DictReader(StringIO(done.stdout.decode(), newline="")))


def vectors_in(records: Sequence[Mapping[str, str]]) -> dict[tuple[str, str], NDArray[np.float64]]:
    """Each vector: floats[n, 2], times and values."""
    found = {}
    for record in records:
        if record["type"] == "vector":
            columns = [[float(word) for word in record[name].split()] for name in ("vectime", "vecvalue")]
            found[record["module"], record["name"]] = np.column_stack(columns)
    return found


def attributes_in(records: Sequence[Mapping[str, str]], kind: str) -> dict[str, str]:
    return {record["attrname"]: record["attrvalue"] for record in records if record["type"] == kind}


@pytest.mark.castalia
def test_omnetpp_reads_every_vector(results: Path, scavetool: Path) -> None:
    """Modules, names, times and values, whatever a message type is called."""
    (file,) = exported(results, "vec")
    found = vectors_in(read_by(scavetool, file))
    assert {vector: values.tolist() for vector, values in found.items()} == {
        vector: [list(pair) for pair in pairs] for vector, pairs in VECTORS.items()
    }


@pytest.mark.castalia
def test_omnetpp_reads_every_scalar(results: Path, scavetool: Path) -> None:
    """Metrics of the network, what is counted of nodes; a metric without a value is not there."""
    (file,) = exported(results, "sca")
    scalars = [record for record in read_by(scavetool, file) if record["type"] == "scalar"]
    assert {(scalar["module"], scalar["name"]): float(scalar["value"]) for scalar in scalars} == pytest.approx(SCALARS)


@pytest.mark.castalia
def test_omnetpp_knows_the_run(results: Path, scavetool: Path) -> None:
    """Agent and axes are iteration variables, the seed is the repetition; both files are of one run."""
    records = read_by(scavetool, *exported(results, "sca", "vec"))
    assert len({record["run"] for record in records}) == 1
    assert attributes_in(records, "itervar") == {"agent": "mft", "axis_network": "C2", "speed": "2.5"}
    attributes = attributes_in(records, "runattr")
    assert (attributes["repetition"], attributes["seedset"], attributes["network"]) == ("3", "3", "SN")
    assert attributes["iterationvars"] == "$agent=mft, $axis_network=C2, $speed=2.5"
    titles = {record["attrvalue"] for record in records if record["attrname"] == "title"}
    assert titles == {"messages delivered", "delivery rate (all)", "packets of type PUB"}


@pytest.mark.castalia
def test_a_whole_run_is_read_as_it_was_traced(tmp_path: Path, scavetool: Path) -> None:
    """Of each message type as many values as packets were sent, and every pair delivered once."""
    write_trace(tmp_path, RUN, random_trace(5))
    found = vectors_in(read_by(scavetool, *exported(tmp_path, "vec")))
    trace = pq.read_table(tmp_path / "traces" / RUN / "trace.parquet").to_pandas()
    for name in ("A", "B"):
        sent = trace[(trace["event"] == "send") & (trace["message_type"] == name)].groupby("node")["time_s"]
        for node, times in sent:
            assert found[f"SN.node[{node}]", f"sent:{name}"][:, 0] == pytest.approx(times.to_numpy())
    delivered = trace[trace["event"] == "deliver"].drop_duplicates(["notification_id", "node"])
    assert sum(len(values) for (_, name), values in found.items() if name == "deliveryHops") == len(delivered)


def test_a_run_alone_is_exported_from_its_folder(results: Path, tmp_path: Path) -> None:
    """Files lie in the export folder of its results, or where they are asked for."""
    write_trace(tmp_path, RUN.replace("seed=3", "seed=4"), ROWS)
    assert exported(results / "traces" / RUN, "vec") == [results / "export" / f"{LABEL}.vec"]
    assert exported(results / "traces" / RUN, "vec", out=tmp_path / "o") == [tmp_path / "o" / f"{LABEL}.vec"]
    assert len(exported(results, "vec")) == 2


def test_a_study_is_exported_sweep_by_sweep(tmp_path: Path) -> None:
    """Each into a folder of its own: equal runs of two sweeps are two files. A sweep without runs stops it at once."""
    study = tmp_path / "study"
    for sweep in ("second", "first"):
        write_trace(study / sweep, RUN, ROWS)
        (study / sweep / SWEEP_FILE).write_text("{}")
    sweeps = [study / "first", study / "second"]
    assert exported(study, "vec") == [sweep / "export" / f"{LABEL}.vec" for sweep in sweeps]
    out = tmp_path / "out"
    assert exported(study, "vec", out=out) == [out / sweep / f"{LABEL}.vec" for sweep in ("first", "second")]
    (study / "third").mkdir()
    (study / "third" / SWEEP_FILE).write_text("{}")
    with pytest.raises(UserError, match="third: neither a run's folder"):
        exported(study, "vec", out=tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_exporting_again_changes_nothing(results: Path) -> None:
    """Byte for byte, and nothing else is left."""
    formats = ("sca", "vec")
    first = {file.name: file.read_bytes() for file in exported(results, *formats)}
    assert {file.name: file.read_bytes() for file in exported(results, *formats)} == first
    assert {file.name for file in (results / "export").iterdir()} == set(first)


def test_a_damaged_trace_is_named_and_the_others_are_exported(results: Path) -> None:
    """Whether its footer or a page is damaged."""
    cut = write_trace(results, RUN.replace("seed=3", "seed=4"), random_trace(4))
    cut.write_bytes(cut.read_bytes()[:-20])
    flipped = write_trace(results, RUN.replace("seed=3", "seed=5"), random_trace(5))
    content = bytearray(flipped.read_bytes())
    content[len(content) // 4] ^= 1
    flipped.write_bytes(content)
    done = list(export_results(results, ExportOptions(["vec"])))
    assert [file.name for file, _ in done if file] == [f"{LABEL}.vec"]
    problems = [problem for _, problem in done if problem]
    assert [problem.partition(" (")[0] for problem in problems] == [f"{cut}: damaged", f"{flipped}: damaged"]
    assert {file.name for file in (results / "export").iterdir()} == {f"{LABEL}.vec"}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            {"time_s": 1.0, "node": 0, "event": "move", "detail": "here"},
            "a move row at 1.0 s whose detail does not hold 2",
        ),
        ({"time_s": 1.0, "node": 0, "event": "move"}, "does not hold 2 numbers: correct its agent"),
        (
            {"time_s": 1.0, "node": 0, "event": "radio", "detail": "x"},
            "a radio row at 1.0 s .* does not hold 1 numbers",
        ),
    ],
)
def test_rows_that_no_back_end_writes_are_reported(results: Path, row: Row, message: str) -> None:
    """An agent's notes can have any name."""
    write_trace(results, RUN, [row])
    problems = [problem for _, problem in export_results(results, ExportOptions(["sca", "vec"])) if problem]
    assert re.search(message, "".join(problems))


def test_what_holds_no_run_is_refused(tmp_path: Path) -> None:
    """An empty folder; a trace that lies nowhere."""
    with pytest.raises(UserError, match="neither a run's folder"):
        find_runs(tmp_path)
    file = write_trace(tmp_path, RUN, ROWS)
    file.rename(tmp_path / "trace.parquet")
    with pytest.raises(UserError, match="a run's folder lies below traces/agent="):
        find_runs(tmp_path)


def test_a_trace_is_read_batch_by_batch(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No more rows are asked for than are wanted."""
    file = write_trace(results, RUN, [send(at / 100, 0, "A") for at in range(40_000)])
    read: list[int] = []
    batches = pq.ParquetFile.iter_batches

    def counted(self: pq.ParquetFile, size: int, **options: bool) -> Iterator[pa.RecordBatch]:
        for batch in batches(self, size, **options):
            read.append(len(batch))
            yield batch

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", counted)
    (trace,) = find_runs(file.parent).traces
    assert next(rows(trace))["time_s"] == 0
    assert sum(read) < 20_000


@given(st.text(max_size=30))
@settings(max_examples=200)
def test_a_word_of_a_result_file_stays_in_its_line(text: str) -> None:
    """Whatever is in it: quotes and backslashes are escaped, nothing ends the line."""
    word = quoted(text)
    assert len(f"attr x {word}\n".splitlines()) == 1
    inner = word[1:-1].replace("\\\\", "").replace('\\"', "")
    assert '"' not in inner


@pytest.mark.castalia
def test_omnetpp_reads_any_message_type(tmp_path: Path, scavetool: Path) -> None:
    """Printable characters come back as they were; others are question marks."""
    random = np.random.default_rng(1)
    alphabet = [chr(code) for code in range(32, 127)] + list("äß€→")
    names: list[Any] = ["".join(random.choice(alphabet, 8)) for _ in range(40)] + ["\x00\x1b\n\r\t", "", " "]
    write_trace(tmp_path, RUN, [send(1.0, 0, name) for name in names])
    found = {name for _, name in vectors_in(read_by(scavetool, *exported(tmp_path, "vec")))}
    assert found == {f"sent:{name}".replace("\x00\x1b\n\r\t", "?????") for name in names}


def test_what_a_killed_export_has_left_is_removed(tmp_path: Path) -> None:
    """The next one writes the same file, and leaves alone what somebody else is writing."""
    gone = subprocess.Popen(["true"])
    gone.wait()
    left, others = tmp_path / f".run.sca.{gone.pid}", tmp_path / f".run.sca.{os.getppid()}"
    for file in (left, others):
        file.write_text("half of")
    assert exporter._write(tmp_path / "run.sca", ["whole"]) == (tmp_path / "run.sca", None)
    assert sorted(tmp_path.iterdir()) == [others, tmp_path / "run.sca"]
