"""Ctrl-C can wait, but is never lost."""

import signal
from collections.abc import Iterator

import pytest

from bridge.interrupts import interrupts_postponed


@pytest.fixture(autouse=True)
def default_handler() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_comes_at_the_end() -> None:
    """The block is finished first; then the interrupt is raised, and the handler is the one from before."""
    done = []

    def interrupted() -> None:
        with interrupts_postponed():
            signal.raise_signal(signal.SIGINT)
            done.append(True)

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert done
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_nothing_is_raised_without_an_interrupt() -> None:
    """A block that nobody interrupts is just run."""
    with interrupts_postponed():
        pass
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_who_ignores_interrupts_goes_on_ignoring_them() -> None:
    """A worker process, which its parent ends, is not interrupted by this either."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with interrupts_postponed():
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
