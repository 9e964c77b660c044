"""A seed decides a run wholly, and messages are no more than their bytes."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from bridge.backends.interface import Hello, Step, Totals, Transmission
from bridge.backends.radio import RadioBackend
from bridge.host import Host
from bridge.ini import parse_scenario
from bridge.registry import load_agent
from bridge.scenario import Scenario
from bridge.trace import TraceLevel, TraceWriter
from experiments.render import find_template, render
from experiments.sweep import Scalar
from python_protocol.codec import MessageSet
from python_protocol.simtime import SimTime

AGENTS = ("beacon", "flooding", "mft", "aodv")
SECONDS = 12


class ThroughBytes:
    """A back-end that carries what `encode` wrote and `decode` reads, as a socket would."""

    def __init__(self, backend: RadioBackend, messages: MessageSet) -> None:
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
    return parse_scenario(render(template, {**values, **run}), template, template.parent)


def trace(agent: str, seed: int, folder: Path, *, through_bytes: bool = False) -> bytes:
    described, agent_class = scenario(agent, seed), load_agent(agent)
    radio = RadioBackend(described)
    writer = TraceWriter(TraceLevel.FULL)
    Host(described, agent_class, ThroughBytes(radio, agent_class.messages) if through_bytes else radio, writer).run()
    writer.write(folder / "trace.parquet", {})
    return (folder / "trace.parquet").read_bytes()


@pytest.mark.parametrize("agent", AGENTS)
def test_a_seed_decides_a_run(agent: str, tmp_path: Path) -> None:
    """The same seed gives the same trace, byte for byte; another seed does not."""
    first = trace(agent, 1, tmp_path)
    assert trace(agent, 1, tmp_path) == first
    assert trace(agent, 2, tmp_path) != first


@pytest.mark.parametrize("agent", AGENTS)
def test_messages_are_their_bytes(agent: str, tmp_path: Path) -> None:
    """A run whose messages pass as bytes is the same as one whose messages pass as objects."""
    assert trace(agent, 1, tmp_path, through_bytes=True) == trace(agent, 1, tmp_path)
