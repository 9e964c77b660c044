"""Compares paths of the explored graph with fresh runs.

Two histories with one state in the graph have different states in a run if an agent keeps some of it outside of its
attributes, or goes by what a copy changes. So paths are drawn that reach a merged state by another way than the
search did, and that go round cycles, and then go on at random within the graph. The path of each violation is compared,
too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random
from typing import NamedTuple

from roambus.extensions.exploring.checker import Checker
from roambus.extensions.exploring.counterexamples import Writer
from roambus.extensions.exploring.fresh_runs import FreshProcesses, Walk, WalkResult
from roambus.extensions.exploring.model import Model
from roambus.extensions.exploring.nodes import Raised
from roambus.extensions.exploring.snapshots import Snapshot, compared, difference, snapshot
from roambus.extensions.exploring.steps import State, Step

Path = tuple[Step, ...]
LEAST_WALKS, MOST_WALKS = 8, 60
_STATES_A_WALK = 6000
"""A search of more states draws more walks: so they take a fixed share of its time, and repeat themselves."""
_LONGEST = 40
"""Steps after those of the first part."""
_RARE = 0.5
"""The share of choices among steps that merge or go round, if there are any."""


class Divergence(NamedTuple):
    """The steps after which a fresh run differs from the search, and how."""

    path: Path
    text: str


class Edge(NamedTuple):
    """A step, and the state after it, by number."""

    step: int
    after: int


class Repetition:
    """Has fresh runs repeat paths of one search."""

    def __init__(self, checker: Checker, writer: Writer, fresh: FreshProcesses) -> None:
        self._checker, self._model, self._writer, self._fresh = checker, checker.model, writer, fresh
        self._random = Random("walks")
        rules = self._model.rules
        self._full = self._model
        """A model of the same nodes whose worlds have their history."""
        if not rules.history:
            self._full = Model(self._model.size, self._model.nodes, rules._replace(history=True))
        self.walks, self.steps = 0, 0

    def check_drawn(self) -> Divergence | None:
        """Draw walks until one differs, or enough were made."""
        known = set[Path]()
        for _ in range(min(MOST_WALKS, LEAST_WALKS + len(self._checker) // _STATES_A_WALK)):
            path = self._draw()
            if path not in known and (found := self.check(path)):
                return found
            known.add(path)
        return None

    def check(self, path: Path) -> Divergence | None:
        """Return how a fresh run of this path differs, if it does."""
        path = self._to_end_of_instant(path)
        states, full = self._states(path), self._full_states(path)
        # A transcript has a line for each instant, so a run can be looked at between instants.
        places = [place for place, step in enumerate((*path, None)) if step is None or not step.at_once]
        quiet = tuple(self._checker.properties.is_quiet(states[place]) for place in places)
        made: WalkResult = self._fresh.call(Walk(self._writer.transcript(path, follows=False), quiet))
        self.walks += 1
        self.steps += len(path)
        for number, place in enumerate(places):
            if number == len(made.snapshots):
                return Divergence(path[:place], f"a fresh run ends: {made.error}")
            searched = self._snapshot(full[place], is_quiet=quiet[number])
            if text := difference(searched, made.snapshots[number]):
                return Divergence(path[:place], f"after step {place} {text}")
        return None

    def _to_end_of_instant(self, path: Path) -> Path:
        """Return the path with a last step that has all its consequences."""
        if not path or not path[-1].is_open:
            return path
        *before, last = path
        bare = last._replace(is_open=False, picks=())
        following = self._model.successors(self._states(tuple(before))[-1])
        steps = [self._model.steps[number] for number, end in following if not isinstance(end, Raised)]
        return (*before, next(step for step in steps if step._replace(picks=()) == bare))

    # Drawing

    def _draw(self) -> Path:
        """Return the search's path to a state, and a walk from there that prefers what is rare."""
        checker, random = self._checker, self._random
        number = random.randrange(len(checker))
        path, passed = list(checker.path(number)), set(checker.ancestors(number))
        for _ in range(_LONGEST):
            edges = list(self._edges(number)) if number < checker.next else []
            if not edges:
                break
            rare = [edge for edge in edges if edge.after in passed or checker.before(edge.after) != number]
            step, number = random.choice(rare if rare and random.random() < _RARE else edges)
            path.append(self._model.steps[step])
            passed.add(number)
        return tuple(path)

    def _edges(self, number: int) -> Iterator[Edge]:
        for step, after in self._model.successors(self._checker.state(number)):
            if not isinstance(after, Raised) and (end := self._checker.number(after)) is not None:
                yield Edge(step, end)

    # The search's side

    def _states(self, path: Path) -> list[State]:
        return _follow(self._model, self._checker.initial, path)

    def _full_states(self, path: Path) -> list[State]:
        first, model = self._checker.initial, self._model
        world = model.world(first)
        return _follow(self._full, self._full.initial(first[: model.size], world, model.now(first)), path)

    def _snapshot(self, state: State, *, is_quiet: bool) -> Snapshot:
        model, names = self._full, self._checker.properties.names
        world, nodes = model.world(state), model.nodes
        view = self._checker.properties.plain_view(model, state)
        messages = {
            link: [nodes.messages[item.message] for item in model.queues[state[place]]]
            for link, place in model.places.items()
        }
        timers = [nodes.timers(number, model.now(state)) for number in state[: model.size]]
        wrong = compared(model.rules.question.must, view, is_quiet=is_quiet)
        return snapshot(names, world, timers, messages, wrong)


def _follow(model: Model, state: State, path: Iterable[Step]) -> list[State]:
    """Return the states on a path."""
    states = [state]
    for step in path:
        ends = [end for number, end in model.successors(states[-1]) if model.steps[number] == step]
        states += [end for end in ends if not isinstance(end, Raised)][:1]
    return states
