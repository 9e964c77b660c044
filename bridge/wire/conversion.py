"""Converts between `wire.proto` messages and the classes of the back-ends' interface, without sockets.

A simulator can be wrong, of another version, or a stranger, so all its messages are checked here by the rules in
docs/reference/bridge.md; a ProtocolError names the rule and the value. A wire Step can cover a window as long as the
processing delay; `StepReader` splits it by instants.
"""

from __future__ import annotations

import hmac
from collections.abc import Collection, Iterable, Iterator, Mapping, MutableMapping, Sequence
from hashlib import sha256
from itertools import chain, repeat
from math import isfinite
from operator import itemgetter
from pathlib import Path
from traceback import format_exception
from types import MappingProxyType
from typing import TypeVar

from google.protobuf.message import DecodeError as NoMessageError

from roambus.bridge.backend import (
    NO_ENERGY,
    Course,
    Delivery,
    Failure,
    Framing,
    Hello,
    Move,
    NodeInfo,
    Step,
    Totals,
    Transmission,
    make_deliveries,
)
from roambus.bridge.mobility.given_way import MOVEMENT_FILE
from roambus.bridge.mobility.registry import MANAGER
from roambus.bridge.mobility.steered import Steered
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.radio import MOST_BYTES
from roambus.bridge.system.errors import AgentError, ProtocolError
from roambus.bridge.wire import wire_pb2 as pb
from roambus.python_protocol.messages.message import Message, MessageSet
from roambus.python_protocol.messages.octets import DecodeError
from roambus.python_protocol.roles import BROADCAST, NodeId
from roambus.python_protocol.simtime import SimTime, format_time

PROTOCOL_VERSION = 3
SCHEMA_HASH = sha256(Path(__file__).with_name("wire.proto").read_bytes()).digest()
TIME_RESOLUTION = -9
"""The exponent of the simulator's time step, 10^-9 s."""
MAX_FRAME_BYTES = 64 * 2**20
"""The longest valid message, on the socket or in a record."""
SLOWEST_CLOCK, FASTEST_CLOCK = 0.5, 2.0
REMEMBERED = 1024
"""Messages remembered by bytes; more are rarely under way."""
NOTHING_SENT: Mapping[bytes, Message] = MappingProxyType({})

_receiver = itemgetter(0)
Timed = TypeVar("Timed", pb.Arrival, pb.Failure)


def parse(frame: bytes, *expected: str) -> pb.FromSimulator:
    """Return the message in `frame`; raise ProtocolError unless expected ("step", ...)."""
    if len(frame) > MAX_FRAME_BYTES:
        raise ProtocolError(f"a message of {len(frame)} bytes: at most {MAX_FRAME_BYTES} are allowed")
    try:
        message = pb.FromSimulator.FromString(frame)
    except NoMessageError:
        raise ProtocolError(f"{len(frame)} bytes that are not a message of the bridge's protocol") from None
    kind = message.WhichOneof("body")
    if kind not in expected:
        raise ProtocolError(f"{kind or 'an empty message'} came, where {' or '.join(expected)} belongs")
    return message


def read_hello(message: pb.Hello, scenario: Scenario, token: str) -> Hello:
    """Read the awaited simulator's Hello for this scenario."""
    _check_peer(message, token)
    for what, theirs, ours in (
        ("seed", message.seed, scenario.seed),
        ("time limit", format_time(message.time_limit), format_time(scenario.time_limit)),
        ("processing delay", format_time(message.processing_delay), format_time(scenario.processing_delay)),
        ("number of nodes", len(message.nodes), len(scenario.nodes)),
    ):
        if theirs != ours:
            raise ProtocolError(f"Hello: {what} {theirs}, the run's ini has {ours}: start it with this run's ini")
    nodes = [_read_node(node, info) for node, info in enumerate(message.nodes)]
    own = (node for node, settings in enumerate(scenario.nodes) if isinstance(settings.mobility, Steered))
    if not message.steers and (node := next(own, None)) is not None:
        key = MANAGER.name.replace("*", str(node))
        raise ProtocolError(f"Hello: {message.simulator} does not move nodes by their agents, as {key} wants it")
    if max(message.most_bytes, message.header_bytes) > MOST_BYTES:
        limits = f"messages of {message.most_bytes} bytes, and headers of {message.header_bytes}"
        raise ProtocolError(f"Hello: {limits}: at most {MOST_BYTES} are possible")
    framing = Framing(message.most_bytes, message.header_bytes, message.queue, message.bits_per_second)
    return Hello(
        message.simulator,
        nodes,
        message.time_limit,
        message.processing_delay,
        framing=framing if message.most_bytes else None,
    )


