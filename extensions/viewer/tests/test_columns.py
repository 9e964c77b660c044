"""What is packed can be read back, by the description that stands in it."""

from __future__ import annotations

import gzip
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roambus.extensions.viewer.film import Film


def unpack(data: bytes) -> tuple[dict[str, Any], dict[str, list[int]]]:
    """As the page does it."""
    content = gzip.decompress(data)
    end = 4 + int.from_bytes(content[:4], "little")
    header = json.loads(content[4:end])
    columns = {}
    for name, count, size in header.pop("columns"):
        planes = [content[end + count * plane : end + count * (plane + 1)] for plane in range(size)]
        columns[name] = [sum(plane[row] << 8 * level for level, plane in enumerate(planes)) for row in range(count)]
        end += count * size
    return header, columns


@settings(max_examples=30)
@given(st.lists(st.integers(0, 2**53 - 1)), st.lists(st.integers(0, 300)), st.text())
def test_a_film_says_what_was_packed(first: list[int], second: list[int], text: str) -> None:
    """Columns of any length and size, and a header with any text."""
    columns = {"a": np.array(first, np.int64), "b": np.array(second, np.int64)}
    assert unpack(Film({"text": text}, columns).packed()) == ({"text": text}, {"a": first, "b": second})


@pytest.mark.parametrize("value", [-1, 2**56])
def test_what_the_page_could_not_hold_is_refused(value: int) -> None:
    """Nothing is cut off in silence."""
    with pytest.raises(ValueError, match="in a column"):
        Film({}, {"a": np.array([value], np.int64)}).packed()
