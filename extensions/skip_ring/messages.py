"""The messages of the skip ring, each with its topic, and the parameters (section 4).

The paper names SetData, IntroduceShortcut, Subscribe, Unsubscribe, CheckTrie, CheckAndPublish and PublishNew. It gives
no parameter a value.
"""

from __future__ import annotations

from struct import Struct
from typing import Annotated, NamedTuple

from roambus.extensions.skip_ring.labels import Bits, Label, MaybeLabel, Reference, show_bits
from roambus.python_protocol.filters import VALUE, Notification, Value, read_value, write_value
from roambus.python_protocol.messages.fields import U16, By, Names
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import BROADCAST, NodeId
from roambus.python_protocol.settings import Parameters, parameter
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime

# Rows of the trace

OVERLAY = "overlay"
"""The node's ring neighbours have changed.

`detail` has seven words, of which the last may hold blanks: how many such rows the node has written, this one included;
its label, whose bits b1 b2 ... stand for the place sum of bi / 2^i on the circle [0, 1); the node before it, the node
behind it, and the one that closes the circle; its shortcuts as LABEL:NODE with commas between them; the topic. "-"
stands for what there is not.
"""
SERVE = "serve"
"""The supervisor answers `message_type`, a request of `peer`, by all that it sends at this time."""

# Fields

Topic = Annotated[Value, By(write_value, read_value, shape=VALUE)]
"""The topic of a ring: the operand of `topic = x`."""
HASH_BYTES = 8
"""The length of a hash, open in the paper; it avoids collisions."""
_BYTES = Struct(f"!{HASH_BYTES}B")
Hash = Annotated[
    bytes,
    By(
        lambda writer, digest: writer.pack(_BYTES, *digest),
        lambda reader: bytes(reader.unpack(_BYTES)),
        shape={"kind": "fixed", "size": HASH_BYTES},
    ),
]
"""The hash of a trie node; sent without its length."""


class TopicMessage(Message):
    """A message about one topic's ring (section 4)."""

    topic: Topic


class _OfSubscriber(TopicMessage, notation="{topic} {subscriber}"):
    """A message about one subscriber."""

    subscriber: NodeId


class Subscribe(_OfSubscriber, tag=1, name="Subscribe"):
    """Asks the supervisor for a configuration (section 4.1; action (i))."""


class Unsubscribe(_OfSubscriber, tag=2, name="Unsubscribe"):
    """Asks the supervisor for removal and leave to go (section 4.1)."""


class GetConfiguration(_OfSubscriber, tag=3, name="GetConfiguration"):
    """Asks the supervisor for the subscriber's configuration (section 3.2.1)."""


class RemoveConnections(_OfSubscriber, tag=4, name="RemoveConnections"):
    """Removes connections to a node outside the ring (section 4.1, lemma on unsubscribe)."""


class SetData(TopicMessage, tag=5, name="SetData", notation="{topic} {predecessor} < {label} < {successor}"):
    """A configuration (section 3.1), or, without a label, leave to go."""

    label: MaybeLabel
    predecessor: Reference | None
    successor: Reference | None


class Introduce(TopicMessage, tag=6, name="Introduce", notation="{topic} {reference} to={assumed} {cyclic}"):
    """Introduces the sender to a ring neighbour (section 2.2).

    `assumed` is the receiver's label; a `cyclic` sender is the other end.
    """

    reference: Reference
    cyclic: bool
    assumed: Label


class Check(NamedTuple):
    """The sender's label, and the one it assumes for the receiver."""

    sender: Reference
    assumed: Label

    def describe(self, names: Names) -> str:
        """Both labels in transcripts: "from=n4:11 to=01"."""
        return f"from={self.sender.describe(names)} to={self.assumed}"


class Linearize(TopicMessage, tag=7, name="Linearize", notation="{topic} {reference} {cyclic}"):
    """Delegates a node to a neighbour (section 2.2), or, `cyclic`, to the other end.

    `check` introduces the sender, too; not in the paper.
    """

    reference: Reference
    cyclic: bool
    check: Check | None

    def describe(self, names: Names) -> str:
        """The delegation in transcripts: "Linearize 7 n3:011 cyclic from=n4:11 to=01"."""
        delegation = TopicMessage.describe(self, names)
        return delegation if self.check is None else f"{delegation} {self.check.describe(names)}"


