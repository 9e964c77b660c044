"""Ctrl-C and SIGTERM can wait, but are never lost."""

import signal
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from roambus.bridge.system.interrupts import interrupts_postponed, is_raised, termination_interrupts


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


def test_who_ignores_the_end_of_the_terminal_goes_on() -> None:
    """As below nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with termination_interrupts():
            signal.raise_signal(signal.SIGHUP)
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_termination_is_an_interrupt_and_a_second_one_is_ignored(number: signal.Signals) -> None:
    """So what is left can be cleaned up; afterwards the handler is the one from before."""
    before = signal.signal(number, signal.SIG_DFL)  # below nohup it is ignored
    cleaned = []

    def terminated() -> None:
        with termination_interrupts():
            try:
                signal.raise_signal(number)
            finally:
                signal.raise_signal(number)
                cleaned.append(True)

    with pytest.raises(KeyboardInterrupt):
        terminated()
    assert cleaned
    assert signal.signal(number, before) is signal.SIG_DFL


def test_a_termination_that_a_library_swallows_comes_at_the_end() -> None:
    """The block goes on, but nothing after it."""

    def swallowing() -> None:
        with termination_interrupts(), suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)

    with pytest.raises(KeyboardInterrupt):
        swallowing()


def test_a_termination_can_be_postponed_too() -> None:
    """As Ctrl-C."""
    done = []

    def terminated() -> None:
        with termination_interrupts(), interrupts_postponed():
            signal.raise_signal(signal.SIGTERM)
            done.append(True)

    with pytest.raises(KeyboardInterrupt):
        terminated()
    assert done


def test_a_swallowed_termination_is_not_forgotten_by_a_block_that_begins_later() -> None:
    """What goes on without knowing of it ends with its first block."""
    done = []

    def swallowing() -> None:
        with termination_interrupts():
            with suppress(KeyboardInterrupt):
                signal.raise_signal(signal.SIGTERM)
            with termination_interrupts():
                done.append("first")
            done.append("second")

    with pytest.raises(KeyboardInterrupt):
        swallowing()
    assert done == ["first"]


def raised_by(action: Callable[[], object]) -> KeyboardInterrupt:
    """The interrupt with which an action ends."""
    with pytest.raises(KeyboardInterrupt) as caught:
        action()
    return caught.value


def raises_after_a_word_of_several_bytes() -> None:
    if "ä": raise KeyboardInterrupt  # fmt: skip  # noqa: E701  # columns are bytes


def is_interrupted() -> None:
    signal.raise_signal(signal.SIGINT)


def is_interrupted_before_it_raises() -> None:
    raise KeyboardInterrupt(*map(signal.raise_signal, [signal.SIGINT]))


def test_a_raise_of_the_code_is_no_signal() -> None:
    """An agent that raises KeyboardInterrupt has a mistake; Ctrl-C ends the command."""
    assert is_raised(raised_by(raises_after_a_word_of_several_bytes))


@pytest.mark.parametrize("action", [is_interrupted, is_interrupted_before_it_raises])
def test_a_signal_is_no_raise_of_the_code(action: Callable[[], object]) -> None:
    """Also on a line that was about to raise."""
    assert not is_raised(raised_by(action))


def test_a_signal_that_our_handler_raises_is_no_raise_of_the_code() -> None:
    """SIGTERM becomes a KeyboardInterrupt of ours."""

    def terminated() -> None:
        with termination_interrupts():
            signal.raise_signal(signal.SIGTERM)

    assert not is_raised(raised_by(terminated))
