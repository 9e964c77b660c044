"""The metrics for the lemmas and theorems of the skip ring's paper, from traces alone.

A state is all nodes' last `overlay` rows. It is the skip ring if it has exactly the labels and edges of
`roambus.extensions.skip_ring.corrupted`, as sets. A round takes a second on average. A run has converged if
the right state has lasted ten rounds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from roambus.bridge.trace import schema
from roambus.extensions.skip_ring.corrupted import skip_ring
from roambus.extensions.skip_ring.messages import OVERLAY, SERVE, GetConfiguration, SetData
from roambus.python_protocol.messages.fields import NOBODY
from roambus.spark.metrics.catalogue import over
from roambus.spark.metrics.extra import Extra
from roambus.spark.metrics.metric import Scale, metric
from roambus.spark.metrics.run import Run, once

STATE = ("label", "left", "right", "ring", "shortcuts")
"""The fields of an `overlay` row: label, edges by node, shortcuts."""
CLOSURE_S = 10.0
"""Rounds for which a ring must stay correct to count as converged."""
_ITSELF = "itself"
"""The kind of an edge for a label itself."""
_RING = ("left", "right", "ring")
_REQUEST, _ANSWER = GetConfiguration.message_type, SetData.message_type


class Edge(NamedTuple):
    """A label, and the other end's label, or None.

    A shortcut's kind names the label under which it is stored, so a node with another label is wrong there.
    """

    label: str
    kind: str
    target: str | None


# Convergence


@metric("share of runs that converge", scale=Scale.SHARE)
def converged(run: Run) -> float:
    """Whether a run ends in a skip ring that is 10 rounds old: 1 or 0."""
    found = edges(last_states(overlay_rows(run)))
    return float(is_sound(found) and run.end_s - _last_change_s(run) >= CLOSURE_S) if found else math.nan


@metric("rounds to converge")
def rounds_to_converge(run: Run) -> float:
    """Rounds until the last change of a label or edge, in runs that converge."""
    return _last_change_s(run) if converged(run) == 1 else math.nan


def _last_change_s(run: Run) -> float:
    return float(overlay_rows(run)[schema.TIME_S].max())


# The legitimate state


@metric("share of legitimate states", scale=Scale.SHARE)
def legitimate(run: Run) -> float:
    """Whether there is the skip ring when publishing begins: 1 or 0."""
    found = _first_edges(run)
    return float(is_sound(found)) if found else math.nan


@metric("mean degree")
def degree_mean(run: Run) -> float:
    """Different neighbours by ring and shortcuts, mean over nodes."""
    return _degrees(run).mean()


@metric("greatest degree")
def degree_max(run: Run) -> float:
    """Different neighbours by ring and shortcuts of the node that has most."""
    return _degrees(run).max()


@once
def _first_edges(run: Run) -> list[Edge]:
    rows = overlay_rows(run)
    return edges(last_states(rows[rows[schema.TIME_S] < _first_publication_s(run)]))


def _degrees(run: Run) -> pd.Series[int]:
    found = pd.DataFrame(_first_edges(run), columns=Edge._fields)
    return found[found["label"] != found["target"]].groupby("label")["target"].nunique().replace(0, pd.NA).dropna()


# Maintenance


@metric("requests a round")
def requests_per_round(run: Run) -> float:
    """Configuration requests that all subscribers send in a round."""
    quiet = _quiet(run)
    return over((quiet.kinds == _REQUEST).sum(), quiet.rounds)


@metric("messages a round")
def sent_per_node_round(run: Run) -> float:
    """Messages that a subscriber sends in a round, mean over all."""
    quiet = _quiet(run)
    return over((quiet.kinds != _ANSWER).sum(), quiet.rounds) / quiet.members if quiet.members else math.nan


@metric("configurations a round")
def answers_per_round(run: Run) -> float:
    """Configurations that the supervisor sends in a round: one by turns, and one for each request."""
    quiet = _quiet(run)
    return over((quiet.kinds == _ANSWER).sum(), quiet.rounds)


class _Quiet(NamedTuple):
    """The time between the last change and the first publication: sent message types, and nodes."""

    kinds: pd.Series[str]
    rounds: float
    members: int


@once
def _quiet(run: Run) -> _Quiet:
    until, changes, sends = _first_publication_s(run), overlay_rows(run), run.rows(schema.SEND)
    before = changes[changes[schema.TIME_S] < until]
    since = before[schema.TIME_S].max()
    sent = sends[(sends[schema.TIME_S] > since) & (sends[schema.TIME_S] < until)]
    rounds = until - since if len(sent) else 0.0
    return _Quiet(sent[schema.MESSAGE_TYPE], rounds, before[schema.NODE].nunique())


# Operations


@metric("answers a subscription")
def answers_per_subscribe(run: Run) -> float:
    """Messages of the supervisor that serve a subscription."""
    found = _operations(run)
    return over(found.to_join, found.joins) if found else math.nan


@metric("answers an unsubscription")
def answers_per_unsubscribe(run: Run) -> float:
    """Messages of the supervisor that serve an unsubscription."""
    found = _operations(run)
    return over(found.to_leave, found.leaves) if found else math.nan


@metric("further answers an operation")
def further_answers_per_operation(run: Run) -> float:
    """Messages that the supervisor sends because of the operation, in answer to requests."""
    # Less as many as there were in the same time before the first publication.
    found, usual = _operations(run), (run.end_s - _first_publication_s(run)) * requests_per_round(run)
    return over(found.to_ask - usual, found.joins + found.leaves) if found else math.nan


class _Operations(NamedTuple):
    """Subscriptions and unsubscriptions, and the supervisor's messages for each kind."""

    joins: int
    leaves: int
    to_join: int
    to_leave: int
    to_ask: int


