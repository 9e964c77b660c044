"""K7 files: who heard whom, how strongly and how reliably; what is wrong in one is named with its line."""

from __future__ import annotations

import gzip
import math
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.bridge.formats import recordings
from roambus.bridge.formats.recordings import EVERY_CHANNEL, read_k7
from roambus.bridge.system.errors import UserError
from tests.support.recordings import COLUMNS, HEAD, k7, row

ROWS = [row(0, 7, 3, -80.48, 1.0), row(0, 7, 5, -91, 0.25), row(60, 3, 7, -79.5, 0.97)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "links.k7"


def test_a_row_tells_of_a_link_at_a_time(file: Path) -> None:
    """Nodes are numbered in the order of their ids, and time begins with the first row."""
    file.write_text(k7(ROWS))
    recording = read_k7(file)
    assert (recording.ids, recording.channels, recording.location) == ((3, 5, 7), [11], "nowhere")
    assert recording.start == "2017-06-21 12:00:00"
    assert recording.rows.tolist() == [
        (0, 2, 0, 11, -80.48, 1.0, 100),
        (0, 2, 1, 11, -91.0, 0.25, 100),
        (60_000_000_000, 0, 2, 11, -79.5, 0.97, 100),
    ]


def test_times_may_have_fractions_of_a_second(file: Path) -> None:
    """As in files of the 6TiSCH simulator."""
    times = ["2018-01-11T16:32:22.0", "2018-01-11T16:32:22.25"]
    file.write_text(k7([f"{at},{line.split(',', 1)[1]}" for at, line in zip(times, ROWS[1:], strict=True)]))
    assert read_k7(file).rows["at"].tolist() == [0, 250_000_000]


def test_rows_may_come_in_any_order_and_columns_too(file: Path) -> None:
    """What the 6TiSCH simulator's files have besides is passed over."""
    file.write_text(k7(ROWS))
    ordered = read_k7(file).rows
    columns = "transaction_id,tx_count,pdr,mean_rssi,channel,dst,src,datetime"
    turned = [",".join(["17", *reversed(line.split(","))]) for line in reversed(ROWS)]
    file.write_text(k7(turned, columns=columns))
    assert sorted(read_k7(file).rows.tolist()) == sorted(ordered.tolist())


def test_a_gzipped_file_says_the_same(tmp_path: Path, file: Path) -> None:
    """As the public recordings are."""
    file.write_text(k7(ROWS))
    packed = tmp_path / "links.k7.gz"
    packed.write_bytes(gzip.compress(file.read_bytes()))
    assert (read_k7(packed).rows == read_k7(file).rows).all()


def test_empty_channels_and_strengths_have_a_meaning(file: Path) -> None:
    """They are the mean over all channels, and that nothing was heard; 11.0 is a channel, too."""
    file.write_text(k7([row(0, 0, 1, "", 0.0, ""), row(0, 1, 0, -80, 1, "11.0")]))
    recording = read_k7(file)
    assert recording.channels == [EVERY_CHANNEL, 11]
    assert math.isnan(recording.rows["rssi_dbm"][0])


def test_a_node_that_hears_itself_is_left_out_by_line(file: Path) -> None:
    """A public recording has some such rows."""
    file.write_text(k7([*ROWS, row(61, 3, 3, -20, 1.0)]))
    assert read_k7(file).left_out == (6,)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("2017-06-21 12:00:00,0,1,11,-80,1.0", "the line has 6 columns, and the head has 7"),
        ("2017-06-21 12:00:00,0,1,11,-80,1.5,100", "pdr is not a number from 0 to 1"),
        ("2017-06-21 12:00:00,0,1,11,-80,nan,100", "pdr is not a number from 0 to 1"),
        ("2017-06-21 12:00:00,0,1,11,-80,much,100", "pdr is not a number: 'much'"),
        ("2017-06-21 12:00:00,0,1,11,,0.5,100", "mean_rssi is empty, but frames were heard"),
        ("2017-06-21 12:00:00,0,1,11,-800,0.5,100", "mean_rssi is not a number from -200 to 100 dBm"),
        ("2017-06-21 12:00:00,0.5,1,11,-80,0.5,100", "src is not a whole number"),
        ("2017-06-21 12:00:00,-1,1,11,-80,0.5,100", "src is not a whole number"),
        ("2017-06-21 12:00:00,0,1,11.5,-80,0.5,100", "channel is not a number from 0 to 255"),
        ("yesterday,0,1,11,-80,0.5,100", "datetime is not a time such as 2017-06-21 11:48:36: 'yesterday'"),
        ("1817-06-21 12:00:00,0,1,11,-80,0.5,100", "datetime is not a time from 1970 to 2200"),
    ],
)
def test_a_wrong_row_is_named_by_file_and_line(file: Path, line: str, problem: str) -> None:
    """The message has the column, too."""
    file.write_text(k7([*ROWS, line]))
    with pytest.raises(UserError) as raised:
        read_k7(file)
    assert str(raised.value).startswith(f"{file}:6: {problem}")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", ":1: a K7 file begins with a line of JSON"),
        ("[]\n", ":1: a K7 file begins with a line of JSON"),
        ('{"txpower": "high"}\n', ":1: txpower is not a power"),
        (f"{HEAD}\n", ":2: the columns must be"),
        (f"{HEAD}\n{COLUMNS.replace('pdr', 'prr')}\n", "pdr should be there once"),
        (f"{HEAD}\n{COLUMNS}\n", "there is no row with a link in it"),
    ],
)
def test_what_is_no_recording_is_refused(file: Path, text: str, problem: str) -> None:
    """Head, columns and at least one row have to be there."""
    file.write_text(text)
    with pytest.raises(UserError, match=problem):
        read_k7(file)


