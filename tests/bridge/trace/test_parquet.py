"""A trace is one Parquet file with the common schema, whole or not there."""

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from roambus.bridge.system.errors import AgentError, UserError
from roambus.bridge.trace.parquet import TraceLevel, TraceWriter, _array, read_batches, read_footer, read_trace
from roambus.bridge.trace.schema import TRACE_SCHEMA, TraceRow
from roambus.python_protocol.simtime import SECOND
from roambus.python_protocol.trace_rows import DELIVER, SEND


def sample() -> TraceWriter:
    trace = TraceWriter()
    trace.add(TraceRow(2 * SECOND, 1, SEND, message_type="PUB", bytes=20))
    trace.add(TraceRow(SECOND, 2, DELIVER, notification_id="0.1", hops=3))
    trace.add(TraceRow(SECOND, 1, DELIVER, notification_id="0.1", hops=2))
    return trace


def test_rows_are_in_the_order_of_time(tmp_path: Path) -> None:
    """Rows of one time keep the order in which they happened."""
    sample().write(tmp_path / "trace.parquet", {})
    table = pq.read_table(tmp_path / "trace.parquet")
    assert table.schema.equals(TRACE_SCHEMA)
    assert table.column("time_s").to_pylist() == [1.0, 1.0, 2.0]
    assert table.column("node").to_pylist() == [2, 1, 1]


def test_same_rows_same_bytes(tmp_path: Path) -> None:
    """Two traces of the same rows are the same file, byte for byte."""
    for name in ("a", "b"):
        sample().write(tmp_path / name, {"key": "value"})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_an_empty_trace_is_still_a_trace(tmp_path: Path) -> None:
    """A run in which nothing happens has a file with no rows."""
    TraceWriter(TraceLevel.FULL).write(tmp_path / "trace.parquet", {"key": "value"})
    table = pq.read_table(tmp_path / "trace.parquet")
    assert table.num_rows == 0
    assert table.schema.metadata == {b"key": b"value"}


@pytest.mark.parametrize(
    ("kind", "column"),
    [
        (pa.float64(), [0.0, 1.5]),
        (pa.int32(), (1, -(2**31), 2**31 - 1)),
        (pa.int32(), (None, 3, None) * 7),
        (pa.int32(), (None,)),
        (pa.string(), ("", "a", "\N{GREEK SMALL LETTER ALPHA}\N{ROCKET}", "b")),
        (pa.string(), (None, "a", "", None, "\N{ROCKET}")),
        (pa.string(), ()),
    ],
)
def test_columns_are_those_that_arrow_would_make(kind: pa.DataType, column: Sequence[object]) -> None:
    """Whatever is missing, and however many bytes a character has."""
    made = _array(column, kind)
    made.validate(full=True)
    assert made.equals(pa.array(column, kind))


@pytest.mark.parametrize("value", [1.5, "1", 2**31])
def test_what_is_no_number_of_a_column_is_refused(value: object) -> None:
    """It is not rounded or cut."""
    with pytest.raises((TypeError, OverflowError)):
        _array([value], pa.int32())


def test_a_short_run_does_not_load_pandas() -> None:
    """It takes a third of a second."""
    code = (
        "import sys; from roambus.bridge.trace.parquet import TraceWriter; from roambus.bridge.trace.schema import "
        "TraceRow; from pathlib import Path; trace = TraceWriter(); trace.add(TraceRow(0, 1, 'send')); "
        "assert trace.has('send') and not trace.has('publish'); trace.table(); assert 'pandas' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_nothing_is_left_of_a_failed_write(tmp_path: Path) -> None:
    """A write that fails leaves neither the file nor a part of it."""
    target = tmp_path / "trace.parquet"
    target.mkdir()
    (target / "occupied").touch()
    with pytest.raises(UserError, match="this is a folder: give the name of a regular file"):
        sample().write(target, {})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["trace.parquet"]


def test_half_a_character_is_reported_with_its_row() -> None:
    """Agents name their messages, and Parquet holds UTF-8 alone."""
    trace = sample()
    trace.add(TraceRow(3 * SECOND, 7, SEND, message_type="HELLO\ud800", bytes=20))
    with pytest.raises(
        AgentError, match=r"node 7, simulation time 3 s, the row 'send' of the trace: .*HELLO"
    ) as raised:
        trace.table()
    assert (raised.value.node, raised.value.time) == (7, 3 * SECOND)


@pytest.mark.parametrize("read", [read_footer, read_trace, lambda file: next(read_batches(file))])
def test_more_rows_than_the_limit_are_refused_by_what_the_footer_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: Callable[[Path], object]
) -> None:
    """Millions of equal rows fit into a small file; the message names the file, and how to raise the limit."""
    file = tmp_path / "trace.parquet"
    sample().write(file, {})
    rows = read_footer(file).rows
    monkeypatch.setenv("ROAMBUS_MAX_TRACE_ROWS", str(rows))
    read(file)
    monkeypatch.setenv("ROAMBUS_MAX_TRACE_ROWS", str(rows - 1))
    with pytest.raises(UserError, match=f"{file}: the number of rows of a trace is {rows}.*ROAMBUS_MAX_TRACE_ROWS"):
        read(file)


def test_more_text_than_so_many_rows_have_is_refused_before_it_is_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A long text that all rows have stands once in a small file; how much there may be grows with the rows."""
    file, trace = tmp_path / "trace.parquet", TraceWriter()
    for _ in range(100):
        trace.add(TraceRow(SECOND, 1, "mine", detail="x" * 1000))
    trace.write(file, {})
    assert read_trace(file).num_rows == 100
    monkeypatch.setenv("ROAMBUS_MAX_TRACE_ROWS", "1000")
    assert read_footer(file).rows == 100
    said = rf"{file}: its 100 rows hold more than 14,000 bytes of text.*ROAMBUS_MAX_TRACE_ROWS"
    with pytest.raises(UserError, match=said):
        read_trace(file)


def test_much_text_is_refused_by_what_the_footer_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages of one text after the other become small in a file, too, and need not be unpacked to be refused."""
    file, trace = tmp_path / "trace.parquet", sample().table()
    long = pa.array(["x" * 100_000] * trace.num_rows, pa.string())
    table = trace.set_column(trace.column_names.index("detail"), TRACE_SCHEMA.field("detail"), long)
    pq.write_table(table, file, compression="zstd", use_dictionary=False, write_page_checksum=True)
    read_footer(file)
    monkeypatch.setenv("ROAMBUS_MAX_TRACE_ROWS", "20000")
    assert file.stat().st_size < 10_000
    with pytest.raises(UserError, match="bytes of text"):
        read_footer(file)
