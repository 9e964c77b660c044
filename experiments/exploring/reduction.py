"""The option `--reduce`: of orders of arrivals with one result only one is tried.

Persistent sets (Godefroid, 1996): the arrivals at one node r are enough, if no event elsewhere can change which
arrivals are possible at r. The proof:

1. *Only arrivals.* No command is left but those `when quiet`, and time cannot pass (`messages fast`, or no timers). So
   every step until quiet is an arrival, or a loss on a link that loses any number.
2. *Independence.* Arrivals at different nodes commute: each changes its own node, takes the first message off its own
   link, and appends to its node's links. Histories are kept by node; counts are sums.
3. *Persistence.* B: the nodes that an arrival can reach without r, which are the receivers of other busy links, and all
   to whom links carry from B. Only B sends before r acts. If each link from B to r is busy, new messages queue behind
   the first. (With `order any`: no link from B to r.) `carries` is directed.
4. *Cycle proviso.* If a step leads to an expanded state, all steps are tried, so every cycle has a fully expanded
   state.

So each full run has a reduced one that differs by independent swaps, with the same fairness. Quiet states, lasting
errors of histories and fair endless runs are preserved. Properties of all states are not, and are refused.
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
        """Whether only arrivals can happen until quiet; it depends on the world alone."""
        world = state[WORLD]
        if world not in self._applies:
            both = zip(self._model.world(state).left, self._model.rules.may, strict=True)
            self._applies[world] = not any(times for times, may in both if not may.when_quiet)
        return self._applies[world]

    def _places(self, state: State) -> tuple[int, ...]:
        """Return the state's places of the links whose arrivals are to be tried."""
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
    """Return the nodes at which a message can arrive before one does at `node`."""
    found = set(to) - {node}
    waiting = list(found)
    for one in waiting:
        new = set(carries[one]) - found - {node}
        found |= new
        waiting += new
    return found
