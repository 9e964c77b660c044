"""The bounded memory recognises what it saw lately."""

from hypothesis import given
from hypothesis import strategies as st

from roambus.python_protocol.agent import Recent


@given(st.lists(st.integers(0, 20)), st.integers(1, 10))
def test_it_knows_the_last_different_keys_and_no_more(keys: list[int], limit: int) -> None:
    """After any additions it holds the `limit` keys that became known last."""
    recent, expected = Recent(limit), list[int]()
    for key in keys:
        assert recent.add(key) == (key not in expected)
        expected = (expected if key in expected else [*expected, key])[-limit:]
    assert [key for key in range(21) if key in recent] == sorted(expected)
    assert len(recent) == len(expected)
