"""A node can have any combination of roles."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.python_protocol.roles import Role, format_roles, parse_roles


@given(st.sets(st.sampled_from([Role.PUBLISHER, Role.SUBSCRIBER, Role.BROKER])))
def test_any_combination_is_read_back(chosen: set[Role]) -> None:
    """Formatting and parsing lose nothing."""
    roles = Role.NONE
    for role in chosen:
        roles |= role
    assert parse_roles(format_roles(roles)) == roles


def test_names_what_is_no_role() -> None:
    """A word that is not a role is named, with those that are."""
    with pytest.raises(ValueError, match="'leader' is not a role; the roles are publisher"):
        parse_roles("broker leader")
