"""The back-end of a live node waits for datagrams and timers by the clock of the machine."""

from __future__ import annotations

import math
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from roambus.bridge.backend import LocalNode, Step, Transmission
from roambus.extensions.live.frames import LONGEST_PAYLOAD, REPLAYS, STRANGERS, Frame, Seal
from roambus.extensions.live.links import ALL, links_of
from roambus.extensions.live.machines import open_socket
from roambus.extensions.live.udp_backend import (
    MOST_FRAMES_A_SECOND,
    SENT,
    TOO_LONG,
    TOO_MANY,
    Attend,
    UdpBackend,
    late_by,
)
from roambus.python_protocol.agent import Agent, on
from roambus.python_protocol.messages.fields import LongBytes
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import BROADCAST, NodeId, Role
from roambus.python_protocol.simtime import MILLISECOND, SECOND

from tests.support.scenarios import scenario  # isort: skip

SEAL = Seal(b"run 1...", b"k" * 32)
SOON = 30 * MILLISECOND


class Text(Message, tag=1):
    content: LongBytes


class Silent(Agent):
    @on(Text)
    def listen(self, text: Text, sender: NodeId, now: int) -> None:
        """Does nothing."""


@contextmanager
def airs(*hosts: str, seconds: float = 0.3) -> Iterator[list[UdpBackend]]:
    """Nodes at these addresses of the machine, on the air from now on."""
    sockets = [open_socket((host, 0) if "." in host else (host, 0, 0, 0)) for host in hosts]
    addresses = [bound.getsockname() for bound in sockets]
    described = scenario([Role.NONE] * len(hosts), time_limit=round(seconds * SECOND))
    start = time.monotonic_ns()
    made = [
        UdpBackend(
            described, Silent, LocalNode(node, 0), 0, start, SEAL, own, addresses,
            links_of(ALL, described, node), Attend(),
        )
        for node, own in enumerate(sockets)
    ]  # fmt: skip
    for air in made:
        air.open()
    try:
        yield made
    finally:
        for air in made:
            air.close()


def text(node: NodeId, destination: NodeId, content: bytes, at: int = 0) -> Transmission:
    return Transmission(node, at, destination, Text(content), len(content) + 3)


def heard(step: Step | None) -> list[tuple[NodeId, bytes]]:
    return [(delivery.sender, delivery.message.content) for delivery in (step.deliveries if step else ())]  # type: ignore[attr-defined]


def socket_of(air: UdpBackend) -> socket.socket:
    return air._socket  # a stranger sends there


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_a_broadcast_reaches_all_and_a_unicast_frame_one(host: str) -> None:
    """Over IPv4 and IPv6; nobody hears what he has sent himself."""
    with airs(host, host, host) as (first, second, third):
        first.advance([text(0, BROADCAST, b"all"), text(0, 2, b"one")], first.now())
        assert heard(second.advance([], first.now() + SOON)) == [(0, b"all")]
        assert heard(third.advance([], first.now() + SOON)) == [(0, b"all"), (0, b"one")]
        assert heard(first.advance([], first.now() + SOON)) == []


def test_levels_are_no_numbers() -> None:
    """UDP tells neither RSSI nor LQI, and nobody invents them."""
    with airs("127.0.0.1", "127.0.0.1") as (first, second):
        first.advance([text(0, 1, b"hi")], first.now())
        step = second.advance([], first.now() + SOON)
        assert step is not None
        assert all(math.isnan(level) for level in (step.deliveries[0].rssi_dbm, step.deliveries[0].lqi_db))


def test_a_wake_up_comes_at_its_time_and_lateness_is_counted() -> None:
    """Never before it; each one counts, and so does a frame that leaves after a while."""
    with airs("127.0.0.1", "127.0.0.1") as (first, _):
        for wake_up in (20 * MILLISECOND, 40 * MILLISECOND):
            step = first.advance([text(0, 1, b"later", wake_up - MILLISECOND)], wake_up)
            assert step is not None
            assert step.now >= wake_up
        assert sum(first.lateness.values()) == 4
        assert 0 < late_by(first.lateness, 0.5) <= late_by(first.lateness, 1.0)


def test_the_run_ends_at_its_time_limit() -> None:
    """Also with a wake-up behind it."""
    with airs("127.0.0.1", seconds=0.05) as (air,):
        assert air.advance([], SECOND) is None
        assert air.now() >= 50 * MILLISECOND


def test_what_cannot_be_sent_is_reported() -> None:
    """A message longer than a datagram, and what is beyond the rate that a node may send at."""
    with airs("127.0.0.1", "127.0.0.1") as (air, _):
        step = air.advance([text(0, 1, bytes(LONGEST_PAYLOAD))], None)
        assert step is not None
        assert [failure.reason for failure in step.failures] == [TOO_LONG]
        step = air.advance([text(0, 1, b"") for _ in range(MOST_FRAMES_A_SECOND + 200)], None)
        assert step is not None
        assert {failure.reason for failure in step.failures} == {TOO_MANY}
        assert MOST_FRAMES_A_SECOND <= air.counts[SENT] <= MOST_FRAMES_A_SECOND + 150


def test_a_socket_that_would_block_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """The agent hears that its frame was not sent, as of a MAC whose buffer is full."""

    class Full:
        def sendto(self, *_: object) -> None:
            raise BlockingIOError

        def __getattr__(self, name: str) -> object:
            return getattr(real, name)

    with airs("127.0.0.1", "127.0.0.1") as (air, _):
        real = socket_of(air)
        monkeypatch.setattr(air, "_socket", Full())
        step = air.advance([text(0, BROADCAST, b"all")], None)
        assert step is not None
        assert [(failure.destination, failure.reason) for failure in step.failures] == [
            (BROADCAST, "the socket would block")
        ]


def test_strangers_and_replays_are_dropped_and_counted() -> None:
    """What comes to the port from anybody changes nothing but the counts."""
    with (
        airs("127.0.0.1", "127.0.0.1") as (first, second),
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger,
    ):
        place = socket_of(second).getsockname()
        datagram = SEAL.write(Frame(0, 1, 0, 5, first.now(), Text(b"hi").encode()))
        for content in (datagram, datagram, b"", b"hello", Seal(SEAL.run, b"?" * 32).write(Frame(0, 1, 0, 6, 0, b""))):
            stranger.sendto(content, place)
        assert heard(second.advance([], first.now() + SOON)) == [(0, b"hi")]
        second.advance([], first.now() + SOON)
        second.close()
        assert (second.counts[STRANGERS], second.counts[REPLAYS]) == (3, 1)
