"""The option `--reduce`: of orders of arrivals with one result only one is tried.

Persistent sets (Godefroid, 1996): from a state the arrivals at one node r are enough, if nothing that happens elsewhere
can change which arrivals are possible at r. The proof, obligation by obligation:

1. *Only arrivals.* The reduction applies where no command is left but those `when quiet`, and time cannot pass: with
   `messages fast`, or with agents that set no timer. Then every step until all is quiet is an arrival, or a loss on a
   link that loses any number.
2. *Independence.* Arrivals at different nodes commute: each changes its own node, takes the first message off its own
   link, and appends to links out of its node. Histories are kept by node, and counts are sums.
3. *Persistence.* Let B be the nodes that an arrival can reach without r: receivers of busy links other than r, and all
   to whom links carry from B, r left out. Only nodes of B send before r acts. If each link from B to r is busy, then
   messages that follow queue behind, and the first ones stay the first. (With `order any`: no link from B to r.)
   `carries` is directed, so a link that carries one way counts for that way alone.
4. *Cycle proviso.* If a step leads to a state that was expanded before, all steps are tried. The last expanded state of
   a cycle has such a step, so every cycle has a fully expanded state, and no arrival is ignored for ever.

So each run of the full graph has a reduced one with the same steps in an order that differs by independent swaps, and
of which fairness is the same: if it never took a step of the persistent set, these messages would never arrive. Thus
the reduction preserves properties of quiet states, of histories in which an error stays one, and of fair runs that
never end. It does not preserve properties of all states, and is refused with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from roambus.bridge.errors import UserError
from roambus.experiments.exploring.model import Model
from roambus.experiments.exploring.steps import TIME, WORLD, Raised, State, Successor
from roambus.python_protocol.vocabulary import NodeId

_Carries = tuple[tuple[NodeId, ...], ...]


class Reduction:
    """Chooses the steps to be tried."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._links = model.worlds.links
        self._chosen: dict[tuple[int, tuple[bool, ...]], tuple[int, ...]] = {}
        self._applies: dict[int, bool] = {}

    def successors(self, state: State, was_expanded: Callable[[State], bool]) -> Iterable[Successor]:
        """Return the steps from a state that have to be tried."""
        model = self._model
        if model.nodes.is_timed and not model.rules.fast_messages:
            raise UserError("--reduce needs the line 'messages fast' for agents that set timers or read the clock")
        if model.is_idle(state) or not self._only_arrivals(state):
            return model.successors(state)
        steps = [step for place in self._places(state) for step in model.arrivals_at(state, place)]
        if any(not isinstance(after, Raised) and was_expanded(after) for _, after in steps):
            return model.successors(state)
        return steps

    def _only_arrivals(self, state: State) -> bool:
        """Whether nothing but arrivals can happen until nothing is under way; it depends on the world alone."""
        world = state[WORLD]
        if world not in self._applies:
            both = zip(self._model.world(state).left, self._model.rules.may, strict=True)
            self._applies[world] = not any(times for times, may in both if not may.when_quiet)
        return self._applies[world]

    def _places(self, state: State) -> tuple[int, ...]:
        """Return the places in the state of the links whose arrivals are to be tried."""
        key = (self._model.worlds.topology(state[WORLD]), tuple(map(bool, state[self._model.size : TIME])))
        if key not in self._chosen:
            self._chosen[key] = self._choose(state)
        return self._chosen[key]

    def _choose(self, state: State) -> tuple[int, ...]:
        to: dict[NodeId, list[int]] = {}
        for place, (_, receiver) in enumerate(self._links, self._model.size):
            if state[place]:
                to.setdefault(receiver, []).append(place)
        # Any persistent set would be right. That of the node with the fewest arrivals leaves the fewest states.
        for node in sorted(to, key=lambda one: len(to[one])):
            if self._is_persistent(node, to, state):
                return tuple(to[node])
        return tuple(place for places in to.values() for place in places)

    def _is_persistent(self, node: NodeId, to: dict[NodeId, list[int]], state: State) -> bool:
        carries = self._model.worlds.neighbours(state[WORLD])
        busy = {self._links[place - self._model.size][0] for place in to[node]}
        senders = {one for one in _active(node, to, carries) if node in carries[one]}
        return not senders if self._model.rules.any_order else senders <= busy


def _active(node: NodeId, to: Iterable[NodeId], carries: _Carries) -> set[NodeId]:
    """Return the nodes at which a message can arrive before one arrives at `node`."""
    found = set(to) - {node}
    waiting = list(found)
    for one in waiting:
        new = set(carries[one]) - found - {node}
        found |= new
        waiting += new
    return found