def _check_peer(message: pb.Hello, token: str) -> None:
    """Check the version first: it can change all other meanings."""
    if message.protocol_version != PROTOCOL_VERSION:
        raise ProtocolError(
            f"Hello: version {message.protocol_version} of the protocol, this host speaks {PROTOCOL_VERSION}: "
            f"build omnet/ of the roambus that you run"
        )
    if message.schema_hash != SCHEMA_HASH:
        raise ProtocolError("Hello: made from another wire.proto: build omnet/ of the roambus that you run")
    if not hmac.compare_digest(message.token.encode(), token.encode()):
        raise ProtocolError("Hello: not this run's token: the session file is another run's")
    if message.time_resolution != TIME_RESOLUTION:
        raise ProtocolError(
            f"Hello: time steps of 10^{message.time_resolution} s: set simtime-resolution = ns in the run's ini"
        )


def _read_node(node: NodeId, info: pb.Node) -> NodeInfo:
    """Read a node; a clock skew beyond a factor of two must be a mistaken rate."""
    if info.start < 0:
        raise ProtocolError(f"Hello: node {node} boots at {format_time(info.start)}, before the run")
    if not SLOWEST_CLOCK <= info.clock_rate <= FASTEST_CLOCK:
        raise ProtocolError(
            f"Hello: node {node} has clock rate {info.clock_rate}, not between {SLOWEST_CLOCK} and {FASTEST_CLOCK}"
        )
    return NodeInfo(info.start, info.clock_rate)


