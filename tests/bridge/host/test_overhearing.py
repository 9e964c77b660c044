"""Promiscuous listening: unicasts between others reach the agents that ask for them alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.reference_scenarios import MAC
from roambus.bridge.backend import Backend, Hello, Overhearing
from roambus.bridge.backends.ideal.backend import IdealBackend, make_ideal
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.host.event_loop import Host
from roambus.bridge.host.overhearing import events_of
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.ideal import IdealLinks
from roambus.bridge.scenario.mac import Ieee802154Settings, MacSettings
from roambus.bridge.scenario.plans import Fault, FaultKind, LinkChange
from roambus.bridge.system.errors import UserError
from roambus.bridge.trace.parquet import TraceWriter
from roambus.python_protocol.agent import Agent, on, on_timer
from roambus.python_protocol.events import Overheard, SendFailed, Started
from roambus.python_protocol.messages.message import Fragment, Message
from roambus.python_protocol.roles import BROADCAST, NodeId
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime
from tests.bridge.backends.radio.runs import at_places

SENDER, RECEIVER, THIRD = 0, 1, 2
HEARD: list[tuple[NodeId, str]] = []
"""Nodes and their news, in order."""


class Word(Message, tag=1, name="WORD"):
    """A message, and what it says."""

    text: str


class Talker(Agent):
    """The first node sends a unicast to the second after half a second, and a broadcast after a whole one."""

    @on(Started)
    def start(self, _: Started, __: SimTime) -> None:
        """Begin."""
        if self.node == SENDER:
            self.set_timer("unicast", SECOND // 2)
            self.set_timer("broadcast", SECOND)

    @on_timer("unicast")
    def tell_one(self, _: object, __: SimTime) -> None:
        """Send to the second node."""
        self.send(RECEIVER, Word("one"))

    @on_timer("broadcast")
    def tell_all(self, _: object, __: SimTime) -> None:
        """Send to everybody."""
        self.send(BROADCAST, Word("all"))

    @on(Word)
    def receive(self, word: Word, sender: NodeId, __: SimTime) -> None:
        """Keep what came."""
        HEARD.append((self.node, f"got {word.text} from {sender}"))

    @on(SendFailed)
    def fail(self, event: SendFailed, _: SimTime) -> None:
        """Keep what failed."""
        HEARD.append((self.node, event.reason))


class Listener(Talker):
    """Takes what it overhears, too."""

    @on(Overheard)
    def overhear(self, event: Overheard, _: SimTime) -> None:
        """Keep it."""
        assert isinstance(event.message, Word)
        HEARD.append((self.node, f"overheard {event.message.text} from {event.sender} to {event.destination}"))


def over(mac: MacSettings | None, *xs: float, faults: tuple[Fault, ...] = ()) -> tuple[Scenario, Backend]:
    """Nodes at these places over a MAC, or over ideal links of 12 m."""
    scenario = replace(at_places(*xs), time_limit=2 * SECOND, ideal=IdealLinks(range_m=12), faults=faults)
    if mac is None:
        return scenario, make_ideal(scenario)
    scenario = replace(scenario, mac=mac)
    return scenario, RadioBackend(scenario)


def hears(agent: type[Agent], scenario: Scenario, backend: Backend) -> list[tuple[NodeId, str]]:
    """Return the news of all nodes in a run."""
    HEARD.clear()
    Host(scenario, agent, backend, TraceWriter()).run()
    return list(HEARD)


MACS = (None, MAC, Ieee802154Settings())


@pytest.mark.parametrize("mac", MACS)
def test_a_third_node_overhears_a_unicast_and_a_node_out_of_reach_does_not(mac: MacSettings | None) -> None:
    """The receiver and the sender do not; a broadcast is received as ever."""
    everybody = [(node, "got all from 0") for node in (RECEIVER, THIRD)]
    assert hears(Listener, *over(mac, 0, 5, 6, 50)) == [
        (RECEIVER, "got one from 0"),
        (THIRD, "overheard one from 0 to 1"),
        *everybody,
    ]
    assert hears(Talker, *over(mac, 0, 5, 6, 50)) == [(RECEIVER, "got one from 0"), *everybody]


class Attentive(Listener):
    """A node that asks to listen only if it is the third."""

    @property
    def needs_overheard(self) -> bool:
        """The others get nothing."""
        return self.node == THIRD


@pytest.mark.parametrize("mac", MACS)
def test_only_the_nodes_that_ask_overhear(mac: MacSettings | None) -> None:
    """A fourth node, in reach as well, does not."""
    heard = hears(Attentive, *over(mac, 0, 5, 6, 7))
    assert [node for node, news in heard if news.startswith("overheard")] == [THIRD]


def test_a_fragment_between_others_is_no_news() -> None:
    """The driver joins fragments at their receiver alone."""
    whole, piece = (Overhearing(THIRD, SENDER, RECEIVER, it, -50, 50) for it in (Word("one"), Fragment(1, 9, 0, b"")))
    assert list(events_of([whole, piece], ())) == [(THIRD, Overheard(SENDER, RECEIVER, Word("one"), -50, 50))]


@pytest.mark.parametrize("mac", MACS)
def test_a_node_that_is_down_overhears_nothing(mac: MacSettings | None) -> None:
    """It has crashed before."""
    crash = Fault(400 * MILLISECOND, THIRD, FaultKind.CRASH)
    assert THIRD not in dict(hears(Listener, *over(mac, 0, 5, 6, faults=(crash,))))


def test_a_repeated_frame_is_overheard_each_time() -> None:
    """Without an acknowledgement the third node hears four copies, and the sender learns of the failure once."""
    heard = hears(Listener, *over(Ieee802154Settings(), 0, 50, 6))
    assert heard[:5] == [(THIRD, "overheard one from 0 to 1")] * 4 + [(SENDER, "no acknowledgement")]


def test_a_copy_that_is_cut_off_from_a_third_node_is_no_failure() -> None:
    """Only the receiver's link counts."""
    change = LinkChange(SECOND // 2 + 1, SENDER, THIRD, up=False)
    scenario = replace(at_places(0, 5, 6), time_limit=2 * SECOND)
    delayed = IdealLinks(delay=MILLISECOND)
    backend = IdealBackend(3, [(0, 1), (0, 2)], scenario.time_limit, [change], delayed)
    assert hears(Listener, scenario, backend) == [(RECEIVER, "got one from 0"), (RECEIVER, "got all from 0")]


class SilentLinks(IdealBackend):
    """Links that hand up nothing between others, as most back-ends."""

    def open(self) -> Hello:
        """Leave it out."""
        return replace(super().open(), overhear=None)


def test_a_back_end_that_cannot_tell_is_refused_by_name() -> None:
    """Before anything happens; agents that do not ask run there."""
    scenario, _ = over(None, 0, 5, 6)
    with pytest.raises(UserError, match="agent Listener listens to frames between other nodes, which ideal does not"):
        hears(Listener, scenario, SilentLinks(3, [(0, 1)], scenario.time_limit))
    assert hears(Talker, scenario, SilentLinks(3, [(0, 1)], scenario.time_limit))
