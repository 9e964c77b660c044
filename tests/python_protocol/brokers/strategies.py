"""Any filters, notifications and fields of messages, for the tests of messages."""

from hypothesis import strategies as st

from roambus.python_protocol.filters import Constraint, Filter, Notification, NotificationId, Operator

bytes_2 = st.integers(0, 65535)
bytes_1 = st.integers(0, 255)
nodes = st.integers(0, 65533)
counters = st.integers(0, 2**32 - 1)
values = st.one_of(
    st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=20)
)
constraints = st.builds(Constraint, st.text(max_size=10), st.sampled_from(Operator), values)
filters = st.builds(Filter, st.lists(constraints, max_size=3).map(tuple))
notifications = st.builds(
    Notification,
    st.builds(NotificationId, nodes, counters),
    st.lists(st.tuples(st.text(max_size=10), values), max_size=3).map(tuple),
    st.integers(0, 50),
)
several = st.lists(filters, max_size=3).map(tuple)