@once
def _operations(run: Run) -> _Operations | None:
    """Return those after the first publication that the supervisor serves."""
    joins, leaves, serves = (_later(run, event) for event in (schema.SUBSCRIBE, schema.UNSUBSCRIBE, SERVE))
    # Two requests of one subscriber can come at one instant: each answer is to count once.
    at = [schema.NODE, schema.TIME_S]
    served = serves[[*at, schema.MESSAGE_TYPE]].drop_duplicates()
    answers = run.rows(schema.SEND)[at].merge(served, on=at)[schema.MESSAGE_TYPE]
    counts = [int((answers == kind).sum()) for kind in ("Subscribe", "Unsubscribe", _REQUEST)]
    is_there = len(answers) and len(joins) + len(leaves) and _quiet(run).rounds
    return _Operations(len(joins), len(leaves), *counts) if is_there else None


def _later(run: Run, event: str) -> pd.DataFrame:
    rows = run.rows(event)
    return rows[rows[schema.TIME_S] >= _first_publication_s(run)]


# Catching up


@metric("rounds to catch up")
def catch_up_rounds(run: Run) -> float:
    """Rounds until a new subscriber has all that was published before it came, mean over those that do."""
    found = _newcomers(run)
    late = (found["last_s"] - found["joined_s"])[found["wanted"] == found["got"]]
    return over(math.fsum(late), len(late))  # exact, so that it depends on no order


@metric("share that catches up", scale=Scale.SHARE)
def caught_up(run: Run) -> float:
    """New subscribers that have all that was published before they came, when the run ends."""
    found = _newcomers(run)
    return over((found["wanted"] == found["got"]).sum(), len(found))


@once
def _newcomers(run: Run) -> pd.DataFrame:
    """Return for each subscription the earlier publications, those that came, and the last one's time."""
    published, joined, got = (
        run.rows(event)[[schema.NODE, schema.NOTIFICATION_ID, schema.TIME_S]]
        for event in (schema.PUBLISH, schema.SUBSCRIBE, schema.DELIVER)
    )
    published = published.drop(columns=schema.NODE).rename(columns={schema.TIME_S: "published_s"})
    joined = joined.drop(columns=schema.NOTIFICATION_ID).rename(columns={schema.TIME_S: "joined_s"})
    wanted = joined.merge(published, how="cross").query("published_s < joined_s")
    pairs = wanted.merge(got.rename(columns={schema.TIME_S: "got_s"}), "left", [schema.NODE, schema.NOTIFICATION_ID])
    of_one = pairs.groupby([schema.NODE, "joined_s"])["got_s"]
    return of_one.agg(last_s="max", wanted="size", got="count").reset_index()


