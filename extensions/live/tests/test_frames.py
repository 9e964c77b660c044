"""A node takes what its run's key has made, what is new, and nothing else."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from roambus.extensions.live.frames import NOT_OURS, OVERHEAD, REPLAYS, STRANGERS, WINDOW, Frame, Gate, Seal, Window
from roambus.python_protocol.roles import BROADCAST

SEAL = Seal(b"run 1...", b"k" * 32)
FRAMES = st.builds(
    Frame,
    st.integers(0, 65535),
    st.integers(0, 65535),
    st.integers(0, 2**32 - 1),
    st.integers(0, 2**64 - 1),
    st.integers(-(2**63), 2**63 - 1),
    st.binary(max_size=300),
)


def datagram(
    node: int = 1, destination: int = BROADCAST, incarnation: int = 0, sequence: int = 0, sent: int = 0
) -> bytes:
    return SEAL.write(Frame(node, destination, incarnation, sequence, sent, b"message"))


def gate(since: int = 0) -> Gate:
    return Gate(SEAL, 0, 4, since)


@given(FRAMES)
def test_a_frame_is_read_as_it_was_written(frame: Frame) -> None:
    """Whatever its fields hold, with a known number of bytes around the payload."""
    written = SEAL.write(frame)
    assert SEAL.read(written) == frame
    assert len(written) == len(frame.payload) + OVERHEAD


@given(FRAMES, st.data())
def test_a_frame_with_a_wrong_bit_is_a_strangers(frame: Frame, data: st.DataObject) -> None:
    """Whichever bit it is, of header, payload or tag."""
    written = bytearray(SEAL.write(frame))
    bit = data.draw(st.integers(0, 8 * len(written) - 1))
    written[bit // 8] ^= 1 << bit % 8
    assert SEAL.read(bytes(written)) is None


@given(st.binary(max_size=400))
def test_other_bytes_are_a_strangers(content: bytes) -> None:
    """Of any length, also with the beginning of a frame of this run."""
    assert SEAL.read(content) is None
    assert SEAL.read((datagram()[:11] + content)[: OVERHEAD + 200]) is None


@given(FRAMES)
def test_another_run_or_key_is_a_stranger(frame: Frame) -> None:
    """Runs on one network do not hear each other."""
    assert Seal(b"run 2...", SEAL.key).read(SEAL.write(frame)) is None
    assert Seal(SEAL.run, b"K" * 32).read(SEAL.write(frame)) is None


@given(st.permutations(range(200)), st.lists(st.integers(0, 199)))
def test_each_number_is_taken_once(order: list[int], again: list[int]) -> None:
    """In any order within the window, whatever is repeated."""
    window = Window()
    assert all(window.take(0, number) for number in order)
    assert not any(window.take(0, number) for number in again)


@given(st.lists(st.integers(0, 5 * WINDOW), max_size=300))
def test_no_number_is_taken_twice(numbers: list[int]) -> None:
    """Also of those that come too late for the window, which are refused although they may be new."""
    window, taken = Window(), set()
    highest = -1
    for number in numbers:
        is_taken = window.take(3, number)
        assert is_taken == (number not in taken and number > highest - WINDOW)
        taken |= {number} if is_taken else set()
        highest = max(highest, number)


def test_a_number_far_ahead_costs_nothing() -> None:
    """The header has room for 2^64 of them, and the window does not grow with the gap."""
    window = Window()
    assert window.take(0, 1)
    assert window.take(0, 2**64 - 1)
    assert not window.take(0, 1)


def test_a_node_that_was_started_again_is_no_replay() -> None:
    """Its numbers begin anew, and what its earlier process had sent is old from then on."""
    heard = gate()
    assert heard.take(datagram(sequence=7))
    assert heard.take(datagram(incarnation=1, sequence=0))
    assert heard.take(datagram(sequence=8)) is None
    assert heard.dropped == {REPLAYS: 1}


def test_a_receiver_that_was_started_again_takes_nothing_old() -> None:
    """Its window is empty, so that what was sent before its start could be anything that somebody has kept."""
    heard = gate(since=1000)
    assert heard.take(datagram(sequence=1, sent=999)) is None
    assert heard.take(datagram(sequence=2, sent=1000))


def test_what_is_for_others_is_dropped() -> None:
    """By multicast a node hears everything, also its own frames."""
    heard = gate()
    assert heard.take(datagram(destination=2)) is None
    assert heard.take(datagram(node=0)) is None
    assert heard.take(datagram(destination=0))
    assert heard.dropped == {NOT_OURS: 2}


def test_a_flood_of_strangers_and_replays_has_no_effect() -> None:
    """Of 20,000 strangers' datagrams and 2,000 replays none is taken, and what comes behind them is."""
    heard, random = gate(), Random(1)
    own = [datagram(node, sequence=number) for node in (1, 2, 3) for number in range(100)]
    assert all(map(heard.take, own))
    strangers = [random.randbytes(random.randrange(200)) for _ in range(10_000)]
    strangers += [
        own[number % 300][:-1] + bytes([own[number % 300][-1] ^ 1 + number % 255]) for number in range(10_000)
    ]
    replays = random.choices(own, k=2000)
    mixed = [*strangers, *replays]
    random.shuffle(mixed)
    assert not any(map(heard.take, mixed))
    assert heard.dropped == {STRANGERS: 20_000, REPLAYS: 2000}
    assert heard.take(datagram(sequence=100))