class StepReader:
    """Reads the Steps of one run, each checked against the last."""

    def __init__(  # what is known of a run before its first Step
        self,
        hello: Hello,
        messages: MessageSet,
        sent: Mapping[bytes, Message] = NOTHING_SENT,
        *,
        moves: bool = False,
        steered: Collection[NodeId] = (),
    ) -> None:
        """`messages` of the run's agents decode payloads not among those `sent`.

        `moves` are required of all nodes but those `steered`, whose ways are the host's.
        """
        self._nodes = len(hello.nodes)
        self._time_limit = hello.time_limit
        self._delay = hello.processing_delay
        self._messages, self._sent = messages, sent
        self._now: SimTime = 0
        self._earliest: SimTime = 0
        """No event of the next Step is earlier."""
        self._more = False
        self._deliveries = 0
        self._dead: set[NodeId] = set()
        self._insists, self._steered = moves, steered
        self._last_moves: dict[NodeId, SimTime] = {}

    def read(self, message: pb.Step, wake_up: SimTime | None, handled: SimTime = 0) -> list[Step]:
        """Return a Step for each eventful instant, in order; raise ProtocolError before any.

        `wake_up` is the host's last request, `handled` its last handled instant, later than the last Step's if silence
        was promised. The caller inserts wake-ups due up to `message.now`.
        """
        now, more = message.now, message.more
        if now < self._now or (self._more and now > self._now):
            after = "announced more of" if self._more else "was at"
            raise ProtocolError(f"Step at {format_time(now)}: the one before {after} {format_time(self._now)}")
        if now >= self._time_limit:
            raise ProtocolError(f"Step at {format_time(now)}: the time limit is {format_time(self._time_limit)}")
        quiet = max(self._earliest, handled + 1) if handled > self._now else self._earliest
        arrivals = message.arrivals
        arrival = arrivals[0] if len(arrivals) == 1 and not (message.failures or message.deaths) else None
        if arrival is not None and quiet <= arrival.time <= now:
            # Nearly every Step: to sort its one event into instants would take longer than to read it.
            steps = [Step(arrival.time, sorted(self._read_arrival(arrival), key=_receiver), [], more)]
        else:
            steps = self._read_window(message, quiet, handled)
        self._check_window(now, more, steps, wake_up)
        if message.moves or self._insists:
            # First, for the events of the window happen at these places.
            before = max(handled, self._now)
            steps.insert(0, Step(before, more=self._more, moves=self._read_way(message.moves)))
        self._now, self._more = now, more
        self._earliest = now + (self._delay > 0 and not more)
        return steps

    def _read_window(self, message: pb.Step, quiet: SimTime, handled: SimTime) -> list[Step]:
        now = message.now
        deliveries = {
            instant: sorted(chain.from_iterable(map(self._read_arrival, arrivals)), key=_receiver)
            for instant, arrivals in _by_instant(message.arrivals, quiet, now).items()
        }
        # A refusal can come at the instant that the host has handled, if that has no processing delay before it.
        quiet = max(self._earliest, handled + (self._delay > 0)) if handled > self._now else self._earliest
        failures = {
            instant: list(map(self._read_failure, failed))
            for instant, failed in _by_instant(message.failures, quiet, now).items()
        }
        deaths = {instant: self._new_dead(_without_energy(failed)) for instant, failed in failures.items()}
        if message.deaths:
            first = min({*deliveries, *failures}, default=now)
            deaths[first] = (*self._new_dead(message.deaths), *deaths.get(first, ()))
        return [
            Step(instant, deliveries.get(instant, []), failures.get(instant, []), message.more, deaths.get(instant, ()))
            for instant in sorted({*deliveries, *failures, *deaths})
        ]

    def _new_dead(self, nodes: Iterable[NodeId]) -> tuple[NodeId, ...]:
        """Return the nodes that were alive; raise ProtocolError if there is no such node."""
        new = tuple(dict.fromkeys(node for node in nodes if node not in self._dead))
        if new and max(new) >= self._nodes:
            raise ProtocolError(f"Step: node {max(new)} has died, and the nodes are 0 to {self._nodes - 1}")
        self._dead.update(new)
        return new

    def _read_way(self, moves: Iterable[pb.Move]) -> list[Move]:
        read = [self._read_move(move) for move in moves]
        for move in read:
            if move.time < self._last_moves.setdefault(move.node, move.time):
                raise ProtocolError(f"Step: node {move.node} goes back to {format_time(move.time)}")
            self._last_moves[move.node] = move.time
        if self._insists and (untold := {*range(self._nodes)} - {*self._last_moves, *self._steered}):
            raise ProtocolError(
                f"Step: the simulator does not tell where node {min(untold)} is, and the agent needs positions: "
                f"give {MOVEMENT_FILE.name}, or use --backend radio"
            )
        self._insists = False
        return read

    def finish(self, message: pb.Finished, sends: int) -> Totals:
        """Return the totals, checked against the Steps and the host's `sends` before the limit."""
        if self._more:
            raise ProtocolError(f"Finished, but the Step before announced more of {format_time(self._now)}")
        self._check_totals(message, sends)
        counts: dict[str, Sequence[int]] = {count.name: count.values[:] for count in message.counts}
        return Totals(counts, message.energy_mj[:], [self._read_move(move) for move in message.moves])

    def _check_totals(self, message: pb.Finished, sends: int) -> None:
        for what, theirs, ours in (
            ("sends", message.sends, sends),
            ("deliveries", message.deliveries, self._deliveries),
        ):
            if theirs != ours:
                raise ProtocolError(f"Finished: the simulator counts {theirs} {what}, the host {ours}")
        lengths = {count.name: len(count.values) for count in message.counts}
        if message.energy_mj:
            lengths["energy_mj"] = len(message.energy_mj)
        for name, length in lengths.items():
            if length != self._nodes:
                raise ProtocolError(f"Finished: {name} has {length} values for {self._nodes} nodes")

    def _check_window(self, now: SimTime, more: bool, steps: Sequence[Step], wake_up: SimTime | None) -> None:
        """Raise ProtocolError if the Step leaves the window of its first event or wake-up."""
        opened = now if wake_up is None else min(now, wake_up)
        if steps and steps[0].now < opened:
            opened = steps[0].now
        if now - opened >= (self._delay or 1):
            late = f"is too late for the event at {format_time(opened)}"
            raise ProtocolError(f"Step at {format_time(now)}: {late}")
        if more and [step.now for step in steps] != [now]:
            raise ProtocolError(f"Step at {format_time(now)}: it announces more, but has events of other instants")

    def _read_arrival(self, arrival: pb.Arrival) -> list[Delivery]:
        # The hot path of a run with a simulator: nothing for each receiver but its Delivery. So the levels are summed
        # up, for a sum is finite only if all of its terms are, and the message is decoded once for all who hear it.
        receivers, rssi, lqi = arrival.receivers[:], arrival.rssi_dbm[:], arrival.lqi_db[:]
        if not len(receivers) == len(rssi) == len(lqi) > 0:
            lengths = f"{len(receivers)} receivers, {len(rssi)} RSSI and {len(lqi)} LQI"
            raise ProtocolError(f"{_arrival(arrival)} has {lengths}")
        if max(receivers) >= self._nodes or arrival.sender >= self._nodes:
            raise ProtocolError(f"{_arrival(arrival)} at {max(receivers)}: the nodes are 0 to {self._nodes - 1}")
        if not isfinite(sum(rssi) + sum(lqi)):
            raise ProtocolError(f"{_arrival(arrival)} has a level that is not finite")
        message = self._decode(arrival.payload, arrival)
        self._deliveries += len(receivers)
        return make_deliveries(zip(receivers, repeat(arrival.sender), repeat(message), rssi, lqi))

    def _read_failure(self, failure: pb.Failure) -> Failure:
        if failure.node >= self._nodes or self._nodes <= failure.destination != BROADCAST:
            raise ProtocolError(
                f"Failure of node {failure.node} to {failure.destination}: the nodes are 0 to {self._nodes - 1}"
            )
        return Failure(failure.node, failure.destination, self._decode(failure.payload, failure), failure.reason)

    def _decode(self, payload: bytes, event: pb.Arrival | pb.Failure) -> Message:
        """Decode a payload; the agents sent it, so they can read it."""
        if (message := self._sent.get(payload)) is not None:
            return message
        try:
            return self._messages.decode(payload)
        except DecodeError as error:
            place = f"{type(event).__name__} at {format_time(event.time)}"
            raise ProtocolError(f"{place}: its payload is not a message of the agent: {error}") from None

    def _read_move(self, move: pb.Move) -> Move:
        if move.node >= self._nodes or not isfinite(move.x + move.y):
            raise ProtocolError(f"node {move.node} is at ({move.x}, {move.y})")
        if move.node in self._steered:
            raise ProtocolError(f"the simulator moves node {move.node}, which its agent moves")
        return Move(move.time, move.node, move.x, move.y)


