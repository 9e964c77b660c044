"""The cache of a broker: k messages, some kept for moving clients (sections 3.2 and 4).

Kept messages, the *emergency cache*, share the room with ordinary ones; a policy orders eviction. Ordinary
messages go first, then kept ones: otherwise a client that never returns would fill the cache. Handing over follows each
publisher's order.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterator, Sequence

from roambus.python_protocol.actions import Note
from roambus.python_protocol.agent import Listing
from roambus.python_protocol.brokers.broker import BrokerParameters
from roambus.python_protocol.filters import Notification, NotificationId
from roambus.python_protocol.messages.fields import NOBODY, Names, listed
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.settings import parameter
from roambus.python_protocol.trace_rows import DROP, STORE

# Rows of the trace

CACHE = "cache"
"""A broker caches a notification that it did not have."""
FORGET = "forget"
"""A notification leaves a broker's cache, and `detail` says why."""
ANSWER = "answer"
"""A notification reaches a node that requested old publications; `detail` is the number of the request."""


REGENERATION, FIFO, LIFO = POLICIES = ("fifo-regeneration", "fifo", "lifo")
"""Which message leaves first: the oldest, with regeneration after those that answered no request, "similar to Least
Recently Used" (section 3.2); or, for comparison, the newest."""
EVICTED, UNWANTED = "evicted", "unsubscribed"
"""Why a message leaves the cache."""
EMERGENCY_FULL = "emergency cache full"
"""Why a moving client's message is lost."""


class Cache:
    """Up to `size` different messages, ordered by a policy."""

    def __init__(self, size: int, policy: str) -> None:
        self._size = size
        self._policy = policy
        self._order: dict[NotificationId, None] = {}
        """From the oldest; with regeneration a request makes a message the newest."""
        self._messages: dict[NotificationId, Notification] = {}
        self._holders: dict[NotificationId, dict[NodeId, None]] = {}
        """The absent clients of each kept message."""

    def __iter__(self) -> Iterator[Notification]:
        """Iterate over the messages; the first leaves first."""
        order = reversed(self._order) if self._policy == LIFO else iter(self._order)
        return map(self._messages.__getitem__, order)

    def __contains__(self, identifier: NotificationId) -> bool:
        return identifier in self._messages

    def __len__(self) -> int:
        return len(self._messages)

    def put(self, message: Notification, holders: Collection[NodeId] = ()) -> list[Note]:
        """Cache a message, keep it for interested absent clients, and return the notes.

        A full cache evicts the first ordinary message, else, for a message to keep, the first of all.
        """
        # A message that is there already may be kept for somebody else from now on, and keeps its place in the order.
        notes = [] if message.id in self else self._admit(message, is_kept=bool(holders))
        if message.id not in self:
            return [*notes, *(_lost(message.id, client) for client in holders)]
        known = self._holders.setdefault(message.id, {}) if holders else {}
        new = [client for client in holders if client not in known]
        known.update(dict.fromkeys(new))
        return [*notes, *(Note(STORE, notification_id=str(message.id), peer=client) for client in new)]

    def use(self, identifier: NotificationId) -> None:
        """Note that a message answers a request."""
        if self._policy == REGENERATION:
            self._order[identifier] = self._order.pop(identifier)

    def release(self, client: NodeId) -> list[Notification]:
        """Return a client's kept messages in each publisher's order.

        They become ordinary unless kept for others.
        """
        kept = [message for message in self._messages.values() if client in self._holders.get(message.id, ())]
        for message in kept:
            del self._holders[message.id][client]
            if not self._holders[message.id]:
                del self._holders[message.id]
        return _in_order(kept)

    def forget(self, identifier: NotificationId) -> list[Note]:
        """Remove an unwanted, unkept message."""
        return [] if identifier in self._holders else self._remove(identifier, UNWANTED)

    def listing(self, names: Names) -> Listing:
        """The messages, and the holders of kept ones."""
        kept = ((entry, [names.subscriber(client) for client in self._holders.get(entry.id, ())]) for entry in self)
        rows = tuple(
            (names.notification(event_id), listed(holders) if holders else NOBODY) for event_id, holders in kept
        )
        return Listing(("Message", "Kept for"), rows)

    def _admit(self, message: Notification, *, is_kept: bool) -> list[Note]:
        notes: list[Note] = []
        if len(self) >= self._size:
            ordinary = next((entry.id for entry in self if entry.id not in self._holders), None)
            victim = next((entry.id for entry in self), None) if ordinary is None and is_kept else ordinary
            if victim is None:
                return []
            notes += [_lost(victim, client) for client in self._holders.pop(victim, ())]
            notes += self._remove(victim, EVICTED)
        self._messages[message.id] = message
        self._order[message.id] = None
        return [*notes, Note(CACHE, notification_id=str(message.id))]

    def _remove(self, identifier: NotificationId, reason: str) -> list[Note]:
        del self._messages[identifier], self._order[identifier]
        return [Note(FORGET, notification_id=str(identifier), detail=reason)]


