"""The core's pages of protocols are complete and true: their tables have what the code has, no more and no less."""

from __future__ import annotations

from roambus.python_protocol.aodv import Aodv
from roambus.python_protocol.baselines import Beacon, Flooding, Gossip, RepairingGossip
from roambus.python_protocol.brokers.broker import BrokerParameters
from roambus.python_protocol.mft import MftPubSub
from roambus.python_protocol.parts.election import ElectionParameters, Heartbeat
from roambus.python_protocol.parts.link import LinkAck, LinkData, LinkParameters
from roambus.python_protocol.parts.unicast import UnicastParameters
from tests.support.documents import DOCS, rows
from tests.support.places import ROOT
from tests.support.protocol_pages import ProtocolPageTests, transcripts_of

PAGES, CODE, TESTS = DOCS / "protocols", ROOT / "python_protocol", ROOT / "tests"


class TestMft(
    ProtocolPageTests,
    page=PAGES / "mft.md",
    tests=TESTS,
    folders=(CODE / "mft",),
    agents={"mft": MftPubSub},
):
    """MFT-PubSub."""


class TestAodv(
    ProtocolPageTests,
    page=PAGES / "aodv.md",
    tests=TESTS,
    folders=(CODE / "aodv",),
    agents={"aodv": Aodv},
):
    """AODV."""


class TestBaselines(
    ProtocolPageTests,
    page=PAGES / "baselines.md",
    tests=TESTS,
    agents={"flooding": Flooding, "gossip": Gossip, "gossip-repair": RepairingGossip, "beacon": Beacon},
):
    """Flooding, gossip, gossip with repair and beacons."""


class TestElectionAndLink(
    ProtocolPageTests,
    page=PAGES / "election-and-link.md",
    tests=TESTS,
    folders=(CODE / "parts", CODE / "brokers"),
    parts={"Leader election": (Heartbeat,)},
    parameters={
        "The broker family": BrokerParameters,
        "Leader election": ElectionParameters,
        "Link layer": LinkParameters,
        "Unicast routing": UnicastParameters,
    },
):
    """The parts that protocols share."""

    def test_messages_of_the_link_layer(self) -> None:
        """A data frame has the type of its payload."""
        data, acknowledgement = rows(self.under("Link layer"), "Message")
        self.check_message(data, LinkData)
        self.check_message(acknowledgement, LinkAck)


def test_every_transcript_is_named() -> None:
    """And every one named is there."""
    pages = [*PAGES.glob("*.md"), *(PAGES.parent / "guide").glob("*.md")]
    assert transcripts_of(pages) == {file.name for file in (TESTS / "scenarios").glob("*.txt")}
