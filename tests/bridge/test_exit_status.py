"""How a process ended, in words."""

import pytest

from roambus.bridge import errors
from roambus.bridge.errors import describe_end


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (0, "ended with exit status 0"),
        (7, "ended with exit status 7"),
        (143, "was ended by SIGTERM (exit status 143)"),
        (255, "ended with exit status 255"),
        (-11, "was killed by SIGSEGV"),
        (-9, "was killed by SIGKILL"),
        (-63, "was killed by signal 63"),
    ],
)
def test_ends_are_told(status: int, said: str) -> None:
    """By signal or exit status; a shell adds 128 to the signal's number."""
    assert describe_end(status) == said


def test_want_of_memory_is_told_if_the_kernel_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """It counts the processes that it has ended for that; otherwise nobody knows who sent SIGKILL."""
    monkeypatch.setattr(errors, "memory_kills", lambda: 5)
    assert "for lack of memory meanwhile" in describe_end(-9, 4)
    assert "the kernel reports no lack of memory" in describe_end(-9, 5)