def _in_order(messages: Sequence[Notification]) -> list[Notification]:
    """Sort each publisher's messages within its places: ways differ."""
    own: dict[NodeId, deque[Notification]] = defaultdict(deque)
    for message in sorted(messages, key=lambda message: message.id.sequence):
        own[message.id.publisher].append(message)
    return [own[message.id.publisher].popleft() for message in messages]


def _lost(identifier: NotificationId, client: NodeId) -> Note:
    return Note(DROP, notification_id=str(identifier), peer=client, detail=EMERGENCY_FULL)


class CachingParameters(BrokerParameters):
    """Parameters of caching."""

    cache_size: int = parameter(
        64,
        unit="messages",
        source="the paper on caching, section 6: k, of which the paper gives no value",
        at_least=0,
        doc="messages that a broker's cache holds, ordinary and emergency cache together",
    )
    policy: str = parameter(
        REGENERATION,
        source="the paper on caching, section 3.2",
        choices=POLICIES,
        doc="which message leaves a full cache",
    )
    mobility_support: bool = parameter(
        True,
        source="the paper on caching, section 4",
        doc="brokers keep messages for a detached client; false: it unsubscribes, and subscribes again on its return",
    )
    request_old: bool = parameter(
        False,
        source='the paper on caching, section 3.2: "a client node interested in old content"',
        doc="a client that subscribes requests older notifications",
    )
    reactive: bool = parameter(
        True,
        source="the paper on caching, section 5",
        doc="a broker drops a response whose message it has in its cache",
    )
    proactive: bool = parameter(
        True,
        source="the paper on caching, section 5",
        doc="a request lists the responses made on its way, so that they are not repeated",
    )
    spare_kept: bool = parameter(
        True,
        source='the paper on caching, section 5, reads "each response message"; by section 4 one broker alone responds',
        doc="the reactive mechanism never drops messages kept for a client; false: it compares each response",
    )
    drop_by_request: bool = parameter(
        True,
        source="the paper on caching, section 5, compares with the cache, where the message can be for another reason",
        doc="the reactive mechanism drops messages that passed for the same request; false: those in the cache",
    )
    follow_client: bool = parameter(
        True,
        source="the paper on caching, section 4, has a client wait until it has what was kept for it",
        doc="messages for a client that has moved on follow it, also back to where it was; false: they are lost",
    )
    find_left: bool = parameter(
        True,
        source='the paper on caching, section 4: the request "will reach according to [6]" the broker that was left',
        doc="all brokers learn of a client's return; false: only brokers known to have its subscription",
    )
    deliver_once: bool = parameter(
        True,
        source="the paper on caching says nothing of messages that are under way while a client returns",
        doc="a client delivers a message once that it gets as a publication and in a response; false: twice",
    )
    remembered: int = parameter(
        4096,
        unit="messages",
        source="reasoned: several full caches",
        at_least=1,
        doc="messages that a client remembers as received, and a broker as passed for requests",
    )
