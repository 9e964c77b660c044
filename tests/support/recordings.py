"""Recordings in the K7 format, made up for tests."""

from __future__ import annotations

from collections.abc import Iterable

HEAD = '{"location": "nowhere", "node_count": 3, "channels": [11, 12], "tx_length": 100}'
COLUMNS = "datetime,src,dst,channel,mean_rssi,pdr,tx_count"


def k7(rows: Iterable[str], head: str = HEAD, columns: str = COLUMNS) -> str:
    """The text of a file with these rows."""
    return "\n".join([head, columns, *rows]) + "\n"


def row(  # noqa: PLR0917  # the columns of the format
    second: float, source: int, target: int, rssi: float | str, delivery: float, channel: int | str = 11
) -> str:
    """A row, so many seconds after noon."""
    minutes, seconds = divmod(int(second), 60)
    hours, minutes = divmod(minutes, 60)
    return f"2017-06-21 {12 + hours:02}:{minutes:02}:{seconds:02},{source},{target},{channel},{rssi},{delivery},100"
