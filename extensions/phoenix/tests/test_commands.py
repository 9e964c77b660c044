"""Which SUB and UNS are outdated: the order of what a subscriber has said at two brokers."""

from __future__ import annotations

from roambus.extensions.phoenix.broker import NEVER, Mig, NumberedSub, NumberedUns
from roambus.extensions.phoenix.numbered import Commands, is_older
from roambus.python_protocol.brokers.routing import Sub, Uns
from tests.python_protocol.brokers.network import topic

ME, OTHER = 7, 8
HERE, THERE = 1, 2


def mig(stay: int) -> Mig:
    return Mig(ME, HERE, NEVER, stay)


def test_what_was_said_before_a_migration_is_outdated_by_what_was_said_after_it() -> None:
    """The UNS comes later, by another link, but the subscriber has said it before it went there."""
    commands = Commands()
    assert commands.take(Sub(ME, topic(1)), HERE)
    commands.migrated(mig(1), THERE)
    assert commands.take(Sub(ME, topic(1)), THERE)
    assert not commands.take(Uns(ME, topic(1)), HERE)


def test_what_is_said_of_another_filter_or_by_another_subscriber_counts_for_itself() -> None:
    """Nothing later is known about these."""
    commands = Commands()
    commands.migrated(mig(1), THERE)
    assert commands.take(Sub(ME, topic(1)), THERE)
    assert commands.take(Sub(ME, topic(2)), HERE)
    assert commands.take(Sub(OTHER, topic(1)), HERE)


def test_who_comes_back_is_heard_again() -> None:
    """What comes by a link was said in the newest stay whose MIG has come by it; an older MIG changes nothing."""
    commands = Commands()
    commands.migrated(mig(1), THERE)
    assert commands.take(Sub(ME, topic(1)), THERE)
    commands.migrated(mig(2), HERE)
    commands.migrated(mig(0), HERE)
    assert commands.take(Uns(ME, topic(1)), HERE)
    assert not commands.take(Sub(ME, topic(1)), THERE)


def test_the_way_to_a_subscriber_outlives_its_last_filter() -> None:
    """A MIG goes there, although the table names it no more."""
    commands = Commands()
    assert commands.way(ME) is None
    commands.take(Sub(ME, topic(1)), HERE)
    commands.take(Uns(ME, topic(1)), HERE)
    assert commands.way(ME) == HERE


def test_numbers_tell_the_order_wherever_it_was_said() -> None:
    """No MIG has come by the other link: by the stays alone the later word would be taken for the older one."""
    commands = Commands()
    commands.migrated(mig(1), THERE)
    assert commands.take(NumberedSub(ME, topic(1), 4), THERE)
    assert commands.take(NumberedUns(ME, topic(1), 5), HERE)
    assert not commands.take(NumberedSub(ME, topic(1), 3), THERE)
    assert commands.take(NumberedUns(ME, topic(1), 5), HERE)


def test_numbers_begin_again() -> None:
    """Behind the greatest comes 0, which is later."""
    assert is_older(2**32 - 1, 0)
    assert not is_older(0, 2**32 - 1)
    assert not is_older(7, 7)


def test_a_filter_that_is_not_spoken_of_for_long_can_be_given_up() -> None:
    """The numbers are those of all commands, and 33,000 of them about other filters make no UNS an old one."""
    commands = Commands()
    assert commands.take(NumberedSub(ME, topic(1), 1), HERE)
    assert commands.take(NumberedUns(ME, topic(1), 33_001), HERE)
