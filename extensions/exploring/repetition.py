"""Compares paths of the explored graph with fresh runs.

Two histories with one state in the graph have different states in a run if an agent keeps some of it outside of its
attributes, or goes by what a copy changes. So paths are drawn that reach a merged state by another way than the
search did, and that go round cycles, and then go on at random within the graph. The path of each violation is compared,
too. If probes are asked about, each path ends at a quiet state with one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import starmap
from random import Random
from typing import NamedTuple

from roambus.bridge.system.child_process import EndedError
from roambus.extensions.exploring.checker import REPEATS, Checker, Violation
from roambus.extensions.exploring.counterexamples import Writer
from roambus.extensions.exploring.fresh_runs import FreshProcesses, Walk, WalkResult
from roambus.extensions.exploring.model import Model
from roambus.extensions.exploring.nodes import Raised
from roambus.extensions.exploring.properties import PROPERTIES
from roambus.extensions.exploring.property_checker import probes
from roambus.extensions.exploring.snapshots import Snapshot, compared, difference, snapshot
from roambus.extensions.exploring.steps import State, Step, Successor

Path = tuple[Step, ...]
_LEAST_WALKS, _MOST_WALKS, _STATES_A_WALK = 10, 40, 10_000
"""A search of more states draws more walks: so they take a share of its time, and repeat themselves."""
_TRIES = 4
"""Drawn for each walk, most of which are equal in a small graph."""
_LONGEST = 40
"""Steps after those of the first part."""
_RARE = 0.5
"""The share of choices among steps that merge or go round, if there are any."""


def walks_of(checker: Checker) -> int:
    """Return how many walks a search draws, and as many real runs."""
    return min(_MOST_WALKS, _LEAST_WALKS + len(checker) // _STATES_A_WALK)


class _Place(NamedTuple):
    """A state on a walk and its model, and whether quiet properties are asked there; None of a probe: no others."""

    model: Model
    state: State
    is_quiet: bool | None = None


class _Walk(NamedTuple):
    """A walk as a request, its steps, and the places at which a run is looked at, by the number of steps before."""

    request: Walk
    steps: Path
    places: dict[int, _Place]


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
        self._twin = self._model.twin(loses=False)
        self._are_probed = PROPERTIES["probes arrive"] in rules.question.must
        self._probes: Counter[State] = Counter()
        """How often each state was probed."""
        self.walks, self.steps = 0, 0

    def check(self, known: Iterable[tuple[Path, Path]] = ()) -> Violation | None:
        """Return how a fresh run of these paths, with probes at their ends, or of drawn ones differs, if one does."""
        walks, drawn = dict.fromkeys(known), walks_of(self._checker)
        most = len(walks) + drawn
        for _ in range(_TRIES * drawn):
            if len(walks) < most:
                path = self._draw()
                probed = self._with_probe(path) if self._are_probed else (path, ())
                walks.setdefault((path, ()) if probed in walks else probed)
        marked = {walk.request: walk for walk in starmap(self._mark, walks)}
        self.walks, self.steps = len(walks), sum(len(walk.steps) for walk in marked.values())
        return self._fresh.first(list(marked), lambda request, made: self._compare(marked[request], made))

    def _mark(self, path: Path, probe: Path) -> _Walk:
        path = self._to_end_of_instant(path)
        passed = self._passed(path)
        passed += self._probed(passed[-1], probe)
        steps = (*path, *probe)[: len(passed) - 1]  # the last of a probe may raise an error
        # A transcript has a line for each instant, so a run can be looked at between instants.
        places = {place: at for place, at in enumerate(passed) if place == len(steps) or not steps[place].at_once}
        quiet = tuple(at.is_quiet for at in places.values())
        return _Walk(Walk(self._writer.transcript(steps), quiet), steps, places)

    def _compare(self, walk: _Walk, made: WalkResult | EndedError) -> Violation | None:
        if isinstance(made, EndedError):
            return Violation(REPEATS, f"a fresh run ends: {made}", walk.steps)
        for number, (place, at) in enumerate(walk.places.items()):
            if number == len(made.snapshots):
                return Violation(REPEATS, f"a fresh run ends: {made.error}", walk.steps[:place])
            if text := difference(self._snapshot(at), made.snapshots[number]):
                return Violation(REPEATS, f"after step {place} {text}", walk.steps[:place])
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
            rare = [(step, after) for step, after in edges if after in passed or checker.before(after) != number]
            step, number = random.choice(rare if rare and random.random() < _RARE else edges)
            path.append(self._model.steps[step])
            passed.add(number)
        return tuple(path)

    def _edges(self, number: int) -> Iterator[tuple[int, int]]:
        """Yield the steps from a state, and the states after them, by number."""
        for step, after in self._model.successors(self._checker.state(number)):
            if not isinstance(after, Raised) and (end := self._checker.number(after)) is not None:
                yield step, end

    def _with_probe(self, path: Path) -> tuple[Path, Path]:
        """Return the path up to a quiet state of few probes, and a probe there in one of its orders; else the path."""
        states, passed, random = self._states(path), self._passed(path), self._random
        quiet = [place for place, at in enumerate(passed) if at.is_quiet]
        end = min(quiet, key=lambda place: self._probes[states[place]], default=0)
        self._probes[states[end]] += 1
        commands = list(probes(self._model.world(states[end]), self._model.rules.publishers)) if quiet else []
        if not commands:
            return path, ()
        twin, state = self._twin, self._twin_state(passed[end])
        command, timeouts = random.choice(commands), 0
        is_over = self._checker.properties.end_of_probe(state, command)
        following, steps = _whole(twin, twin.carry_out(state, command)), list[Step]()
        while following and len(steps) < _LONGEST:
            step, state = random.choice(following)
            steps.append(step)
            following = _whole(twin, twin.arrivals(state))
            if not following and not is_over(state, timeouts)[0]:
                timeouts += 1
                following = _whole(twin, twin.timeouts(state, twin.soonest(state)))
        return path[:end], tuple(steps)

    # The search's side

    def _states(self, path: Path) -> list[State]:
        return states_on(self._model, self._checker.initial, path)

    def _passed(self, path: Path) -> list[_Place]:
        """Return the places on a path, in worlds that have their history."""
        first, model = self._checker.initial, self._model
        begin = self._full.initial(first[: model.size], model.world(first), model.now(first))
        quiet = map(self._checker.properties.is_quiet, self._states(path))
        return [_Place(self._full, *both) for both in zip(states_on(self._full, begin, path), quiet, strict=True)]

    def _probed(self, at: _Place, probe: Path) -> list[_Place]:
        """Return the places of a probe from this quiet place on."""
        if not probe:
            return []
        begun = self._twin.carry_out(self._twin_state(at), probe[0].command)
        states = [end for number, end in begun if self._twin.steps[number] == probe[0] and not isinstance(end, Raised)]
        return [_Place(self._twin, it) for state in states for it in states_on(self._twin, state, probe[1:])]

    def _twin_state(self, at: _Place) -> State:
        return self._twin.initial(at.state[: at.model.size], at.model.world(at.state), at.model.now(at.state))

    def _snapshot(self, at: _Place) -> Snapshot:
        model, state, nodes = at.model, at.state, at.model.nodes
        view = self._checker.properties.plain_view(model, state)
        messages = {
            link: [nodes.messages[item.message] for item in model.queues[state[place]]]
            for link, place in model.places.items()
        }
        timers = [nodes.timers(number, model.now(state)) for number in state[: model.size]]
        wrong = compared(model.rules.question.must, view, at.is_quiet)
        return snapshot(view, timers, messages, wrong)


def states_on(model: Model, state: State, path: Iterable[Step]) -> list[State]:
    """Return the states on a path, without the end of a step that raises an error."""
    states = [state]
    for step in path:
        ends = [end for number, end in model.successors(states[-1]) if model.steps[number] == step]
        states += [end for end in ends if not isinstance(end, Raised)][:1]
    return states


def _whole(model: Model, successors: Iterable[Successor]) -> list[tuple[Step, State]]:
    """Return the steps with all their consequences, but for losses."""
    found = [(model.steps[number], end) for number, end in successors if not isinstance(end, Raised)]
    return [(step, end) for step, end in found if not step.is_open and not getattr(step.command, "lost", False)]
