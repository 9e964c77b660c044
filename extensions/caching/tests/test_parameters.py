"""What the parameters of caching can be."""

from __future__ import annotations

import pytest

from roambus.extensions.caching.cache import CachingParameters
from roambus.python_protocol.settings import parse_parameters


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("cache_size", "-1", "parameter cache_size: -1 is out of range: it must be at least 0"),
        ("policy", "random", "parameter policy: random is not known here: it must be fifo-regeneration, fifo or lifo"),
        ("remembered", "0", "parameter remembered: 0 is out of range: it must be at least 1"),
    ],
)
def test_a_value_out_of_its_bounds_is_refused(name: str, value: str, problem: str) -> None:
    """The message names the parameter, its value and what the value can be."""
    with pytest.raises(ValueError, match=problem):
        parse_parameters(CachingParameters, {name: value})
