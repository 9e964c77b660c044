"""States as bytes that every process reads alike: the digests of what they are made of, one after the other."""

from __future__ import annotations

from collections.abc import Callable

from roambus.experiments.exploring.network import Network
from roambus.experiments.exploring.rules import State
from roambus.experiments.exploring.spelling import DIGEST_BYTES, digest_of


class _Numbers:
    """The digests of what has numbers in this process, and the numbers of digests."""

    def __init__(self, count: Callable[[], int], spell: Callable[[int], bytes]) -> None:
        self._count = count
        self._spell = spell
        self._digests: list[bytes] = []
        self._numbers: dict[bytes, int] = {}

    def digest(self, number: int) -> bytes:
        if number >= len(self._digests):
            self._catch_up()
        return self._digests[number]

    def number(self, digest: bytes) -> int | None:
        if digest not in self._numbers:
            self._catch_up()
        return self._numbers.get(digest)

    def _catch_up(self) -> None:
        for number in range(len(self._digests), self._count()):
            self._digests.append(self._spell(number))
            self._numbers[self._digests[-1]] = number


class Codes:
    """Writes and reads the states of one network."""

    def __init__(self, network: Network) -> None:
        nodes, queues, worlds = network.nodes, network.queues, network.worlds
        self._messages = _Numbers(lambda: len(nodes.messages), lambda number: digest_of(nodes.messages[number]))
        self._network = network
        node_states = _Numbers(lambda: len(nodes), lambda number: digest_of(nodes.what(number)))
        queued = _Numbers(lambda: len(queues), self._spell_queue)
        world = _Numbers(lambda: len(worlds), lambda number: digest_of(worlds[number]))
        self._places = [*(node_states for _ in range(network.size)), *(queued for _ in worlds.links), world]
        self.length = len(self._places) * DIGEST_BYTES
        """How many bytes a state has."""

    def write(self, state: State) -> bytes:
        """The bytes of a state."""
        return b"".join([place.digest(number) for place, number in zip(self._places, state, strict=True)])

    def read(self, code: bytes) -> State | None:
        """The state of these bytes; None if a part of it was never met in this process."""
        numbers = []
        for place, numbered in enumerate(self._places):
            number = numbered.number(code[place * DIGEST_BYTES : (place + 1) * DIGEST_BYTES])
            if number is None:
                return None
            numbers.append(number)
        return tuple(numbers)

    def _spell_queue(self, number: int) -> bytes:
        queue = self._network.queues[number]
        return digest_of(tuple((self._messages.digest(message), alone) for message, alone in queue))
