"""What the shipped questions are for: protocols that are broken in one place, each found by the question about it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import pytest

import roambus
from benchmarks.mutations.in_memory import break_function
from roambus.bridge.transcript.transcript import Overrides
from roambus.experiments.exploring.checker import Bounds
from roambus.experiments.exploring.exploration import Exploration
from roambus.experiments.exploring.scenario_file import read_question
from roambus.experiments.exploring.verdicts import Counterexample

pytestmark = pytest.mark.slow  # half a minute of searching

QUESTIONS = Path(__file__).parents[3] / "benchmarks" / "explorations"
PROTOCOLS = Path(str(roambus.__file__)).parent
WITHIN, WITHIN_MORE = Bounds(states=10_000), Bounds(states=60_000)
"""AODV's routes need more."""
TABLE = "python_protocol/aodv/routing_table.py"

MUTANTS = {
    "UNS has an old timestamp": (
        "mft_two_subscriptions",
        "python_protocol/brokers/client.py",
        "Client._subscription",
        "(*self._head(), about)",
        "(*(self._head() if is_new else (self.node, self._timestamp - 1, 0)), about)",
    ),
    "Simple Routing does not flood UNS": (
        "simple_entries",
        "python_protocol/papers/simple.py",
        "Broker.unsubscribe",
        "self.flood(uns, z)",
        "pass",
    ),
    "a route that is lost loses its sequence number": (
        "aodv_routes",
        TABLE,
        "RoutingTable.invalidate",
        "route.sequence = following(route.sequence)",
        "route.sequence_valid = False",
    ),
    "sequence numbers are compared the wrong way round": (
        "aodv_routes",
        TABLE,
        "_is_better",
        "is_newer(offer.sequence, route.sequence)",
        "is_newer(route.sequence, offer.sequence)",
    ),
    "a longer route of the same number is taken": (
        "aodv_two_ways",
        TABLE,
        "_is_better",
        "offer.hop_count < route.hop_count",
        "offer.hop_count > route.hop_count",
    ),
    "a RREP does not count hops": (
        "aodv_routes",
        "python_protocol/aodv/agent.py",
        "Aodv.receive_reply",
        "reply = one_hop_on(reply)",
        "pass",
    ),
    "a search goes through the whole network": (
        "aodv_rings",
        "python_protocol/aodv/messages.py",
        "one_hop_on",
        "ttl=message.ttl - 1",
        "ttl=message.ttl",
    ),
    "data does not keep its route alive": (
        "aodv_kept_route",
        TABLE,
        "RoutingTable.extend",
        "route.lifetime = max(route.lifetime, least)",
        "pass",
    ),
    "who wants anything gets everything": (
        "mft_load",
        "python_protocol/mft/messages.py",
        "Route.matches",
        'filters does."""\n        return any(',
        'filters does."""\n        return True or any(',
    ),
    "who is back gets nothing of what was stored": (
        "first_approach_absent",
        "python_protocol/papers/first_approach.py",
        "Broker.idle",
        "self._replay(s, interface)",
        "pass",
    ),
    "nobody is asked for old content": (
        "caching_old",
        "python_protocol/papers/caching/client.py",
        "Client._ask",
        "self._request(self.broker, filters=asked)",
        "pass",
    ),
}


@contextmanager
def broken(module: str, function: str, sound: str, other: str) -> Iterator[None]:
    """A function with another text in the place of one."""
    source = (PROTOCOLS / module).read_text()
    assert source.count(sound) == 1
    import_module(f"roambus.{module.removesuffix('.py').replace('/', '.')}")
    put_back = break_function(module, function, source.replace(sound, other))
    assert put_back is not None
    try:
        yield
    finally:
        put_back()


def wrong(question: str) -> list[Counterexample]:
    """What is found within bounds."""
    exploration = Exploration(read_question(QUESTIONS / f"{question}.txt"), Overrides())
    exploration.run(WITHIN_MORE if question == "aodv_routes" else WITHIN)
    return exploration.counterexamples


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_is_killed(name: str) -> None:
    """By two subscriptions in a setup, entries for nobody, routes that stand and get lost, load, and absences."""
    question, *change = MUTANTS[name]
    with broken(*change):
        assert wrong(question)


@pytest.mark.parametrize("question", sorted({question for question, *_ in MUTANTS.values()}))
def test_what_is_not_broken_is_not_killed(question: str) -> None:
    """Within the same bounds."""
    assert wrong(question) == []
