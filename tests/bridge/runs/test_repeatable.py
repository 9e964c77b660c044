"""A seed decides a run wholly, and messages are no more than their bytes."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from roambus.bridge.agents import load_agent
from roambus.bridge.backend import Backend, Hello, Step, Totals, Transmission
from roambus.bridge.backends.ideal.backend import make_ideal
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.formats.ini import parse_scenario
from roambus.bridge.host.event_loop import Host
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.plans import Fault, FaultKind, Partition
from roambus.bridge.trace.parquet import TraceLevel, TraceWriter
from roambus.experiments.inventory import TEMPLATES
from roambus.experiments.templates.template import find_template
from roambus.experiments.templates.variables import Scalar
from roambus.python_protocol.messages.message import MessageSet
from roambus.python_protocol.simtime import SECOND, SimTime

AGENTS = ("beacon", "flooding", "gossip", "mft", "aodv")
SECONDS = 12

Make = Callable[[Scenario], Backend]
BACKENDS = [pytest.param(RadioBackend, id="radio"), pytest.param(make_ideal, id="ideal")]


class ThroughBytes:
    """A back-end that carries what `encode` wrote and `decode` reads, as a socket would."""

    def __init__(self, backend: Backend, messages: MessageSet) -> None:
        self._backend = backend
        self._messages = messages

    def open(self) -> Hello:
        return self._backend.open()

    def advance(self, transmissions: Sequence[Transmission], wake_up: SimTime | None) -> Step | None:
        decoded = [entry._replace(message=self._messages.decode(entry.message.encode())) for entry in transmissions]
        return self._backend.advance(decoded, wake_up)

    def fail(self, error: BaseException) -> None:
        self._backend.fail(error)

    def close(self) -> Totals:
        return self._backend.close()


def scenario(agent: str, seed: int) -> Scenario:
    template = find_template("thesis")
    values = {"brokers": 4, "subscribers": 4, "side": 45, "speed": 10, "time_limit": SECONDS, "publish_until": SECONDS}
    run: dict[str, Scalar] = {"seed": seed, "agent": agent, "agent_parameters": ""}
    return parse_scenario(template.render({**values, **run}), template.file, TEMPLATES)


def with_faults(described: Scenario) -> Scenario:
    """A crash, a freeze and, over ideal links of 25 m, a partition."""
    crash, freeze, recover = FaultKind.CRASH, FaultKind.FREEZE, FaultKind.RECOVER
    planned = ((4, 3, crash), (5, 7, freeze), (7, 3, recover), (8, 7, recover))
    faults = tuple(Fault(at * SECOND, node, kind) for at, node, kind in planned)
    partitions = (Partition(6 * SECOND, (frozenset({0, 2, 4, 6}),)), Partition(9 * SECOND))
    ideal = replace(described.ideal, partitions=partitions, range_m=25)
    return replace(described, faults=faults, ideal=ideal)


def trace(agent: str, make: Make, described: Scenario, folder: Path, *, through_bytes: bool = False) -> bytes:
    agent_class, backend = load_agent(agent), make(described)
    writer = TraceWriter(TraceLevel.FULL)
    carrier = ThroughBytes(backend, agent_class.messages) if through_bytes else backend
    Host(described, agent_class, carrier, writer).run()
    writer.write(folder / "trace.parquet", {})
    return (folder / "trace.parquet").read_bytes()


@pytest.mark.parametrize("make", BACKENDS)
@pytest.mark.parametrize("agent", AGENTS)
def test_a_seed_decides_a_run(agent: str, make: Make, tmp_path: Path) -> None:
    """The same seed gives the same trace, byte for byte, faults included; another seed does not."""
    first, again, other = (trace(agent, make, with_faults(scenario(agent, seed)), tmp_path) for seed in (1, 1, 2))
    assert first == again
    assert first != other


@pytest.mark.parametrize("agent", AGENTS)
def test_messages_are_their_bytes(agent: str, tmp_path: Path) -> None:
    """A run whose messages pass as bytes is the same as one whose messages pass as objects."""
    described = scenario(agent, 1)
    as_bytes = trace(agent, RadioBackend, described, tmp_path, through_bytes=True)
    assert as_bytes == trace(agent, RadioBackend, described, tmp_path)
