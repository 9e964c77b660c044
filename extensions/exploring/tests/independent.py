"""A breadth-first search that shares no code with the explorer, for small networks of random agents.

It is written from the public agent interface alone: networks are copied by pickle, states are compared by their
text, links are FIFO, times are integers, and every order of arrivals, timers and commands is tried.
"""

from __future__ import annotations

import pickle
from collections import deque
from dataclasses import dataclass, field
from random import Random
from typing import Any

from roambus import (
    BROADCAST,
    SECOND,
    CancelTimer,
    Deliver,
    Notification,
    NotificationId,
    Publish,
    Received,
    Role,
    Send,
    SetTimer,
    TimerFired,
)


@dataclass
class Net:
    """One state: everything that there is."""

    agents: list[Any]
    links: dict[tuple[int, int], list[Any]]
    timers: list[dict[Any, int]]
    now: int
    left: list[int]
    """How often each command may be given."""
    published: list[Notification] = field(default_factory=list)
    delivered: list[list[NotificationId]] = field(default_factory=list)

    def key(self) -> str:
        """The text of the state; timers that are due at once are in the order in which they were set."""
        agents = [(agent.mode, agent.left, agent.held, agent.since) for agent in self.agents]
        timers = [sorted(timer.items(), key=lambda it: it[1]) for timer in self.timers]
        queues = {link: [repr(message) for message in its] for link, its in self.links.items() if its}
        return repr((agents, sorted(queues.items()), timers, self.now, self.left, self.published, self.delivered))

    def handle(self, node: int, event: object) -> None:
        """Have an agent handle an event now."""
        for action in self.agents[node].handle(event, self.now):
            match action:
                case Send(destination, message):
                    for a, b in self.links:
                        if a == node and destination in (b, BROADCAST):
                            self.links[a, b].append((destination, message))  # of a lost broadcast no sender learns
                case SetTimer(key, after):
                    self.timers[node].pop(key, None)
                    self.timers[node][key] = self.now + after
                case CancelTimer(key):
                    self.timers[node].pop(key, None)
                case Deliver(notification):
                    self.delivered[node].append(notification.id)


def successors(net: Net, publishers: list[int], *, fast: bool, timed: bool) -> list[Net]:  # noqa: C901  # in one piece
    """All states to which one step leads."""
    found: list[Net] = []
    data = pickle.dumps(net)
    busy = [link for link, its in net.links.items() if its]
    due = [at for its in net.timers for at in its.values()]
    next_at = max(net.now, min(due)) if due else None
    may_pass = not (fast and busy)
    ahead = {net.now} | ({next_at} if next_at is not None and may_pass else set())
    for link in busy:
        for at in ahead:
            after = pickle.loads(data)  # noqa: S301  # from here
            after.now = at
            _, message = after.links[link].pop(0)
            after.handle(link[1], Received(link[0], message, -50.0, 50.0))
            found.append(after)
    if next_at is not None and may_pass:
        for node, its in enumerate(net.timers):
            for key in [key for key, at in its.items() if at <= next_at]:
                after = pickle.loads(data)  # noqa: S301  # from here
                after.now = next_at
                del after.timers[node][key]
                after.handle(node, TimerFired(key))
                found.append(after)
    moments = {net.now}
    if timed and may_pass:
        moments |= {net.now + 3600 * SECOND} if next_at is None else {net.now + (next_at - net.now) // 2, next_at}
    for which, node in enumerate(publishers):
        if net.left[which]:
            for at in moments:
                after = pickle.loads(data)  # noqa: S301  # from here
                after.now = at
                after.left[which] -= 1
                sequence = sum(publication.id.publisher == node for publication in net.published)
                notification = Notification(NotificationId(node, sequence), (("topic", 1),))
                after.published.append(notification)
                after.handle(node, Publish(notification))
                found.append(after)
    return found


def explore(  # noqa: PLR0917  # a network in one call
    agent_class: Any,
    size: int,
    carries: set[tuple[int, int]],
    publishers: list[int],
    subscriber: int,
    begin: int,
    *,
    fast: bool = False,
    timed: bool = False,
) -> tuple[int, int, set[str]]:
    """The number of states and steps, and the properties that do not hold."""
    roles = Role.PUBLISHER | Role.SUBSCRIBER | Role.BROKER
    agents = [agent_class(node, roles, agent_class.parameters_type(), Random(0)) for node in range(size)]
    links: dict[tuple[int, int], list[Any]] = {link: [] for link in carries}
    empty: list[list[NotificationId]] = [[] for _ in range(size)]
    first = Net(agents, links, [{} for _ in range(size)], begin, [1] * len(publishers), [], empty)
    known, waiting, steps, wrong = {first.key()}, deque([first]), 0, set[str]()
    while waiting:
        net = waiting.popleft()
        wrong |= violated(net, carries, subscriber)
        for after in successors(net, publishers, fast=fast, timed=timed):
            steps += 1
            if after.key() not in known:
                known.add(after.key())
                waiting.append(after)
    return len(known), steps, wrong


def violated(net: Net, carries: set[tuple[int, int]], subscriber: int) -> set[str]:
    """The properties that a state violates."""
    found = set[str]()
    for its in net.delivered:
        if len(set(its)) < len(its):
            found.add("nothing twice")
        pairs = [(a, b) for place, a in enumerate(its) for b in its[place:]]
        if any(a.publisher == b.publisher and a.sequence > b.sequence for a, b in pairs):
            found.add("order kept")
    if not any(net.links.values()) and not any(net.timers):
        for publication in net.published:
            if (
                subscriber in reached(publication.id.publisher, carries)
                and publication.id not in net.delivered[subscriber]
            ):
                found.add("everything delivered")
    return found


def reached(start: int, carries: set[tuple[int, int]]) -> set[int]:
    """The nodes to which there is a way."""
    found = {start}
    while new := {b for a, b in carries if a in found} - found:
        found |= new
    return found