def _without_energy(failures: Iterable[Failure]) -> Iterator[NodeId]:
    """Return the nodes whose batteries are empty by the reason of a refusal: Castalia tells a death only so."""
    return (failure.node for failure in failures if failure.reason == NO_ENERGY)


def _by_instant(events: Iterable[Timed], last: SimTime, now: SimTime) -> dict[SimTime, list[Timed]]:
    """Group the events of a Step at `now`; raise ProtocolError if out of order."""
    read: dict[SimTime, list[Timed]] = {}
    for event in events:
        if not last <= event.time <= now:
            raise ProtocolError(
                f"Step at {format_time(now)}: an event at {format_time(event.time)} comes after {format_time(last)}"
            )
        last = event.time
        read.setdefault(last, []).append(event)
    return read


def _arrival(arrival: pb.Arrival) -> str:
    return f"Arrival at {format_time(arrival.time)} from node {arrival.sender}"


def write_hello(hello: Hello, seed: int, token: str) -> pb.FromSimulator:
    """Return a Hello's bytes for `read_hello`."""
    return pb.FromSimulator(
        hello=pb.Hello(
            protocol_version=PROTOCOL_VERSION,
            schema_hash=SCHEMA_HASH,
            token=token,
            simulator=hello.simulator,
            seed=seed,
            time_resolution=TIME_RESOLUTION,
            time_limit=hello.time_limit,
            processing_delay=hello.processing_delay,
            nodes=[pb.Node(start=node.start, clock_rate=node.clock_rate) for node in hello.nodes],
            steers=hello.steer is not None,
            **(hello.framing._asdict() if hello.framing else {}),
        )
    )


