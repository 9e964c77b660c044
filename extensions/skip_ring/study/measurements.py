"""Metrics of joins, crashes, and publications that only one node has, from traces alone.

A join concerns an old subscriber if its predecessor or successor changes (section 4.1). An operation costs the messages
beyond maintenance, measured before the first publication. After crashes (section 3.3) the others are to be the skip
ring of as many. In the sweep of publications (section 4.2) only missing ones are sent. Any agent that writes overlay
rows can be measured. A round is a second; unreached values are null.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from roambus.bridge.trace import schema
from roambus.extensions.skip_ring import messages
from roambus.extensions.skip_ring.messages import Publish
from roambus.extensions.skip_ring.study.metrics import (
    CLOSURE_S,
    edges,
    is_sound,
    last_states,
    overlay_rows,
    sent_per_node_round,
)
from roambus.python_protocol.messages.fields import NOBODY
from roambus.spark.metrics.catalogue import over, share
from roambus.spark.metrics.extra import Extra
from roambus.spark.metrics.metric import Scale, metric
from roambus.spark.metrics.run import Run, once

# Crashes


@metric("share of runs that are restored", scale=Scale.SHARE)
def restored(run: Run) -> float:
    """Whether those left end in the skip ring of as many that is 10 rounds old: 1 or 0."""
    # Rows of the crashed nodes are left out before the ring is worked out: their last state is no part of it.
    crashed, changes, rows = run.rows(schema.CRASH)[schema.NODE], _changes_of_those_left(run), run.rows()
    end_s = rows[schema.TIME_S][~rows[schema.NODE].isin(crashed)].max()
    if crashed.empty or changes.empty:
        return math.nan
    return float(is_sound(edges(last_states(changes))) and end_s - changes[schema.TIME_S].max() >= CLOSURE_S)


@metric("rounds to restore the ring")
def rounds_to_restore(run: Run) -> float:
    """Rounds from the crashes until the last change of a label or edge, in runs that are restored."""
    if restored(run) != 1:
        return math.nan
    last_s = _changes_of_those_left(run)[schema.TIME_S].max()
    return float(max(last_s - run.rows(schema.CRASH)[schema.TIME_S].max(), 0.0))


@once
def _changes_of_those_left(run: Run) -> pd.DataFrame:
    changes = overlay_rows(run)
    return changes[~changes[schema.NODE].isin(run.rows(schema.CRASH)[schema.NODE])]


CRASHES = Extra((restored, rounds_to_restore))
RESTORED, ROUNDS_TO_RESTORE = (entry.column for entry in CRASHES.metrics)


# Publications that only one has


@metric("share of subscribers that have everything", scale=Scale.SHARE)
def informed(run: Run) -> float:
    """Subscribers that have every publication that any of them had at the start, when the run ends."""
    delivered = run.rows(schema.DELIVER)
    has = delivered.groupby(schema.NODE)[schema.NOTIFICATION_ID].nunique()
    is_complete = has == delivered[schema.NOTIFICATION_ID].nunique()
    return over(is_complete.sum(), run.rows(schema.SUBSCRIBE)[schema.NODE].nunique()) if len(has) else math.nan


@metric("rounds until all have everything")
def rounds_to_inform(run: Run) -> float:
    """Rounds until the last subscriber has every publication, in runs in which all get every one."""
    return float(run.rows(schema.DELIVER)[schema.TIME_S].max()) if informed(run) == 1 else math.nan


@metric("redundant publications", "%")
def known_per_cent(run: Run) -> float:
    """Of the publications that one subscriber sends another as missing, those that it has already."""
    # A subscriber delivers what it gets from another if it did not have it.
    sent = (run.sends[schema.MESSAGE_TYPE] == Publish.message_type).sum()
    news = (run.rows(schema.DELIVER)[schema.HOPS] > 0).sum()
    return 100 * over(sent - news, sent) if not math.isnan(informed(run)) else math.nan


INFORMING = Extra((informed, rounds_to_inform, known_per_cent))
INFORMED, ROUNDS_TO_INFORM, KNOWN_SENT = (entry.column for entry in INFORMING.metrics)


# Joins

_FIRST = "0"
"""The labels of a doubling's first and last joins, no neighbours in time."""


