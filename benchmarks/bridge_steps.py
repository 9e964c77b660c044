"""Microseconds a Step over the bridge against the deliveries in it, beside the bare round trip of each transport.

A process of its own says Steps as fast as they are answered; this one runs the host with agents that only listen. The
bare round trip passes messages of the same length between the same two kinds of socket, and nothing else. Both
processes are on one core, as they run.
"""

from __future__ import annotations

import multiprocessing
import socket
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import zmq

from benchmarks.reference_scenarios import PAYLOAD_BYTES, SHADOWED, Conditions, static_scenario
from roambus.bridge.backends.castalia.backend import CastaliaBackend
from roambus.bridge.backends.castalia.endpoint import SCHEMES, Endpoint, Transport
from roambus.bridge.backends.castalia.local import CHUNK_BYTES, FrameReader, framed
from roambus.bridge.backends.castalia.simulators import Channel, core_of_our_own, listen
from roambus.bridge.host.event_loop import Host
from roambus.bridge.trace.parquet import TraceWriter
from roambus.bridge.wire.conversion import MAX_FRAME_BYTES, PROTOCOL_VERSION, SCHEMA_HASH, TIME_RESOLUTION
from roambus.bridge.wire.wire_pb2 import Arrival, Finished, FromSimulator, Hello, Node, Step
from roambus.python_protocol.baselines import Beacon, BeaconMessage
from roambus.python_protocol.vocabulary import SECOND

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
    with _asking(address) as ask:
        for frame in frames:
            start = time.perf_counter()
            ask(frame)
            times.append(time.perf_counter() - start)
    seconds.send(statistics.median(times[1:-1]))


@contextmanager
def _asking(address: str) -> Iterator[Callable[[bytes], object]]:
    """A function that says a frame and hears the answer."""
    scheme, _, path = address.partition("://")
    if scheme == "unix":
        with socket.socket(socket.AF_UNIX) as local:
            local.connect(path)
            reader = FrameReader(MAX_FRAME_BYTES)
            yield lambda frame: _ask(local, reader, frame)
    else:
        with zmq.Context() as context, context.socket(zmq.DEALER) as dealer:
            dealer.connect(address)
            yield lambda frame: (dealer.send(frame), dealer.recv())


def _ask(local: socket.socket, reader: FrameReader, frame: bytes) -> bytes:
    local.sendall(framed(frame))
    while (answer := reader.take()) is None:
        reader.add(local.recv(CHUNK_BYTES))
    return answer


class Fed:
    """Stands for a simulator; `peer` runs in a process of its own."""

    run = "benchmark"
    hello_within_s = DEADLINE_S

    def __init__(self, peer: Peer, batch: int, transport: Transport) -> None:
        self._peer, self._batch, self._transport = peer, batch, transport
        self._resources = ExitStack()
        self.seconds = 0.0
        """The peer's measurements, once it has ended."""

    def connect(self) -> Channel:
        """See `roambus.bridge.backends.castalia.simulators`."""
        endpoint = self._resources.enter_context(Endpoint.private(self._transport))
        connection = listen(endpoint, DEADLINE_S, lambda: None)
        self._resources.callback(connection.close)
        self.start(endpoint.address, endpoint.token)
        return connection

    def start(self, address: str, token: str) -> None:
        """Starts the process that plays the simulator."""
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


def microseconds_a_step(batch: int, transport: Transport) -> float:
    """Of wire and host, for `batch` deliveries to agents that only listen."""
    scenario = static_scenario(NODES, SIDE_M, Conditions(1, SHADOWED, 0))
    fed = Fed(say_steps, batch, transport)
    quiet = replace(scenario, agent_parameters={"rate": "0"})
    Host(quiet, Beacon, CastaliaBackend(quiet, Beacon.messages, fed), TraceWriter()).run()
    return fed.seconds * 1e6


def microseconds_a_round_trip(batch: int, transport: Transport) -> float:
    """Of the transport alone: a socket that gives back what it gets."""
    fed = Fed(say_nothing, batch, transport)
    with Endpoint.private(transport) as endpoint:
        echo = _echo_local if transport == "local" else _echo_zeromq
        with echo(endpoint) as answer:
            fed.start(endpoint.address, endpoint.token)
            for _ in range(STEPS + 2):
                answer()
            fed.end(in_order=True)
    return fed.seconds * 1e6


@contextmanager
def _echo_zeromq(endpoint: Endpoint) -> Iterator[Callable[[], object]]:
    with zmq.Context() as context, context.socket(zmq.ROUTER) as router:
        router.bind(endpoint.address)
        yield lambda: router.send_multipart(router.recv_multipart())


@contextmanager
def _echo_local(endpoint: Endpoint) -> Iterator[Callable[[], object]]:
    peers: list[socket.socket] = []
    reader = FrameReader(MAX_FRAME_BYTES)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(endpoint.path)
        listener.listen()

        def answer() -> None:
            if not peers:
                peers.append(listener.accept()[0])
            while (frame := reader.take()) is None:
                reader.add(peers[0].recv(CHUNK_BYTES))
            peers[0].sendall(framed(frame))

        yield answer
        for peer in peers:
            peer.close()


def measure_steps() -> None:
    """Prints the table of times by the number of deliveries in a Step."""
    print("| deliveries in a Step | bare round trip, us: ZeroMQ | local | Step, us: ZeroMQ | local | their ratio |")
    print("|---|---|---|---|---|---|")
    for batch in BATCHES:
        with core_of_our_own():
            bare = [microseconds_a_round_trip(batch, transport) for transport in SCHEMES]
            whole = [microseconds_a_step(batch, transport) for transport in SCHEMES]
        cells = [f"{value:.1f}" for value in (*bare, *whole)] + [f"{whole[0] / whole[1]:.2f}"]
        print(f"| {batch} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    measure_steps()
