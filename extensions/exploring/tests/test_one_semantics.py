"""What an exploration does is what a run over ideal links does: random schedules through both, state by state."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from roambus.bridge.trace.parquet import TraceWriter
from roambus.bridge.transcript.document import parse_document
from roambus.bridge.transcript.transcript import Overrides, plan
from roambus.extensions.exploring.copies import Copier
from roambus.extensions.exploring.counterexamples import Writer
from roambus.extensions.exploring.exploration import Exploration
from roambus.extensions.exploring.nodes import Raised
from roambus.extensions.exploring.scenario_file import parse_question
from roambus.extensions.exploring.steps import State, Step
from roambus.extensions.exploring.tests.exploring import AGENTS
from roambus.extensions.exploring.world import RunObserver, World, observed_by
from roambus.python_protocol.agent import Agent

pytestmark = pytest.mark.slow  # half a minute of searching

TREE = "tree\n  b1/p1/s1\n    b2/p2\n      b4\n    b3/s3\nclients s5@b2 s6@b3\n"
LIKES = "may 3 subscriptions to f1\nmay 2 unsubscriptions from f1\nmay 3 publications of e1\n"
FAULTS = "may 2 crashes\nmay 2 recoveries\nmay 1 loss\n"
LINKS = "links n1-n2 n2-n3 n3-n1\nloss n1->n2 0.5\n"
QUESTIONS = {
    "mft": f"agent mft\n{TREE}{LIKES}{FAULTS}may 4 tree changes\n",
    "first approach": f"agent first-approach\n{TREE}{LIKES}{FAULTS}may 4 tree changes\n",
    "phoenix": f"agent phoenix\n{TREE}{LIKES}{FAULTS}may 4 client moves\n",
    "simple": f"agent simple\n{TREE}{LIKES}{FAULTS}may 4 client moves\norder any\n",
    "graph": f"agent {AGENTS}:Pushy\n{LINKS}{LIKES}{FAULTS}may 3 link changes\nmay 2 times link n2->n3 down\n"
    "may link n2->n3 up\n",
    "drawn times": f"agent aodv link_layer=false\n{LINKS}{LIKES}{FAULTS}may 3 link changes\nchance ends\n",
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_random_schedules_lead_to_the_same_states(name: str) -> None:
    """Agents, deliveries, subscriptions, links and nodes that are down, after 60 random steps of each of ten seeds."""
    delivered = 0
    for seed in range(10):
        question = parse_question(Path("question.txt"), f"{QUESTIONS[name]}must nothing twice\n")
        exploration = Exploration(question, Overrides())
        steps, state = _walk(exploration, Random(f"{name}/{seed}"))
        agents, world = _run(Writer(exploration.initial).transcript(steps))
        model = exploration.initial.model
        views = exploration.checker.properties.view(state).agents
        assert [_state_of(agent) for agent in agents] == [_state_of(view) for view in views.values()]
        explored = model.world(state)
        assert _history(world) == _history(explored)
        delivered += sum(map(len, world.delivered))
    assert delivered


def test_who_moves_is_in_reach_at_every_moment() -> None:
    """A client loses one link and gets the other at one instant: what is under way meanwhile is due to it."""
    moves = "tree\n  b1/p1\n    b2\n    b3\nclients s1@b2\nsetup\n  s1 subscribes f1\n\n> p1 publishes e1\n"
    _, world = _run(f"agent mft\nby hand\n{moves}> s1 moves to b3\n")
    assert world.published[0].due == {3}


def _walk(exploration: Exploration, random: Random) -> tuple[list[Step], State]:
    model, state, steps = exploration.initial.model, exploration.initial.state, list[Step]()
    for _ in range(60):
        following = [successor for successor in model.successors(state) if not isinstance(successor[1], Raised)]
        if not following:
            break
        step, after = random.choice(following)
        assert not isinstance(after, Raised)
        steps.append(model.steps[step])
        state = after
    return steps, state


def _run(transcript: str) -> tuple[list[Agent], World]:
    """The agents of a run by hand, at its end, and the world that its observer has seen."""
    planned = plan(parse_document(Path("both.txt"), transcript))
    observer = RunObserver(planned.timeline, planned.scenario)
    planned.run(planned.carrier(), TraceWriter(), observed_by(observer))
    observer.reach(planned.scenario.time_limit)
    return observer.agents, observer.world


def _state_of(agent: Agent) -> bytes:
    """The state of an agent, by value: copied twice, so that equal parts are one object nowhere by chance."""
    copier = Copier(agent.random)
    return copier.encode(copier.decode(copier.encode(agent, 0), 0), 0)


def _history(world: World) -> tuple[object, ...]:
    """What both know."""
    published = [(publication.notification, publication.wanted_by, publication.due) for publication in world.published]
    return world.wanted, world.numbers, world.delivered, world.unwanted, world.graph, published