def test_a_damaged_gzip_is_named(tmp_path: Path) -> None:
    """As of a download that broke off."""
    file = tmp_path / "links.k7.gz"
    file.write_bytes(gzip.compress(k7(ROWS).encode())[:-9])
    with pytest.raises(UserError, match="its gzip is damaged"):
        read_k7(file)


def test_a_file_that_is_too_large_is_refused(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before it is read as rows."""
    monkeypatch.setattr("roambus.bridge.formats.recordings.MOST_BYTES", 100)
    file.write_text(k7(ROWS))
    with pytest.raises(UserError, match="this is larger than"):
        read_k7(file)


WORDS = [*"0123456789,.-:\n ", "nan", "inf", "\x00", "é", '"', "2017-06-21 12:00:00,0,1,11,"]


@given(st.lists(st.sampled_from(WORDS)).map("".join))
def test_whatever_a_file_has_is_a_recording_or_a_users_error(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    """Never a traceback."""
    file = tmp_path_factory.mktemp("any") / "any.k7"
    file.write_text(k7([text]))
    with suppress(UserError):
        assert len(read_k7(file).rows) > 0


def test_a_recording_of_fifty_nodes_and_300_000_rows_is_read_in_five_seconds_of_cpu(file: Path) -> None:
    """As large as the longest public ones."""
    pairs = [(source, target) for source in range(50) for target in range(50) if source != target]
    rows = [row(60 * (k % 600), *pairs[k % len(pairs)], -70 - k % 20, 0.97, 11 + k % 16) for k in range(300_000)]
    file.write_text(k7(rows))
    begin = time.process_time()
    recording = read_k7(file)
    assert time.process_time() - begin < 5
    assert (len(recording.rows), len(recording.ids)) == (300_000, 50)
    assert np.isfinite(recording.rows["rssi_dbm"]).all()


def test_too_many_rows_are_counted_before_they_are_read(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A megabyte of gzip can have two hundred million lines, and a row takes more memory than its text."""
    monkeypatch.setattr(recordings, "MOST_ROWS", 10)
    monkeypatch.setattr(recordings, "read_rows", lambda _: pytest.fail("the rows are read"))
    file.write_bytes(gzip.compress(k7(ROWS).encode() + b"\n" * 20))
    with pytest.raises(UserError, match=r"links.k7: it has more than 10 rows"):
        read_k7(file)
