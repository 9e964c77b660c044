"""Judges a search by real runs: the ordinary host, drawn commands at drawn times, and links of drawn delays.

Paths of a graph show only what the graph has. Runs that are drawn without it show what it lacks: each has to end in a
state that the search has found, with its deliveries. That is asked of a search without any bound. Agents that go by
times reach other states as soon as delays differ, so only the properties are asked of their runs.

Only runs that the question asks about are judged: their set-up has to end as the search begins, whatever the delays.
With `messages fast` no timer may have run out while a message was under way. With `when quiet` all must be over at the
end, and agents go by no times. With `for` or `calm` no run is judged, because it is not cut off like a search.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Iterator
from functools import cache, cached_property
from itertools import combinations
from random import Random

from roambus.bridge.system.child_process import EndedError
from roambus.bridge.transcript.commands import Apply, Command, PublishEvent
from roambus.extensions.exploring.checker import RAISES, REPEATS, Checker, Violation
from roambus.extensions.exploring.counterexamples import Writer
from roambus.extensions.exploring.fresh_runs import FreshProcesses, RunEnd, RunRequest
from roambus.extensions.exploring.initial_state import SETUP_CHANCE
from roambus.extensions.exploring.properties import PROPERTIES
from roambus.extensions.exploring.property_checker import probes
from roambus.extensions.exploring.snapshots import state_text
from roambus.extensions.exploring.steps import TIME, WORLD, State
from roambus.extensions.exploring.world import World, do
from roambus.python_protocol.simtime import MICROSECOND, MILLISECOND, SECOND, SimTime, format_time

_MOST_COMMANDS, _GOES_ON = 30, 0.9
"""The most commands of a run, and the chance that another follows."""
_UNITS = (MILLISECOND, 10 * MILLISECOND, 100 * MILLISECOND)
_DELAYS, _PAUSES, _SETTLING = (1, 1, 2, 3, 5, 8), (0, 0, 1, 2, 3, 5, 8, 40), 500
"""The delays of links, the times between commands (twice), and the time until all is quiet, in units."""
_MOMENT = re.compile(r"\d{4,}")
_LASTS = 20 * SECOND
"""How long agents that go by times are observed after the last command."""


class Judge:
    """Has fresh processes carry out drawn runs, and compares their ends with the states of a search."""

    def __init__(self, checker: Checker, writer: Writer, fresh: FreshProcesses) -> None:
        self._checker, self._writer, self._fresh, self._random = checker, writer, fresh, Random("runs")
        self._model, self._rules, nodes = checker.model, checker.model.rules, checker.model.nodes
        self.is_complete = checker.is_over and not (nodes.is_timed or nodes.narrowed or nodes.cuts)
        self._text = cache(lambda number: state_text(nodes.agent(number)))
        self._are_probed = PROPERTIES["probes arrive"] in self._rules.question.must
        self._judged = set[RunRequest]()
        self._waits = any(may.when_quiet for may in self._rules.may)

    @property
    def runs(self) -> int:
        """How many runs were judged."""
        return len(self._judged)

    def judge(self, runs: int) -> Violation | None:
        """Draw so many runs, until one is wrong or ends where the search does not."""
        question = self._rules.question
        if question.time_limit is not None or question.calm is not None:
            return None
        return self._fresh.first([self._draw() for _ in range(runs)], self._judge)

    def _judge(self, request: RunRequest, end: RunEnd | EndedError) -> Violation | None:
        if isinstance(end, RunEnd) and not self._is_asked(end):
            return None
        self._judged.add(request)
        wrong = end.wrong if isinstance(end, RunEnd) else {RAISES: str(end)}
        for name, text in wrong.items():
            return Violation(name, text, (), request.transcript)
        text = self._missing(end) if isinstance(end, RunEnd) and self.is_complete and end.is_over else ""
        return Violation(REPEATS, text, (), request.transcript) if text else None

    def _is_asked(self, end: RunEnd) -> bool:
        """Whether a run is among those that the question asks about."""
        is_quiet = end.is_over and not self._model.nodes.is_timed
        is_slow = end.is_slow and self._rules.question.fast_messages
        return self._has_begun(end) and not is_slow and (is_quiet or not self._waits)

    def _has_begun(self, end: RunEnd) -> bool:
        """Whether the setup has ended as the search begins, but for moments, which differ with the delays of links."""
        nodes = self._model.nodes
        if not end.has_settled or SETUP_CHANCE in nodes.narrowed:
            return end.has_settled
        ours, theirs = self._texts(self._checker.initial), end.texts[0]
        bare = [[_MOMENT.sub("", text) for text in texts] for texts in (ours, theirs)]
        return bare[0] == bare[1] if nodes.is_timed else ours == theirs

    def _missing(self, end: RunEnd) -> str:
        """Return what no state of the search has; empty if a state is the end of the run."""
        states = self._ends.get(self._key(end.world))
        if states is None:
            return f"a run ends, and the search never, when {end.deliveries or 'nothing was delivered'}"
        agents = end.texts[1]
        if any(all(self._text(its) == text for its, text in zip(state, agents, strict=False)) for state in states):
            return ""
        known = map(self._texts, states)
        names = zip(self._checker.properties.names, zip(*known, strict=True), agents, strict=True)
        others = [name for name, texts, text in names if text not in texts]
        return f"a run ends with {' and '.join(others) or 'nodes'} in a state in which the search never ends"

    def _texts(self, state: State) -> list[str]:
        return list(map(self._text, state[: self._model.size]))

    @cached_property
    def _ends(self) -> dict[Hashable, list[State]]:
        """The states in which nothing is under way, by their worlds."""
        key, found = cache(lambda world: self._key(self._model.worlds[world])), defaultdict(list)
        for state in map(self._checker.state, range(len(self._checker))):
            if not any(state[self._model.size : TIME]):
                found[key(state[WORLD])].append(state)
        return dict(found)

    def _key(self, world: World) -> Hashable:
        """Return what a run and the search know of a world."""
        published = tuple((it.notification, it.wanted_by, it.due) for it in world.published)
        history = (published, world.delivered, world.unwanted, world.taken) if self._rules.history else ()
        return world.graph, world.wanted, world.numbers, history

    # Drawing

    def _draw(self) -> RunRequest:
        random, is_timed, is_fast = self._random, self._model.nodes.is_timed, self._rules.question.fast_messages
        unit = MICROSECOND if is_fast else random.choice(_UNITS) if is_timed else MILLISECOND
        kinds, name = random.choice((() if is_timed else (1,), (1,), _DELAYS, _DELAYS)), self._writer.name
        pairs = combinations(range(self._model.size), 2)
        links = [f"{name(a)}-{name(b)} {format_time(unit * random.choice(kinds))}" for a, b in pairs if kinds]
        settings = [f"seed {random.randrange(1000)}", *(f"delay {link}" for link in links)]
        timed = list(self._commands(unit))
        world = self._model.world(self._checker.initial)
        for _, command in timed:
            world = do(command, world, self._rules.brokers).world
        asked = list(probes(world, self._rules.publishers)) if self._are_probed and not is_timed else []
        timed += [(_SETTLING * unit, random.choice(asked))] if asked else []
        transcript = self._writer.with_times(settings, timed, _LASTS if is_timed else 0)
        return RunRequest(transcript, bool(asked))

    def _commands(self, unit: SimTime) -> Iterator[tuple[SimTime, Command]]:
        """Draw commands that the question allows, each with its time after the one before."""
        random, rules, world = self._random, self._rules, self._model.world(self._checker.initial)
        for _ in range(_MOST_COMMANDS):
            lines = [
                (place, list(may.options(world)) if world.left[place] else []) for place, may in enumerate(rules.may)
            ]
            lines = [(place, options) for place, options in lines if options]
            if not lines or random.random() > _GOES_ON:
                return
            place, options = random.choice(lines)
            command = random.choice(options)
            world = do(command, world, rules.brokers).world.using(place)
            after = unit * random.choice(_PAUSES if isinstance(command, Apply | PublishEvent) else _PAUSES[2:]) // 2
            yield _SETTLING * unit if rules.may[place].when_quiet else after, command
