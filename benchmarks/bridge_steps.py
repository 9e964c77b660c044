"""Microseconds a delivery over the bridge against the size of its Steps, beside ZeroMQ's bare round trip.

A process of its own says Steps as fast as they are answered; this one runs the host with agents that only listen. The
bare round trip passes messages of the same length between the same two kinds of socket, and nothing else.
"""

from __future__ import annotations

import multiprocessing
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from typing import Any

import zmq

from benchmarks.reference_scenarios import PAYLOAD_BYTES, SHADOWED, Conditions, static_scenario
from roambus.bridge.backends.castalia.backend import CastaliaBackend
from roambus.bridge.backends.castalia.connection import Connection
from roambus.bridge.backends.castalia.cores import core_of_our_own
from roambus.bridge.backends.castalia.endpoint import Endpoint
from roambus.bridge.host.host import Host
from roambus.bridge.trace.writer import TraceWriter
from roambus.bridge.wire.conversion import PROTOCOL_VERSION, SCHEMA_HASH, TIME_RESOLUTION
from roambus.bridge.wire.wire_pb2 import Arrival, Finished, FromSimulator, Hello, Node, Step
from roambus.python_protocol.beacon import Beacon, BeaconMessage
from roambus.python_protocol.simtime import SECOND

NODES, SIDE_M = 66, 110
BATCHES = (1, 2, 5, 10, 20, 50)
STEPS = 4000
DEADLINE_S = 30.0

Peer = Callable[[str, str, int, Any], None]


def steps(batch: int) -> Iterator[FromSimulator]:
    """STEPS instants, at each of which one packet arrives at `batch` nodes; then the end."""
    payload = BeaconMessage(PAYLOAD_BYTES).encode()
    receivers, levels = range(1, batch + 1), [-70.5] * batch
    for now in range(STEPS):
        heard = Arrival(time=now, payload=payload, receivers=receivers, rssi_dbm=levels, lqi_db=levels)
        yield FromSimulator(step=Step(now=now, arrivals=[heard]))
    yield FromSimulator(finished=Finished(deliveries=STEPS * batch))


def say_steps(address: str, token: str, batch: int, seconds: Any) -> None:
    """A whole simulator; sends `seconds` the median of a Step's round trip."""
    hello = Hello(protocol_version=PROTOCOL_VERSION, schema_hash=SCHEMA_HASH, token=token)
    hello.time_resolution, hello.time_limit = TIME_RESOLUTION, SECOND
    hello.nodes.extend([Node(clock_rate=1)] * NODES)
    frames = [message.SerializeToString() for message in (FromSimulator(hello=hello), *steps(batch))]
    _exchange(address, frames, seconds)


def say_nothing(address: str, token: str, batch: int, seconds: Any) -> None:  # noqa: ARG001  # as say_steps
    """Frames as long as a Step with `batch` deliveries."""
    frame = next(steps(batch)).SerializeToString()
    _exchange(address, [frame] * (STEPS + 2), seconds)


def _exchange(address: str, frames: list[bytes], seconds: Any) -> None:
    times = []
    with zmq.Context() as context, context.socket(zmq.DEALER) as socket:
        socket.connect(address)
        for frame in frames:
            start = time.perf_counter()
            socket.send(frame)
            socket.recv()
            times.append(time.perf_counter() - start)
    seconds.send(statistics.median(times[1:-1]))


class Fed:
    """Stands for a simulator; `peer` runs in a process of its own."""

    run = "benchmark"
    hello_within_s = DEADLINE_S

    def __init__(self, peer: Peer, batch: int) -> None:
        self._peer, self._batch = peer, batch
        self._resources = ExitStack()
        self.seconds = 0.0
        """What the peer measured, once it has ended."""

    def connect(self) -> Connection:
        """See `roambus.bridge.backends.castalia.simulators`."""
        endpoint = self._resources.enter_context(Endpoint.private())
        connection = Connection(endpoint, DEADLINE_S, lambda: None)
        self._resources.callback(connection.close)
        self.start(endpoint.address, endpoint.token)
        return connection

    def start(self, address: str, token: str) -> None:
        """Starts the peer."""
        spawn = multiprocessing.get_context("spawn")
        self._told, tells = spawn.Pipe(duplex=False)
        self._process = spawn.Process(target=self._peer, args=(address, token, self._batch, tells))
        self._process.start()

    def last_lines(self) -> str:
        """It has no log."""
        return ""

    def end(self, *, in_order: bool) -> None:
        """See `roambus.bridge.backends.castalia.simulators`."""
        if in_order:
            self.seconds = self._told.recv()
        else:
            self._process.terminate()
        self._process.join()
        self._resources.close()


def microseconds_a_step(batch: int) -> float:
    """Of wire and host, for `batch` deliveries to agents that only listen."""
    scenario = static_scenario(NODES, SIDE_M, Conditions(1, SHADOWED, 0))
    fed = Fed(say_steps, batch)
    quiet = replace(scenario, agent_parameters={"rate": "0"})
    Host(quiet, Beacon, CastaliaBackend(quiet, Beacon.messages, fed), TraceWriter()).run()
    return fed.seconds * 1e6


def microseconds_a_round_trip(batch: int) -> float:
    """Of ZeroMQ alone: a ROUTER that gives back what it gets."""
    fed = Fed(say_nothing, batch)
    with Endpoint.private() as endpoint, zmq.Context() as context, context.socket(zmq.ROUTER) as socket:
        socket.bind(endpoint.address)
        fed.start(endpoint.address, endpoint.token)
        for _ in range(STEPS + 2):
            socket.send_multipart(socket.recv_multipart())
        fed.end(in_order=True)
    return fed.seconds * 1e6


def measure_steps() -> None:
    """Prints the table, both processes on one core, as they run, and on any."""
    print("deliveries   bare round trip, us     Step, us           a delivery, us")
    print("in a Step    one core  any core      one core  any core  one core  any core")
    for batch in BATCHES:
        bare, whole = [], []
        for place in (core_of_our_own, nullcontext):
            with place():
                bare.append(microseconds_a_round_trip(batch))
                whole.append(microseconds_a_step(batch))
        cells = [*bare, *whole, *(step / batch for step in whole)]
        print(f"{batch:9}  " + "".join(f"{cell:10.1f}" for cell in cells), flush=True)
