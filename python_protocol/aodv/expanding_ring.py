"""The expanding ring search (RFC 3561, section 6.4) and its repetitions (section 6.3), as pure functions."""

from __future__ import annotations

from dataclasses import dataclass

from roambus.python_protocol.aodv.parameters import AodvParameters
from roambus.python_protocol.simtime import SimTime


@dataclass(frozen=True, slots=True)
class Attempt:
    """One RREQ of a search: its TTL, and how often the whole network was searched before it."""

    ttl: int
    repeats: int = 0


def first_attempt(parameters: AodvParameters, last_hop_count: int | None) -> Attempt:
    """The search starts near, or a little beyond where the destination was when last known."""
    start = parameters.ttl_start if last_hop_count is None else last_hop_count + parameters.ttl_increment
    return Attempt(_ring(parameters, start))


def next_attempt(parameters: AodvParameters, attempt: Attempt) -> Attempt | None:
    """After one without an answer: a larger ring, then RREQ_RETRIES times more the whole network, then no more."""
    if attempt.ttl < parameters.net_diameter:
        return Attempt(_ring(parameters, attempt.ttl + parameters.ttl_increment))
    if attempt.repeats < parameters.rreq_retries:
        return Attempt(attempt.ttl, attempt.repeats + 1)
    return None


def waiting_time(parameters: AodvParameters, attempt: Attempt) -> SimTime:
    """How long to wait for an answer; doubled with each repetition (binary exponential back-off)."""
    if attempt.ttl < parameters.net_diameter:
        return parameters.ring_traversal_time(attempt.ttl)
    return parameters.net_traversal_time << attempt.repeats


def repair_attempt(parameters: AodvParameters, last_hop_count: int, hops_to_originator: int) -> Attempt:
    """The one RREQ of a local repair (section 6.12), MIN_REPAIR_TTL being the last known hop count."""
    ttl = max(last_hop_count, hops_to_originator // 2) + parameters.local_add_ttl
    return Attempt(min(ttl, parameters.net_diameter))


def _ring(parameters: AodvParameters, ttl: int) -> int:
    return ttl if ttl <= parameters.ttl_threshold else parameters.net_diameter