class IntroduceShortcut(TopicMessage, tag=8, name="IntroduceShortcut", notation="{topic} {reference}"):
    """Names a node for a shortcut of the receiver (section 3.2.2)."""

    reference: Reference


class Summary(NamedTuple):
    """A Patricia node without edges: label and hash of its subtree (section 4.2)."""

    label: Bits
    hash: Hash

    def describe(self, _: Names) -> str:
        """The label alone."""
        return show_bits(self.label)


class CheckTrie(TopicMessage, tag=9, name="CheckTrie", notation="{topic} {nodes}"):
    """Nodes of the sender's trie to compare (section 4.2)."""

    nodes: tuple[Summary, ...]


class CheckAndPublish(CheckTrie, tag=10, name="CheckAndPublish", notation="{topic} {nodes} {prefix}"):
    """A CheckTrie that asks for publications with `prefix` (section 4.2)."""

    prefix: Bits


class Publish(TopicMessage, tag=11, name="Publish", notation="{topic} {publication}"):
    """A publication for the receiver (section 4.2); the trace counts only this hop."""

    publication: Notification


class PublishNew(TopicMessage, tag=12, name="PublishNew", notation="{topic} {publication} hops={hops}"):
    """A new publication, flooded (section 4.3); `hops` includes the message's own."""

    hops: U16
    publication: Notification


MAX_KEY_BITS = 128
"""The bits of the hash for a key."""


class SkipRingParameters(Parameters):
    """Parameters of the skip ring."""

    supervisor: NodeId = parameter(
        0,
        source="the skip ring's paper, section 1.1: every node knows the supervisor, and that is read-only",
        at_least=0,
        at_most=BROADCAST - 2,
        doc="the node of the supervisor; it has the role broker",
    )
    round: SimTime = parameter(
        SECOND,
        unit="s",
        source="the skip ring's paper, section 1.1: Timeout is periodic; no value",
        above=0,
        doc="between two calls of Timeout",
    )
    jitter: SimTime = parameter(
        100 * MILLISECOND,
        unit="s",
        source="the skip ring's paper, section 1.1: asynchronous computations",
        at_least=0,
        doc="a round varies by up to half of this, uniformly; must be below twice the round",
    )
    sparse_requests: bool = parameter(
        True,
        source="the skip ring's paper, lemma of section 3.2.1, which counts one label of one bit: there are two",
        doc="action (ii) counts one bit more than the label has; false: as published",
    )
    check_labels: bool = parameter(
        True,
        source="the skip ring's paper, sections 2.2 and 3.2.2, by which false labels go back and forth",
        doc="labels are checked whenever references are delegated; false: only at introductions, as published",
    )
    ask_first: bool = parameter(
        True,
        source="corrects the skip ring's paper, section 3.2.1, action (iii), and section 4.1, lemma on unsubscribe",
        doc="before the supervisor records a node at another's request, it asks the node; false: as published, so that "
        "a node that has left can be recorded again for ever",
    )
    doubt_silence: bool = parameter(
        True,
        source="corrects the skip ring's paper, section 3.3, by which one failure detector is enough",
        doc="action (iv) is also for nodes that have not heard from their left neighbour for some rounds; false: as "
        "published, so that an unrecorded node may never ask if that neighbour has crashed",
    )
    probe_ends: bool = parameter(
        False,
        source="corrects the skip ring's paper, lemma of section 2.2, where there is no supervisor",
        doc="the first node of a list also introduces itself along the list each round, so that a ring that winds "
        "twice about the circle opens without a supervisor",
    )
    one_topic: bool = parameter(
        False,
        source="the skip ring's paper, section 4, has topics; the scenarios of other agents have any filter",
        doc="one ring for all nodes and filters; each subscriber delivers what matches",
    )
    flooding: bool = parameter(True, source="the skip ring's paper, section 4.3", doc="new publications are flooded")
    flood_shortcuts: bool = parameter(
        True, source="the skip ring's paper, section 4.3", doc="flooding takes shortcuts, not the ring alone"
    )
    key_bits: int = parameter(
        64,
        unit="bits",
        source="reasoned: no collisions; the skip ring's paper, section 4.2, has m",
        at_least=1,
        at_most=MAX_KEY_BITS,
        doc="length of a publication's key",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.jitter >= 2 * self.round:
            raise ValueError("parameter jitter: it is not below twice the round")