@metric("share that two consecutive joins concern", scale=Scale.SHARE)
def two_consecutive_joins(run: Run) -> float:
    """Old subscribers, without that with label 0, that two consecutive joins concern and no other."""
    others = _concerned(run)
    others = others[others["label"] != _FIRST]
    return share((others["joins"] == 2) & (others["last"] - others["first"] == 1))


@metric("most joins that concern one")
def most_joins_for_one(run: Run) -> float:
    """The joins that concern an old subscriber while the subscribers double, of whom most concern."""
    return float(_concerned(run)["joins"].max())


@once
def _concerned(run: Run) -> pd.DataFrame:
    """Return each old subscriber's label, number of `joins`, and `first` and `last`."""
    asked = run.rows(schema.SUBSCRIBE)[schema.TIME_S]
    at_s = np.sort(asked[asked > 0])
    states = overlay_rows(run)
    if not len(at_s):
        return pd.DataFrame(columns=["label", "joins", "first", "last"])
    # The first and the last of the list have one of their neighbours on the circle as ring.
    sides = [states[side].where(states[side] != NOBODY, states["ring"]) for side in ("left", "right")]
    before = [side.groupby(states[schema.NODE]).shift(1) for side in sides]
    is_moved = (sides[0] != before[0]) | (sides[1] != before[1])
    is_first, is_later = ~states.duplicated(schema.NODE), states[schema.TIME_S] >= at_s[0]
    moved = states[is_moved & ~is_first & is_later]
    join = np.searchsorted(at_s, moved[schema.TIME_S], side="right")
    of_node = moved[[schema.NODE]].assign(join=join).drop_duplicates().groupby(schema.NODE)["join"]
    labels = last_states(states[~is_later]).set_index(schema.NODE)[["label"]]
    found = labels.join(of_node.agg(joins="count", first="min", last="max"))
    return found.fillna({"joins": 0})


JOINS = Extra((two_consecutive_joins, most_joins_for_one))
TWO_CONSECUTIVE, MOST_JOINS = (entry.column for entry in JOINS.metrics)


# What subscriptions and unsubscriptions cost the subscribers

_OF_OVERLAY = tuple(
    message_type.message_type
    for message_type in (
        messages.GetConfiguration,
        messages.Introduce,
        messages.IntroduceShortcut,
        messages.Linearize,
        messages.RemoveConnections,
        messages.Subscribe,
        messages.Unsubscribe,
    )
)
"""Return the subscribers' messages for labels and edges."""


@metric("messages of subscribers an operation")
def subscribers_messages_per_operation(run: Run) -> float:
    """What subscribers send for labels and edges beyond maintenance, over subscriptions and unsubscriptions."""
    # Operations are those after the start, and the time is from the first of them to the end of the run. Maintenance is
    # what those there send in as many rounds before the first publication.
    commands, sends = run.rows(schema.SUBSCRIBE, schema.UNSUBSCRIBE), run.sends
    operations = commands[schema.TIME_S][commands[schema.TIME_S] > 0]
    later = sends[schema.MESSAGE_TYPE][sends[schema.TIME_S] >= operations.min()]
    change = np.where(commands[schema.EVENT] == schema.SUBSCRIBE, 1, -1)
    rounds = math.fsum(change * (run.end_s - np.maximum(commands[schema.TIME_S], operations.min())))
    usual = sent_per_node_round(run) * rounds
    return over(later.isin(_OF_OVERLAY).sum() - usual, len(operations) if len(later) else 0)


OVERHEAD = Extra((subscribers_messages_per_operation,))
BY_SUBSCRIBERS = subscribers_messages_per_operation.column
