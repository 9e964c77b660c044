"""The journal of a node holds what it did until it was killed, and is read with suspicion."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.bridge.system.errors import BackendError
from roambus.bridge.trace.parquet import TraceLevel, TraceWriter
from roambus.bridge.trace.schema import TraceRow
from roambus.extensions.live.journal import Journal, add_rows, read_rows

TEXTS = st.none() | st.text(max_size=20)
NUMBERS = st.none() | st.integers(0, 2**31 - 1)
ROWS = st.lists(
    st.builds(
        TraceRow,
        st.integers(0, 10**15), st.just(3), st.text(min_size=1, max_size=9), TEXTS, TEXTS, NUMBERS, NUMBERS, NUMBERS,
        TEXTS,
    ),
    max_size=6,
)  # fmt: skip


def written(file: Path, rows: list[TraceRow]) -> None:
    journal = Journal(file, TraceLevel.APP)
    for row in rows:
        journal.add(row)
    journal.close()


@given(st.lists(ROWS, max_size=3))
def test_rows_are_read_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, lives: list[list[TraceRow]]
) -> None:
    """Whatever the texts hold, and by however many processes one after the other."""
    file = tmp_path_factory.mktemp("journal") / "a.rows"
    for rows in lives:
        written(file, rows)
    text = file.read_bytes() if file.exists() else b""
    assert list(read_rows(text, 3)) == [row for rows in lives for row in rows]


@pytest.mark.parametrize("length", range(1, 60))
def test_a_line_that_its_process_did_not_finish_is_no_row(tmp_path: Path, length: int) -> None:
    """Wherever it was killed: what was written before stays, and what its successor writes is read."""
    file = tmp_path / "a.rows"
    first, torn, after = (TraceRow(time, 3, "send", "PUB", "0-1", bytes=25) for time in (1, 2, 3))
    written(file, [first, torn])
    whole = file.read_bytes()
    end = whole.index(b"\n") + 1 + length
    if end >= len(whole) - 1:
        return
    file.write_bytes(whole[:end])
    assert list(read_rows(file.read_bytes(), 3)) == [first]
    written(file, [after])
    assert list(read_rows(file.read_bytes(), 3)) == [first, after]


@pytest.mark.parametrize(
    "line",
    [
        b"[1]", b"{}", b"7", b"[[[", b'[1,4,"send",null,null,null,null,null,null]',
        b'[-1,3,"send",null,null,null,null,null,null]', b'[1.5,3,"send",null,null,null,null,null,null]',
        b'[true,3,"send",null,null,null,null,null,null]', b'[1,3,7,null,null,null,null,null,null]',
    ],
)  # fmt: skip
def test_what_no_node_writes_is_refused(line: bytes) -> None:
    """With the node and the line: rows of others, wrong kinds of values, and damage in the middle."""
    good = b'[1,3,"send",null,null,null,null,null,null]\n'
    with pytest.raises(BackendError, match="node 3: line 2 of its journal is not a row"):
        list(read_rows(good + line + b"\n" + good, 3))


def test_rows_become_a_trace() -> None:
    """By their times, as those of a simulator's run."""
    trace = TraceWriter()
    add_rows([TraceRow(2, 3, "send", "PUB", bytes=25), TraceRow(1, 3, "role")], trace)
    assert trace.table()["event"].to_pylist() == ["role", "send"]
