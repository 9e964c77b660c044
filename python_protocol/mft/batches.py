"""Many subscribers in one BQUERY or BSUB, as a BMIG has them (the parameter `batches`).

What a broker sends to one neighbour at one instant is gathered, and at its end it is taken apart again: the algorithms
never see a batch. The order of what goes to a neighbour stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from roambus.python_protocol.actions import Action, Send
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.mft.messages import Bqueries, Bquery, Bsub, Bsubs, Place
from roambus.python_protocol.roles import NodeId

_MOST = 255
"""Subscribers that a batch has room for."""


def gather(actions: Iterable[Action]) -> list[Action]:
    """The same actions, where messages that follow each other to a neighbour are one if they can be."""
    gathered: list[Action] = []
    last: dict[NodeId, int] = {}
    for action in actions:
        if type(action) is not Send:
            gathered.append(action)
            continue
        place = last.get(action.destination)
        joint = None if place is None else _join(_message(gathered[place]), action.message)
        if place is None or joint is None:
            last[action.destination] = len(gathered)
            gathered.append(Send(action.destination, action.message, action.after))
        else:
            gathered[place] = Send(action.destination, joint, action.after)
    return gathered


def scatter(batch: Bqueries | Bsubs) -> Iterator[Bquery | Bsub]:
    """The messages of which a batch is made, in their order."""
    for subscriber, known in batch.places:
        if isinstance(batch, Bsubs):
            yield Bsub(subscriber, known, batch.hops, batch.filters)
        else:
            yield Bquery(subscriber, known)


def undo(messages: Iterable[Message]) -> Iterator[Message]:
    """The messages, those of batches one by one."""
    for message in messages:
        if isinstance(message, Bqueries | Bsubs):
            yield from scatter(message)
        else:
            yield message


def _message(action: Action) -> Message | None:
    return action.message if isinstance(action, Send) else None


def _join(first: Message | None, second: Message) -> Message | None:
    """Both in one, if one message can say what they say."""
    one, other = _batch(first), _batch(second)
    if isinstance(one, Bsubs) and isinstance(other, Bsubs):
        if (one.hops, one.filters) != (other.hops, other.filters) or len(one.places) >= _MOST:
            return None
        return one.replaced(places=one.places + other.places)
    if isinstance(one, Bqueries) and isinstance(other, Bqueries) and len(one.places) < _MOST:
        return one.replaced(places=one.places + other.places)
    return None


def _batch(message: Message | None) -> Message | None:
    """A message as a batch of one, if there are batches of its kind."""
    if isinstance(message, Bsub):
        return Bsubs(message.hops, message.filters, (Place(message.subscriber, message.known),))
    if isinstance(message, Bquery):
        return Bqueries((Place(message.subscriber, message.known),))
    return message