# States


@once
def overlay_rows(run: Run) -> pd.DataFrame:
    """Return `overlay` rows with node, time, number and STATE, in order.

    A node numbers its rows of one instant, from 1 each time it joins.
    """
    rows = run.rows(OVERLAY)
    parts = rows[schema.DETAIL].str.split(" ", n=6, expand=True).reindex(columns=range(len(STATE) + 1))
    columns = {"number": parts[0].astype(int), **{name: parts[place + 1] for place, name in enumerate(STATE)}}
    states = pd.DataFrame({schema.NODE: rows[schema.NODE], schema.TIME_S: rows[schema.TIME_S], **columns})
    return states.sort_values([schema.TIME_S, "number"], kind="stable")


def last_states(rows: pd.DataFrame) -> pd.DataFrame:
    """Return each node's last state; a node that has left has no label."""
    return rows.drop_duplicates(schema.NODE, keep="last")


def edges(states: pd.DataFrame) -> list[Edge]:
    """Return all labels and edges of these states."""
    labels = dict(zip(states[schema.NODE].astype(str), states["label"], strict=True))
    return [edge for state in states.itertuples() for edge in _edges_of(state, labels)]


def _edges_of(state: Any, labels: Mapping[str, str]) -> Iterator[Edge]:
    yield Edge(state.label, _ITSELF, state.label)
    for kind in _RING:
        if (node := getattr(state, kind)) != NOBODY:
            yield Edge(state.label, kind, labels.get(node))
    for shortcut in state.shortcuts.split(","):
        if shortcut != NOBODY:
            kind, node = shortcut.split(":")[:2]
            yield Edge(state.label, kind, labels.get(node))


def is_sound(found: Sequence[Edge]) -> bool:
    """Whether these are the labels and edges of the definition, each once."""
    nodes = sum(edge.kind == _ITSELF for edge in found)
    return len(set(found)) == len(found) and set(found) == set(_defined(nodes))


def _defined(nodes: int) -> Iterator[Edge]:
    for label, place in skip_ring(nodes).items():
        yield Edge(label, _ITSELF, label)
        ring = dict(zip(_RING, (place.left, place.right, place.ring), strict=True))
        yield from (Edge(label, kind, target) for kind, target in ring.items() if target is not None)
        yield from (Edge(label, shortcut, shortcut) for shortcut in place.shortcuts)


def _first_publication_s(run: Run) -> float:
    return float(run.rows(schema.PUBLISH)[schema.TIME_S].min())


CONVERGENCE = Extra((converged, rounds_to_converge))
MAINTENANCE = Extra((requests_per_round, sent_per_node_round, answers_per_round))
STEADY = Extra(
    (
        *(legitimate, degree_mean, degree_max),
        *MAINTENANCE.metrics,
        *(answers_per_subscribe, answers_per_unsubscribe, further_answers_per_operation),
        *(catch_up_rounds, caught_up),
    )
)

CONVERGED, ROUNDS_TO_CONVERGE = (entry.column for entry in CONVERGENCE.metrics)
REQUESTS_PER_ROUND, SENT_PER_NODE_ROUND, ANSWERS_PER_ROUND = (entry.column for entry in MAINTENANCE.metrics)
DEGREE_MEAN, DEGREE_MAX = degree_mean.column, degree_max.column
PER_SUBSCRIBE, PER_UNSUBSCRIBE = answers_per_subscribe.column, answers_per_unsubscribe.column
FURTHER = further_answers_per_operation.column
CATCH_UP_ROUNDS, CAUGHT_UP = catch_up_rounds.column, caught_up.column