def write_step(step: Step) -> pb.FromSimulator:
    """Return a Step's bytes for `StepReader.read`."""
    # Deliveries of one packet are one Arrival. Those of several are one each, for together they would be sorted again.
    packets = {(delivery.sender, id(delivery.message)) for delivery in step.deliveries}
    together = [step.deliveries] if len(packets) == 1 else [[delivery] for delivery in step.deliveries]
    arrivals = [_write_arrival(step.now, deliveries) for deliveries in together]
    failures = [
        pb.Failure(time=step.now, node=node, destination=destination, payload=message.encode(), reason=reason)
        for node, destination, message, reason in step.failures
    ]
    return pb.FromSimulator(
        step=pb.Step(
            now=step.now,
            more=step.more,
            arrivals=arrivals,
            failures=failures,
            deaths=step.deaths,
            moves=map(_write_move, step.moves),
        )
    )


def _write_arrival(now: SimTime, deliveries: Sequence[Delivery]) -> pb.Arrival:
    receivers, senders, messages, rssi, lqi = zip(*deliveries, strict=True)
    return pb.Arrival(
        time=now,
        sender=senders[0],
        payload=messages[0].encode(),
        receivers=receivers,
        rssi_dbm=rssi,
        lqi_db=lqi,
    )


def _write_move(move: Move) -> pb.Move:
    time, node, x, y = move
    return pb.Move(time=time, node=node, x=x, y=y)


def write_finished(totals: Totals, sends: int, deliveries: int) -> pb.FromSimulator:
    """Return the bytes of a run's end for `StepReader.finish`."""
    return pb.FromSimulator(
        finished=pb.Finished(
            sends=sends,
            deliveries=deliveries,
            counts=[pb.Count(name=name, values=values) for name, values in totals.counts.items()],
            energy_mj=totals.energy_mj,
            moves=map(_write_move, totals.moves),
        )
    )


def write_reply(
    transmissions: Iterable[Transmission],
    wake_up: SimTime | None,
    notes: Iterable[pb.Note] = (),
    sent: MutableMapping[bytes, Message] | None = None,
    courses: Iterable[Course] = (),
) -> pb.ToSimulator:
    """Fill in the host's answer to a Step in place; add its messages to `sent`.

    protobuf copies a nested message by serializing it.
    """
    answer = pb.ToSimulator()
    reply = answer.reply
    reply.SetInParent()  # a Reply of nothing is one, too
    if wake_up is not None:
        reply.wake_up = wake_up
    for node, at, destination, message, _ in transmissions:
        payload = message.encode()
        reply.sends.add(time=at, node=node, destination=destination, payload=payload)
        if sent is not None:
            sent[payload] = message
    reply.notes.extend(notes)
    for course in courses:
        reply.courses.add(
            time=course.at,
            node=course.node,
            x=course.x,
            y=course.y,
            until=course.until,
            to_x=course.to_x,
            to_y=course.to_y,
        )
    return answer


def write_failed(error: BaseException) -> pb.Failed:
    """Return this side's failure, with node, time and event if an agent raised."""
    failed = pb.Failed(reason=str(error) or type(error).__name__, traceback="".join(format_exception(error)))
    if isinstance(error, AgentError):
        failed.node, failed.time, failed.event = error.node, error.time, error.event
    return failed


class HostSide:
    """Writes the host's messages: a Welcome, then a Reply per Step."""

    def __init__(
        self, time_limit: SimTime, *, batching: bool = True, lookahead: bool = False, moves: bool = False
    ) -> None:
        self._time_limit = time_limit
        self._batching, self._lookahead, self._moves = batching, lookahead, moves
        self._welcomed = False
        self.sends = 0
        """Sends that take effect before the time limit."""
        self.sent: dict[bytes, Message] = {}
        """Recent messages: arrivals are among them and need no decoding."""

    def answer(
        self,
        transmissions: Sequence[Transmission],
        wake_up: SimTime | None,
        notes: Iterable[pb.Note] = (),
        courses: Iterable[Course] = (),
    ) -> pb.ToSimulator:
        """Answer Hello, then each Step; `wake_up` is None after an announced `more`."""
        if not self._welcomed:
            self._welcomed = True
            welcome = pb.Welcome(wake_up=wake_up, batching=self._batching, lookahead=self._lookahead, moves=self._moves)
            return pb.ToSimulator(welcome=welcome)
        self.sends += sum(transmission.at < self._time_limit for transmission in transmissions)
        if len(self.sent) > REMEMBERED:
            self.sent.clear()
        return write_reply(transmissions, wake_up, notes, self.sent, courses)
