"""Properties of what subscribers get: nothing is lost, nothing comes twice, in order, and what is published arrives."""

from __future__ import annotations

from itertools import pairwise

from roambus.experiments.exploring.properties.property import View
from roambus.experiments.exploring.properties.ways import stored_by


def nothing_lost(view: View) -> str | None:
    """What a node has taken on for a subscriber is delivered, or kept for it, unless it has unsubscribed."""
    kept = {subscriber for agent in view.agents.values() for subscriber in stored_by(agent)}
    for identifier, subscriber in sorted(view.world.taken):
        given = {str(one) for one in view.world.delivered[subscriber]}
        if identifier not in given and subscriber not in kept and _still_wants(view, identifier, subscriber):
            return f"{view.called(identifier)} was taken on for {view.name(subscriber)}, and is lost"
    return None


def _still_wants(view: View, identifier: str, subscriber: int) -> bool:
    for one in view.published():
        if str(one.notification.id) == identifier:
            wanted = view.world.wanted[subscriber]
            return any(filter_.matches(one.notification) for filter_ in wanted)
    return False


def everything_delivered(view: View) -> str | None:
    """Everybody who wanted a notification when it was published, wants it still, and is in reach now, has it."""
    for one in view.published():
        for subscriber in sorted(one.wanted_by & view.world.part(one.notification.id.publisher)):
            wanted = view.world.wanted[subscriber]
            has = one.notification.id in view.world.delivered[subscriber]
            if not has and any(filter_.matches(one.notification) for filter_ in wanted):
                return f"{one.name} was not delivered to {view.name(subscriber)}"
    return None


def nothing_twice(view: View) -> str | None:
    """No notification is delivered to the same subscriber twice."""
    for node, given in enumerate(view.world.delivered):
        for identifier in given:
            if given.count(identifier) > 1:
                return f"{view.called(identifier)} was delivered to {view.name(node)} {given.count(identifier)} times"
    return None


def order_kept(view: View) -> str | None:
    """What one publisher has published comes in that order."""
    for node, given in enumerate(view.world.delivered):
        for earlier, later in pairwise(given):
            if earlier.publisher == later.publisher and earlier.sequence > later.sequence:
                return f"{view.called(earlier)} came to {view.name(node)} before {view.called(later)}"
    return None


def probes_arrive(view: View) -> str | None:
    """What anybody publishes now comes once to everybody in reach who wants it, and to nobody else."""
    return None if view.probe is None else view.probe()
