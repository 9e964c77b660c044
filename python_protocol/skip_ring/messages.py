"""The messages of the skip ring, each with the topic whose ring it is about (the skip ring's paper, section 4).

The paper names SetData, IntroduceShortcut, Subscribe, Unsubscribe, CheckTrie, CheckAndPublish and PublishNew; the text
that we have describes the others without a name. Bytes and notation follow from the fields (`messages.message`). A
field's type says how its values travel, which is with `bits` and `labels` for texts of bits.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from roambus.python_protocol.filters import VALUE, Notification, Value, read_value, write_value
from roambus.python_protocol.messages.fields import U16, By
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.messages.names import Names
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.skip_ring.bits import Bits, show_bits
from roambus.python_protocol.skip_ring.labels import Label, MaybeLabel
from roambus.python_protocol.skip_ring.patricia import Hash
from roambus.python_protocol.skip_ring.references import Reference

Topic = Annotated[Value, By(write_value, read_value, shape=VALUE)]
"""The topic of a ring: the operand of the filter `topic = x`."""


class TopicMessage(Message):
    """A message about the ring of one topic."""

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
    sender introduces itself at the same time; to the letter it does not.
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
    """A node of a Patricia trie without its edges: its label and hash (section 4.2)."""

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
    """A publication that the receiver lacks (section 4.2)."""

    publication: Notification


class PublishNew(TopicMessage, tag=12, name="PublishNew", notation="{topic} {publication} hops={hops}"):
    """A new publication, flooded (section 4.3); `hops` counts those that it has made, this one included."""

    hops: U16
    publication: Notification
