"""Digests of notifications: they say what is there, and of what is too old nothing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from roambus.python_protocol.filters import NotificationId
from roambus.python_protocol.messages.layout import field_type
from roambus.python_protocol.messages.message import MessageSet
from roambus.python_protocol.messages.octets import Reader, Writer
from roambus.python_protocol.parts.digest import Digest, Held, beyond, exceeds, holds

WINDOW = 64
identifiers = st.builds(NotificationId, st.integers(0, 2), st.integers(0, 3 * WINDOW))
ROOM = 8


def digest_of(added: list[NotificationId], limit: int = ROOM) -> tuple[Held, ...]:
    digest = Digest(limit)
    for notification in added:
        digest.add(notification)
    return digest.summary()


def lacks(digest: tuple[Held, ...], identifier: NotificationId) -> bool:
    """Whether a digest says that a notification is not there."""
    named = next((held for held in digest if held.publisher == identifier.publisher), None)
    if named is None:
        return len(digest) < ROOM
    return identifier.sequence > named.newest - WINDOW and not named.has(identifier)


@given(st.lists(identifiers), identifiers)
def test_it_names_the_newest_and_nothing_that_was_not_added(added: list[NotificationId], asked: NotificationId) -> None:
    """What is among the last 64 numbers of its publisher is named if, and only if, it was added; else it is unknown."""
    digest = digest_of(added)
    newest = max((other.sequence for other in added if other.publisher == asked.publisher), default=None)
    is_known_of = newest is None or asked.sequence > newest - WINDOW
    assert holds(digest, asked) == (asked in added and is_known_of)
    assert lacks(digest, asked) == (asked not in added and is_known_of)


@given(st.lists(identifiers, min_size=1))
def test_it_is_the_same_in_any_order_and_on_the_air(added: list[NotificationId]) -> None:
    """Only the order of the publishers depends on that of the notifications; a row takes fourteen bytes."""
    digest = digest_of(added)
    assert sorted(digest) == sorted(digest_of(sorted(added, key=lambda identifier: identifier.sequence)))
    writer, kind = Writer(), field_type(Held)
    for held in digest:
        kind.write(writer, held)
    assert len(writer.getvalue()) == 14 * len(digest)
    reader = Reader(writer.getvalue(), MessageSet(()))
    assert tuple(kind.read(reader) for _ in digest) == digest


@given(st.lists(identifiers), st.lists(identifiers))
def test_one_exceeds_another_by_what_it_alone_names(left: list[NotificationId], right: list[NotificationId]) -> None:
    """Of what both have room for."""
    digest = digest_of(right)
    more = [identifier for identifier in left if lacks(digest, identifier) and holds(digest_of(left), identifier)]
    assert any(exceeds(held, digest) for held in digest_of(left)) == bool(more)


def test_the_publisher_that_was_heard_longest_ago_leaves_a_full_digest() -> None:
    """Nothing is said of it any more: it is neither there nor missing."""
    digest = digest_of(
        [NotificationId(1, 0), NotificationId(2, 0), NotificationId(1, 1), NotificationId(3, 0)], limit=2
    )
    assert [held.publisher for held in digest] == [1, 3]
    assert not holds(digest, NotificationId(2, 0))


@given(st.lists(identifiers), st.lists(identifiers))
def test_what_one_has_beyond_another_is_what_the_other_is_known_to_lack(
    left: list[NotificationId], right: list[NotificationId]
) -> None:
    """Each is named once; of what is too old for the other's digest nothing is known."""
    digest, own = digest_of(left), digest_of(right)
    found = [identifier for held in digest for identifier in beyond(held, own)]
    assert len(found) == len(set(found))
    assert set(found) == {each for each in left if holds(digest, each) and lacks(own, each)}
