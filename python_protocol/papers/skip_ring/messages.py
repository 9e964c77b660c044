"""The messages of the skip ring, each with the topic whose ring it is about, and the parameters (section 4).

The paper names SetData, IntroduceShortcut, Subscribe, Unsubscribe, CheckTrie, CheckAndPublish and PublishNew; the text
that we have describes the others without a name, nor does it give a value of any parameter. Bytes and notation follow
from the fields; a field's type says how its values travel.
"""

from __future__ import annotations

from struct import Struct
from typing import Annotated, NamedTuple

from roambus.python_protocol.filters import VALUE, Notification, Value, read_value, write_value
from roambus.python_protocol.messages.fields import U16, By, Names
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.messages.octets import Fixed
from roambus.python_protocol.papers.skip_ring.labels import Bits, Label, MaybeLabel, Reference, show_bits
from roambus.python_protocol.settings import Parameters, parameter
from roambus.python_protocol.vocabulary import BROADCAST, MILLISECOND, SECOND, NodeId, SimTime

# Rows of the trace

OVERLAY = "overlay"
"""The node's neighbours in the ring are others.

`detail` has seven words, of which the last may hold blanks: how many such rows the node has written, this one included;
its label, whose bits b1 b2 ... stand for the place sum of bi / 2^i on the circle [0, 1); the node before it, the node
behind it, and the one that closes the circle; its shortcuts as LABEL:NODE with commas between them; the topic. "-"
stands for what there is not.
"""
SERVE = "serve"
"""The supervisor answers `message_type`, a request of `peer`, by all that it sends at this time."""

# Fields

Topic = Annotated[Value, By(write_value, read_value, shape=VALUE)]
"""The topic of a ring: the operand of the filter `topic = x`."""
HASH_BYTES = 8
"""The length of a hash, which the paper leaves open: among as many publications as a run has nothing collides."""
_BYTES = Struct(f"!{HASH_BYTES}B")
Hash = Annotated[
    bytes,
    By(
        lambda writer, digest: writer.pack(_BYTES, *digest),
        lambda reader: bytes(reader.unpack(_BYTES)),
        shape=Fixed(HASH_BYTES),
    ),
]
"""The hash of a trie's node; it travels without its length, which all have in common."""


class TopicMessage(Message):
    """A message about the ring of one topic.

    The paper runs one protocol for each topic (section 4); a topic in each message keeps them apart on one node.
    """

    topic: Topic


class _OfSubscriber(TopicMessage, notation="{topic} {subscriber}"):
    """A message about one subscriber."""

    subscriber: NodeId


class Subscribe(_OfSubscriber, tag=1, name="Subscribe"):
    """Asks the supervisor to integrate the subscriber, and to send its configuration (section 4.1; action (i))."""


class Unsubscribe(_OfSubscriber, tag=2, name="Unsubscribe"):
    """Asks the supervisor to remove the subscriber, and to permit it to go (section 4.1)."""


class GetConfiguration(_OfSubscriber, tag=3, name="GetConfiguration"):
    """Asks the supervisor to send the subscriber its configuration, after integrating it if need be (section 3.2.1)."""


class RemoveConnections(_OfSubscriber, tag=4, name="RemoveConnections"):
    """Has connections to the subscriber deleted, which is not in the ring (section 4.1, lemma on unsubscribe)."""


class SetData(TopicMessage, tag=5, name="SetData", notation="{topic} {predecessor} < {label} < {successor}"):
    """Brings the receiver its configuration from the supervisor (section 3.1), or, without a label, leave to go."""

    label: MaybeLabel
    predecessor: Reference | None
    successor: Reference | None


class Introduce(TopicMessage, tag=6, name="Introduce", notation="{topic} {reference} to={assumed} {cyclic}"):
    """A node introduces itself to a ring neighbour (section 2.2).

    `assumed` is the label that it thinks the receiver has. With `cyclic` it does so as the other end of the list, with
    which the receiver is to close the ring.
    """

    reference: Reference
    cyclic: bool
    assumed: Label


class Check(NamedTuple):
    """The sender with its label, and the label that it thinks the receiver has."""

    sender: Reference
    assumed: Label

    def describe(self, names: Names) -> str:
        """Both as a transcript shows them: "from=n4:11 to=01"."""
        return f"from={self.sender.describe(names)} to={self.assumed}"


class Linearize(TopicMessage, tag=7, name="Linearize", notation="{topic} {reference} {cyclic}"):
    """A node that is farther away than the sender's neighbour, delegated to that neighbour (section 2.2).

    With `cyclic` it is on its way to the other end of the list, with which it is to close the ring. `check` is how the
    sender introduces itself at the same time; the paper has no such thing.
    """

    reference: Reference
    cyclic: bool
    check: Check | None

    def describe(self, names: Names) -> str:
        """The delegation with its check, if it has one: "Linearize 7 n3:011 cyclic from=n4:11 to=01"."""
        delegation = TopicMessage.describe(self, names)
        return delegation if self.check is None else f"{delegation} {self.check.describe(names)}"


class IntroduceShortcut(TopicMessage, tag=8, name="IntroduceShortcut", notation="{topic} {reference}"):
    """Names a node to which the receiver should have a shortcut (section 3.2.2)."""

    reference: Reference


class Summary(NamedTuple):
    """A node of a Patricia trie without its edges: its label and hash (section 4.2).

    The hash says whether all that is below it is the same here and there, and the label what that is about.
    """

    label: Bits
    hash: Hash

    def describe(self, _: Names) -> str:
        """The label, which is all that a transcript shows."""
        return show_bits(self.label)


class CheckTrie(TopicMessage, tag=9, name="CheckTrie", notation="{topic} {nodes}"):
    """Some nodes of the sender's trie, with which the receiver compares its own (section 4.2)."""

    nodes: tuple[Summary, ...]


class CheckAndPublish(CheckTrie, tag=10, name="CheckAndPublish", notation="{topic} {nodes} {prefix}"):
    """A CheckTrie that also asks for all publications whose keys begin with `prefix` (section 4.2)."""

    prefix: Bits


class Publish(TopicMessage, tag=11, name="Publish", notation="{topic} {publication}"):
    """A publication that the receiver lacks (section 4.2).

    It has no hops, since it came to the sender at some other time: the trace counts the one hop of this message.
    """

    publication: Notification


class PublishNew(TopicMessage, tag=12, name="PublishNew", notation="{topic} {publication} hops={hops}"):
    """A new publication, flooded (section 4.3); `hops` counts those that it has made, this one included.

    It can be a publication that the receiver has by a Publish already: whoever is first delivers it.
    """

    hops: U16
    publication: Notification


MAX_KEY_BITS = 128
"""The bits of the hash from which a key is cut."""


class SkipRingParameters(Parameters):
    """What can be set."""

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
