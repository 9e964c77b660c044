"""How a process ended, in words."""

import pytest

from roambus.bridge.system.errors import describe_end


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (0, "ended with exit status 0"),
        (7, "ended with exit status 7"),
        (143, "was ended by SIGTERM (exit status 143)"),
        (255, "ended with exit status 255"),
        (-11, "was killed by SIGSEGV"),
        (-9, "was killed by SIGKILL, as the kernel does for lack of memory: give it more, or fewer workers"),
        (-63, "was killed by signal 63"),
    ],
)
def test_ends_are_reported(status: int, said: str) -> None:
    """By signal or exit status; a shell adds 128 to the signal's number."""
    assert describe_end(status) == said
