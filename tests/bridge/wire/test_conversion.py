"""What a simulator says is read as it was written, and refused with a reason if it breaks a rule."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.bridge.backend import (
    NO_ENERGY,
    Course,
    Delivery,
    Failure,
    Hello,
    Move,
    NodeInfo,
    Step,
    Totals,
    Transmission,
)
from roambus.bridge.mobility.steered import Steered
from roambus.bridge.scenario.nodes import NodeSettings
from roambus.bridge.system.errors import ProtocolError
from roambus.bridge.wire import conversion as wire
from roambus.bridge.wire import wire_pb2 as pb
from roambus.python_protocol.messages.message import Message, MessageSet
from roambus.python_protocol.roles import BROADCAST, Role
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime
from tests.support.scenarios import scenario

NODES = 5
LIMIT = 10 * SECOND
TOKEN = "0123456789abcdef" * 2
SCENARIO = scenario([Role.NONE] * NODES, time_limit=LIMIT, seed=7)


class Word(Message, tag=1):
    text: str


MESSAGES = MessageSet([Word])
nodes = st.integers(0, NODES - 1)
levels = st.floats(-200, 200)
words = st.builds(Word, st.text(max_size=20))
times = st.integers(0, LIMIT - 1)
places = st.floats(allow_nan=False, allow_infinity=False, width=32)
broadcasts = st.builds(
    lambda sender, word, heard: [Delivery(receiver, sender, word, *lev) for receiver, lev in sorted(heard.items())],
    nodes,
    words,
    st.dictionaries(nodes, st.tuples(levels, levels), min_size=1),
)
mixtures = st.lists(st.builds(Delivery, nodes, nodes, words, levels, levels)).map(
    lambda deliveries: sorted(deliveries, key=lambda delivery: delivery.receiver)
)
failures = st.lists(st.builds(Failure, nodes, nodes | st.just(BROADCAST), words, st.text()))


def greeting(delay: SimTime = 0) -> Hello:
    return Hello("test", [NodeInfo(0)] * NODES, LIMIT, delay)


def reader(delay: SimTime = 0) -> wire.StepReader:
    return wire.StepReader(greeting(delay), MESSAGES)


def arrival(time: SimTime, *receivers: int, sender: int = 0, text: str = "x") -> pb.Arrival:
    heard = list(receivers) or [1]
    payload = Word(text).encode()
    levels_ = [1.0] * len(heard)
    return pb.Arrival(time=time, sender=sender, payload=payload, receivers=heard, rssi_dbm=levels_, lqi_db=levels_)


def failure(time: SimTime, node: int = 0, destination: int = BROADCAST) -> pb.Failure:
    return pb.Failure(time=time, node=node, destination=destination, payload=Word("x").encode(), reason="full")


def refused(
    message: str, step: pb.Step, *, after: Sequence[pb.Step] = (), wake: int | None = None, delay: int = 0
) -> None:
    """The Step is refused, though those before it were not."""
    steps = reader(delay)
    for earlier in after:
        steps.read(earlier, None)
    with pytest.raises(ProtocolError, match=message):
        steps.read(step, wake)


@given(times, broadcasts | mixtures, failures, st.booleans())
def test_a_step_is_read_as_it_was_written(
    now: SimTime, deliveries: list[Delivery], failed: list[Failure], more: bool
) -> None:
    """Through its bytes, whatever it holds; a Step of nothing is none."""
    step = Step(now, deliveries, failed, more and bool(deliveries or failed))
    message = wire.parse(wire.write_step(step).SerializeToString(), "step")
    assert reader().read(message.step, None) == ([step] if deliveries or failed else [])


def test_a_death_is_read_once_as_it_was_written() -> None:
    """With events or alone; whoever is refused for lack of energy is dead, too."""
    step_reader = reader()
    (alone,) = step_reader.read(wire.write_step(Step(5, deaths=[3])).step, None)
    assert alone == Step(5, [], [], deaths=(3,))
    empty = Failure(1, BROADCAST, Word("x"), NO_ENERGY)
    (failed,) = step_reader.read(wire.write_step(Step(6, failures=[empty], deaths=[3, 2])).step, None)
    assert failed.deaths == (2, 1)
    (again,) = step_reader.read(wire.write_step(Step(7, failures=[empty])).step, None)
    assert (again.failures, again.deaths) == ([empty], ())
    refused("node 5 has died, and the nodes are 0 to 4", pb.Step(now=5, deaths=[5]))


@given(broadcasts)
def test_a_broadcast_travels_once(deliveries: list[Delivery]) -> None:
    """Its payload is not repeated for each receiver."""
    assert len(wire.write_step(Step(0, deliveries)).step.arrivals) == 1


@given(st.lists(st.builds(NodeInfo, times, st.floats(0.5, 2)), min_size=NODES, max_size=NODES), st.text())
def test_a_hello_is_read_as_it_was_written(infos: list[NodeInfo], simulator: str) -> None:
    """Through its bytes."""
    hello = Hello(simulator, infos, LIMIT)
    message = wire.parse(wire.write_hello(hello, 7, TOKEN).SerializeToString(), "hello")
    assert wire.read_hello(message.hello, SCENARIO, TOKEN) == hello


@given(
    st.dictionaries(st.text(), st.lists(st.integers(0, 2**62), min_size=NODES, max_size=NODES)),
    st.just([]) | st.lists(places, min_size=NODES, max_size=NODES),
    st.lists(st.builds(Move, times, nodes, places, places)),
)
def test_totals_are_read_as_they_were_written(
    counts: dict[str, Sequence[int]], energy: list[float], moves: list[Move]
) -> None:
    """Through their bytes."""
    totals = Totals(counts, energy, moves)
    message = wire.parse(wire.write_finished(totals, 3, 0).SerializeToString(), "finished")
    assert reader().finish(message.finished, 3) == totals


def test_a_reply_holds_each_send_and_the_wake_up() -> None:
    """In their order; a wake-up of 0 is one."""
    sends = [Transmission(1, 5, BROADCAST, Word("a"), 3), Transmission(2, 4, 3, Word("b"), 3)]
    reply = wire.write_reply(sends, 0).reply
    assert [(send.time, send.node, send.destination) for send in reply.sends] == [(5, 1, BROADCAST), (4, 2, 3)]
    assert [MESSAGES.decode(send.payload) for send in reply.sends] == [Word("a"), Word("b")]
    assert reply.HasField("wake_up")
    assert not wire.write_reply([], None).reply.HasField("wake_up")


def test_a_reply_holds_each_course() -> None:
    """In their order, beside what is sent."""
    courses = [Course(2, 5, 0.1, 2.5, 9, 3.0, 4.0), Course(1, 7, 1.0, 1.0, 7, 1.0, 1.0)]
    side = wire.HostSide(LIMIT)
    side.answer((), 0)
    told = side.answer([Transmission(1, 5, BROADCAST, Word("a"), 3)], 3, courses=courses).reply
    assert [Course(way.node, way.time, way.x, way.y, way.until, way.to_x, way.to_y) for way in told.courses] == courses
    assert len(told.sends) == 1


def test_a_simulator_that_moves_no_nodes_is_refused_if_agents_do() -> None:
    """The message names the key; one that does is accepted."""
    moving = replace(SCENARIO, nodes=(*SCENARIO.nodes[1:], NodeSettings(mobility=Steered())))
    with pytest.raises(ProtocolError, match=r"test does not move .* as SN\.node\[4\]\.MobilityManagerName wants it"):
        wire.read_hello(hello(), moving, TOKEN)
    message = wire.write_hello(replace(greeting(), steer=lambda _: None), 7, TOKEN).hello
    assert message.steers
    assert len(wire.read_hello(message, moving, TOKEN).nodes) == NODES


def test_a_node_that_its_agent_moves_has_no_moves_of_the_simulator() -> None:
    """Neither need they come, nor can they."""
    places = [pb.Move(node=node) for node in range(1, NODES)]
    steps = wire.StepReader(greeting(), MESSAGES, moves=True, steered={0})
    first, _ = steps.read(pb.Step(now=7, arrivals=[arrival(7)], moves=places), None)
    assert [move.node for move in first.moves] == [1, 2, 3, 4]
    with pytest.raises(ProtocolError, match="the simulator moves node 0, which its agent moves"):
        steps.read(pb.Step(now=9, moves=[pb.Move(time=9)]), None)
    with pytest.raises(ProtocolError, match="the simulator moves node 0, which its agent moves"):
        steps.finish(pb.Finished(deliveries=1, moves=[pb.Move()]), 0)


def test_what_was_sent_arrives_as_it_was_sent() -> None:
    """It is known by its bytes, and not decoded again; what the host has not sent, or long ago, is decoded."""
    side, word = wire.HostSide(LIMIT), Word("x")
    steps = wire.StepReader(greeting(), MESSAGES, side.sent)
    side.answer((), 0)
    for number in range(wire.REMEMBERED + 1):
        side.answer([Transmission(0, 0, BROADCAST, Word(str(number)), 3)], None)
    side.answer([Transmission(0, 0, BROADCAST, word, 3)], None)
    known, old = steps.read(pb.Step(now=1, arrivals=[arrival(1, 1), arrival(1, 2, text="0")]), None)[0].deliveries
    assert known.message is word
    assert old.message == Word("0")
    assert list(side.sent.values()) == [word]


def test_a_window_is_read_as_its_instants() -> None:
    """In order of time; at one instant by receiver, then arrival; failures with the arrivals of their instant."""
    message = pb.Step(
        now=9,
        arrivals=[arrival(5, 3, 1, text="a"), arrival(5, 1, 2, sender=4, text="b"), arrival(8, 2)],
        failures=[failure(6), failure(8)],
    )
    steps = reader(delay=5).read(message, None)
    assert [step.now for step in steps] == [5, 6, 8]
    heard = [(delivery.receiver, delivery.message) for delivery in steps[0].deliveries]
    assert heard == [(1, Word("a")), (1, Word("b")), (2, Word("b")), (3, Word("a"))]
    assert [(len(step.deliveries), len(step.failures)) for step in steps] == [(4, 0), (0, 1), (1, 1)]


def test_moves_come_before_what_happens_on_the_way() -> None:
    """In a Step of their own at the last instant; nodes that go back, or none, are refused."""
    places = [pb.Move(time=SECOND * at, node=node, x=at, y=3) for at in (0, 4) for node in range(NODES)]
    steps = wire.StepReader(greeting(), MESSAGES, moves=True)
    first, second = steps.read(pb.Step(now=7, arrivals=[arrival(7)], moves=places), None)
    assert (first.now, first.deliveries, second.now, second.moves) == (0, (), 7, ())
    assert first.moves == [(SECOND * at, node, at, 3) for at in (0, 4) for node in range(NODES)]
    (again,) = reader().read(pb.Step.FromString(wire.write_step(first).step.SerializeToString()), None)
    assert again == first
    assert steps.read(pb.Step(now=9), None) == []
    with pytest.raises(ProtocolError, match="node 1 goes back to 2s"):
        steps.read(pb.Step(now=10, moves=[pb.Move(time=2 * SECOND, node=1)]), None)
    with pytest.raises(ProtocolError, match="does not tell where node 1 is"):
        wire.StepReader(greeting(), MESSAGES, moves=True).read(pb.Step(now=0, moves=places[:1]), None)


def test_an_instant_may_come_in_parts() -> None:
    """All but the last announce more; with a processing delay, too."""
    for delay in (0, MILLISECOND):
        steps = reader(delay)
        (first,) = steps.read(pb.Step(now=5, more=True, arrivals=[arrival(5)]), 5)
        (last,) = steps.read(pb.Step(now=5, failures=[failure(5)]), 5)
        assert (first.more, last.more) == (True, False)


@given(st.binary(max_size=200))
def test_bytes_that_are_no_message_are_refused(frame: bytes) -> None:
    """With a reason, whatever they are: a message comes out, or a ProtocolError."""
    try:
        message = wire.parse(frame, "step")
    except ProtocolError:
        return
    assert message.HasField("step")


def test_what_does_not_belong_there_is_refused() -> None:
    """A message of another phase, an empty one, and one that is too long."""
    with pytest.raises(ProtocolError, match="finished came, where step or failed belongs"):
        wire.parse(pb.FromSimulator(finished=pb.Finished()).SerializeToString(), "step", "failed")
    with pytest.raises(ProtocolError, match="an empty message came"):
        wire.parse(b"", "hello")
    with pytest.raises(ProtocolError, match="at most 67108864"):
        wire.parse(bytes(2**26 + 1), "hello")


def hello(**changes: object) -> pb.Hello:
    message = wire.write_hello(greeting(), 7, TOKEN).hello
    for name, value in changes.items():
        setattr(message, name, value)
    return message


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (hello(most_bytes=65536), "messages of 65536 bytes, .*at most 65535 are possible"),
        (hello(header_bytes=2**31), "headers of 2147483648: at most 65535"),
        (hello(protocol_version=1), "version 1 .* speaks 3: build omnet/"),
        (hello(schema_hash=bytes(32)), "another wire.proto: build omnet/"),
        (hello(token="f" * 32), "not this run's token"),
        (hello(token=TOKEN[1:] + "é"), "not this run's token"),
        (hello(time_resolution=-12), r"10\^-12 s: set simtime-resolution"),
        (hello(seed=8), "seed 8, the run's ini has 7"),
        (hello(time_limit=SECOND), "time limit 1s, the run's ini has 10s"),
        (hello(processing_delay=1), "processing delay 1ns, the run's ini has 0s"),
    ],
)
def test_another_runs_simulator_is_refused(message: pb.Hello, reason: str) -> None:
    """By what it says in its Hello."""
    with pytest.raises(ProtocolError, match=reason):
        wire.read_hello(message, SCENARIO, TOKEN)


@pytest.mark.parametrize(
    ("infos", "reason"),
    [
        ([NodeInfo(0)] * (NODES + 1), "number of nodes 6, the run's ini has 5"),
        ([NodeInfo(0)] * (NODES - 1) + [NodeInfo(-1)], "node 4 boots at -1ns"),
        ([NodeInfo(0, 0.4)] * NODES, "node 0 has clock rate 0.4"),
        ([NodeInfo(0, math.nan)] * NODES, "node 0 has clock rate nan"),
    ],
)
def test_nodes_that_cannot_be_are_refused(infos: list[NodeInfo], reason: str) -> None:
    """Too many, booted before the run, or with a clock that no node has."""
    message = wire.write_hello(Hello("test", infos, LIMIT), 7, TOKEN).hello
    with pytest.raises(ProtocolError, match=reason):
        wire.read_hello(message, SCENARIO, TOKEN)


def test_time_never_runs_backwards() -> None:
    """Neither from Step to Step, nor to the events of an instant that is over, nor to the time limit and beyond."""
    before = [pb.Step(now=20, arrivals=[arrival(20)])]
    refused("Step at 19ns: the one before was at 20ns", pb.Step(now=19), after=before)
    refused("Step at -1ns", pb.Step(now=-1))
    refused("the time limit is 10s", pb.Step(now=LIMIT))
    refused("an event at 20ns comes after 21ns", pb.Step(now=22, arrivals=[arrival(20)]), after=before, delay=9)
    refused("an event at 21ns comes after 22ns", pb.Step(now=22, arrivals=[arrival(22), arrival(21)]), delay=9)
    refused("an event at 21ns comes after 22ns", pb.Step(now=22, failures=[failure(22), failure(21)]), delay=9)
    refused("Step at 22ns: an event at 23ns", pb.Step(now=22, failures=[failure(23)]), delay=9)


def test_the_wake_up_is_never_overshot() -> None:
    """Without processing delay not at all, with one by less than it, and by no event that was kept back."""
    refused("too late .* at 5ns", pb.Step(now=6), wake=5)
    refused("too late .* at 5ns", pb.Step(now=9), wake=5, delay=4)
    refused("too late .* at 3ns", pb.Step(now=8, arrivals=[arrival(3)]), wake=6, delay=5)
    refused("too late .* at 3ns", pb.Step(now=4, arrivals=[arrival(3)]))
    assert reader(delay=4).read(pb.Step(now=8), 5) == []


def test_announced_parts_must_come() -> None:
    """Of the same instant, before anything else, and after something of it."""
    part = pb.Step(now=5, more=True, arrivals=[arrival(5)])
    refused("Step at 6ns: the one before announced more of 5ns", pb.Step(now=6), after=[part])
    refused("it announces more, but", pb.Step(now=5, more=True))
    refused("it announces more, but", pb.Step(now=5, more=True, arrivals=[arrival(4)]), delay=3)
    steps = reader()
    steps.read(part, None)
    with pytest.raises(ProtocolError, match="announced more of 5ns"):
        steps.finish(pb.Finished(deliveries=1), 0)


def broken(change: Callable[[pb.Arrival], object]) -> pb.Step:
    step = pb.Step(now=5, arrivals=[arrival(5, 1, 2)])
    change(step.arrivals[0])
    return step


def test_arrivals_that_cannot_be_are_refused() -> None:
    """Lists that do not fit each other, nodes that are not there, levels that are no numbers, foreign payloads."""
    refused("2 receivers, 3 RSSI and 2 LQI", broken(lambda sent: sent.rssi_dbm.append(1)))
    refused("0 receivers, 0 RSSI and 0 LQI", pb.Step(now=5, arrivals=[pb.Arrival(time=5)]))
    refused("from node 0 at 5: the nodes are 0 to 4", pb.Step(now=5, arrivals=[arrival(5, 1, 5)]))
    refused("from node 5 at 1: the nodes are 0 to 4", pb.Step(now=5, arrivals=[arrival(5, sender=5)]))
    for level in (math.nan, math.inf, -math.inf):
        refused("not finite", broken(lambda sent, bad=level: sent.rssi_dbm.__setitem__(0, bad)))  # type: ignore[misc]  # lambda
        refused("not finite", broken(lambda sent, bad=level: sent.lqi_db.__setitem__(1, bad)))  # type: ignore[misc]  # lambda
    foreign = broken(lambda sent: setattr(sent, "payload", b"\x07"))
    refused("Arrival at 5ns: its payload is not a message of the agent: no message has tag 7", foreign)


def test_failures_that_cannot_be_are_refused() -> None:
    """Nodes that are not there; a destination may be everybody."""
    refused("of node 5 to 65535", pb.Step(now=5, failures=[failure(5, node=5)]))
    refused("of node 0 to 5: the nodes are 0 to 4", pb.Step(now=5, failures=[failure(5, destination=5)]))
    assert reader().read(pb.Step(now=5, failures=[failure(5)]), None)


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (pb.Finished(sends=2), "counts 2 sends, the host 3"),
        (pb.Finished(sends=3, deliveries=1), "counts 1 deliveries, the host 0"),
        (pb.Finished(sends=3, counts=[pb.Count(name="lost", values=[1])]), "lost has 1 values for 5 nodes"),
        (pb.Finished(sends=3, energy_mj=[1.0]), "energy_mj has 1 values for 5 nodes"),
        (pb.Finished(sends=3, moves=[pb.Move(node=5)]), "node 5 is at"),
        (pb.Finished(sends=3, moves=[pb.Move(x=math.nan)]), "node 0 is at"),
    ],
)
def test_totals_that_do_not_fit_are_refused(message: pb.Finished, reason: str) -> None:
    """Counts are the host's, with a value a node; places are places."""
    with pytest.raises(ProtocolError, match=reason):
        reader().finish(message, 3)
