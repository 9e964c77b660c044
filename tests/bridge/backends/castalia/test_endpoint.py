"""Where the host listens: private by default, with keys off loopback, and nothing left behind."""

from __future__ import annotations

import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from roambus.bridge.backends.castalia.zeromq import Endpoint
from roambus.bridge.system.errors import UserError


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder in which private folders are made: one with a short name."""
    with tempfile.TemporaryDirectory(prefix="rb-", dir="/tmp") as name:  # for its length
        monkeypatch.setattr(tempfile, "tempdir", name)
        yield Path(name)


def test_a_private_endpoint_lies_where_only_the_user_can_enter(temporary: Path) -> None:
    """And is gone after use."""
    with Endpoint.private() as endpoint:
        (folder,) = temporary.iterdir()
        assert endpoint.address == f"ipc://{folder}/bridge"
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert endpoint.keys is None
    assert list(temporary.iterdir()) == []


def test_a_long_path_for_temporary_files_is_avoided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Unix socket's path has room for 107 bytes; libzmq would refuse a longer one."""
    long = tmp_path / ("x" * 100)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    with Endpoint.private() as endpoint:
        assert len(endpoint.address) < len("ipc://") + 107
    assert list(long.iterdir()) == []


def test_every_run_has_a_token_of_its_own(temporary: Path) -> None:
    """32 hexadecimal digits."""
    with Endpoint.private() as first, Endpoint.private() as second:
        assert first.token != second.token
        assert len(bytes.fromhex(first.token)) == 16


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:7000", "tcp://[::1]:7000", "tcp://192.0.2.1:7000"])
def test_tcp_has_keys(address: str) -> None:
    """There are fresh ones for each run; on loopback, too, which every user of the machine reaches."""
    first, second = Endpoint.tcp(address), Endpoint.tcp(address)
    assert first.keys is not None
    assert second.keys is not None
    assert first.keys.client_secret != second.keys.client_secret


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("udp://127.0.0.1:7000", "write tcp://ADDRESS:PORT"),
        ("tcp://127.0.0.1", "write tcp://ADDRESS:PORT"),
        ("tcp://127.0.0.1:70000", "write tcp://ADDRESS:PORT"),
        ("tcp://127.0.0.1:7000/run", "write tcp://ADDRESS:PORT"),
        ("tcp://my-laptop:7000", "in numbers, not a name"),
        ("tcp://0.0.0.0:7000", "at which the simulator reaches this machine"),
    ],
)
def test_an_address_that_cannot_be_used_is_an_error(address: str, problem: str) -> None:
    """It says what to write instead."""
    with pytest.raises(UserError, match=problem) as caught:
        Endpoint.tcp(address)
    assert address in str(caught.value)
