"""What follows at one instant: nodes are told something, answer, and are told of what they could not send.

Everything that a step causes at one instant belongs to it, so that a state is one in which all nodes have answered.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from roambus.experiments.exploring.nodes import Failure, Nodes, Outcome
from roambus.experiments.exploring.parts import Item, Queues, Worlds
from roambus.experiments.exploring.rules import Picks, Raised
from roambus.python_protocol.events import NO_LINK, SendFailed
from roambus.python_protocol.roles import BROADCAST, NodeId

MOST_ROUNDS = 1000
"""So often in a row nodes may send at one instant what cannot be sent."""
Telling = Sequence[tuple[NodeId, int]]
"""Which nodes are told which events, by their numbers."""


@dataclass(slots=True)
class Draft:
    """A state that is being made, its world last; what could not be sent; what chance picked."""

    numbers: list[int]
    failed: list[tuple[NodeId, int]] = field(default_factory=list)
    picks: Picks = ()

    def copy(self) -> Draft:
        """The same, to be made otherwise."""
        return Draft(self.numbers.copy(), self.failed.copy(), self.picks)


class Consequences:
    """Works out every way in which chance can have things go."""

    def __init__(self, nodes: Nodes, worlds: Worlds, queues: Queues, *, history: bool) -> None:
        """With `history` the world keeps what was delivered and taken on."""
        self._nodes = nodes
        self._worlds = worlds
        self._queues = queues
        self._history = history

    def tell_all(self, first: Draft | Raised, told: Telling) -> list[Draft | Raised]:
        """Tells nodes one after the other, and then those whose messages found no link."""
        ended: list[Draft | Raised] = []
        waiting: list[tuple[Draft | Raised, Telling, int]] = [(first, told, 0)]
        while waiting:
            one, events, rounds = waiting.pop()
            if rounds > MOST_ROUNDS:
                ended.append(Raised("what cannot be sent is sent again and again, at one instant"))
                continue
            for draft in self.tell_in_turn(one, events):
                if isinstance(draft, Raised) or not draft.failed:
                    ended.append(draft)
                else:
                    failed, draft.failed = draft.failed, []
                    waiting.append((draft, failed, rounds + 1))
        return ended

    def tell_in_turn(self, first: Draft | Raised, told: Telling) -> list[Draft | Raised]:
        """Tells nodes one after the other."""
        drafts = [first]
        for node, event in told:
            drafts = [after for draft in drafts for after in self._tell(draft, node, event)]
        return drafts

    def _tell(self, draft: Draft | Raised, node: NodeId, event: int) -> Iterator[Draft | Raised]:
        if isinstance(draft, Raised):
            yield draft
            return
        outcomes = self._nodes.answer(draft.numbers[node], event)
        copies = [draft.copy() for _ in outcomes[1:]]
        for one, outcome in zip((*copies, draft), (*outcomes[1:], outcomes[0]), strict=True):
            yield self._take(one, node, outcome)

    def _take(self, draft: Draft, node: NodeId, outcome: Outcome | Failure) -> Draft | Raised:
        if isinstance(outcome, Failure):
            return Raised(outcome.text)
        draft.numbers[node] = outcome.state
        if outcome.picks:
            draft.picks = (*draft.picks, (node, outcome.picks))
        for place, item in self.sends(draft.numbers, node, outcome, draft.failed):
            draft.numbers[place] = self._queues.append(draft.numbers[place], item)
        if self._history:
            for seen in outcome.seen:
                draft.numbers[-1] = self._worlds.see(draft.numbers[-1], node, seen)
        return draft

    def sends(
        self, numbers: Sequence[int], node: NodeId, outcome: Outcome, failed: list[tuple[NodeId, int]]
    ) -> Iterator[tuple[int, Item]]:
        """What an answer adds to which places of the state; what finds no link is added to `failed`."""
        if not outcome.sends:
            return
        reached = self._worlds.neighbours(numbers[-1])[node]
        for destination, message in outcome.sends:
            if destination == BROADCAST:
                yield from ((self._worlds.place(node, one), (message, False)) for one in reached)
            elif destination in reached:
                yield self._worlds.place(node, destination), (message, True)
            else:
                failure = SendFailed(destination, self._nodes.messages[message], NO_LINK)
                failed.append((node, self._nodes.events.number(failure)))

    def cut_off(self, draft: Draft) -> list[tuple[NodeId, int]]:
        """Empties the links that carry no more; returns what senders that are up are told of it."""
        told: list[tuple[NodeId, int]] = []
        reached, down = self._worlds.neighbours(draft.numbers[-1]), self._worlds[draft.numbers[-1]].down
        for place, (sender, receiver) in self._worlds.places():
            if draft.numbers[place] and receiver not in reached[sender]:
                if sender not in down:
                    told += self._lost(sender, receiver, draft.numbers[place])
                draft.numbers[place] = 0
        return told

    def _lost(self, sender: NodeId, receiver: NodeId, queue: int) -> Iterator[tuple[NodeId, int]]:
        for message, alone in self._queues[queue]:
            if alone:
                failure = SendFailed(receiver, self._nodes.messages[message], NO_LINK)
                yield sender, self._nodes.events.number(failure)
