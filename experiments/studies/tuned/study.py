"""The study of protocols on a slow channel: delivery, delay and messages over size and speed, and the ablations.

What the tuned profiles are to achieve has one precise reading each, which was fixed before the whole runs. Delivery is
that of all pairs that were wanted, which is the same denominator for every protocol, and only runs of equal seeds are
compared. The ablations show what each change of a tuned profile does alone, and what its lack does: a change that helps
alone and is not missed when it is left out stands in for another. A change that does nothing alone and is missed when
it is left out needs another one to work, which neither column shows by itself.

The static sweep is there because a profile can be tuned to movement by constantly starting again: where
nothing moves, a tree that is found should stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial

import pandas as pd

from roambus.bridge.runs.layout import AGENT
from roambus.experiments.claims import Bound, ClaimTest, Part, Parts, Place, Side, at_each, difference, value
from roambus.experiments.figures.figure import Line, Plan, agent_lines, cut, plans_over, slug
from roambus.experiments.measurements import Measurements, by_seed, markdown_table
from roambus.experiments.studies.study import Study, StudySweep
from roambus.spark.metrics import catalogue as c

CONFIG, SPEED = "config", "speed"
"""The axes: sizes, and speeds in m/s."""
LARGEST, CUT_SPEED = "C32", "8"
"""The size of figures over speed, and the speed (m/s) of those over size, which is that of the thesis' figures."""


MFT, MFT_TUNED, AODV, AODV_TUNED = "mft", "mft-tuned", "aodv", "aodv-tuned"
FLOODING, GOSSIP = "flooding", "gossip"

_MFT_DELIVERS, _AODV_DELIVERS, _STANDING_DELIVERS = 0.99, 0.95, 0.999
_MFT_DELAY_S, _MFT_MESSAGES = 1.0, 1.5
_QUARTER = 0.25
_AS_GOOD = -0.005
"""A delivery rate that is less than half a point lower is not worse."""


_AT_LARGEST = {CONFIG: (LARGEST,), SPEED: (CUT_SPEED,)}


def _no_worse(tuned: str, usual: str) -> Parts:
    """The claim that the tuned profile delivers no less at every size but the largest, at every speed."""
    better = difference(c.DELIVERY_RATE_ALL, {AGENT: tuned}, {AGENT: usual})
    bound = Bound(f"{{config}}, {{speed}} m/s: delivered of all, {tuned} minus {usual}", better, Side.ABOVE, _AS_GOOD)

    def parts(measured: Measurements) -> Iterable[Part]:
        smaller = [config for config in measured.values(CONFIG) if config != LARGEST]
        return at_each({CONFIG: smaller, SPEED: ()}, bound)(measured) if smaller else ()

    return parts


def _messages_over(agent: str, other: str, most: float) -> Bound:
    """Fewer messages a node than so many times the other's."""

    def ratio(measured: Measurements, place: Place) -> pd.Series[float]:
        own, others = (by_seed(measured, c.MESSAGES_PER_NODE, agent=one, **place) for one in (agent, other))
        return own / others

    return Bound(f"messages a node, {agent} over {other}", ratio, Side.BELOW, most)


def _gossip_saves(measured: Measurements) -> Iterator[Part]:
    both = {AGENT: GOSSIP}, {AGENT: FLOODING}
    fewer = Bound(
        "{config}: messages a node, gossip minus flooding", difference(c.MESSAGES_PER_NODE, *both), Side.BELOW
    )
    yield from at_each({CONFIG: (), SPEED: (CUT_SPEED,)}, fewer)(measured)
    as_good = Bound(
        "C32: delivered of all, gossip minus flooding", difference(c.DELIVERY_RATE_ALL, *both), Side.ABOVE, _AS_GOOD
    )
    yield from at_each(_AT_LARGEST, as_good)(measured)


MOVING_CLAIMS = (
    ClaimTest(
        "At C32 and 8 m/s MFT-PubSub tuned delivers all but 1 %, within a second, with half as many messages again as "
        "flooding at most.",
        "The delivery rate is above 0.99, the mean delay below 1 s, and messages a node are below 1.5 times those of "
        "flooding, which has one a notification.",
        at_each(
            _AT_LARGEST,
            Bound("delivered of all", value(c.DELIVERY_RATE_ALL, agent=MFT_TUNED), Side.ABOVE, _MFT_DELIVERS),
            Bound("mean delay (s)", value(c.DELAY_MEAN_S, agent=MFT_TUNED), Side.BELOW, _MFT_DELAY_S),
            _messages_over(MFT_TUNED, FLOODING, _MFT_MESSAGES),
        ),
    ),
    ClaimTest(
        "At C32 and 8 m/s MFT-PubSub tuned needs fewer messages than flooding.",
        "With equal seeds, its messages a node are fewer.",
        at_each(
            _AT_LARGEST,
            Bound(
                "messages a node, mft-tuned minus flooding",
                difference(c.MESSAGES_PER_NODE, {AGENT: MFT_TUNED}, {AGENT: FLOODING}),
                Side.BELOW,
            ),
        ),
    ),
    ClaimTest(
        "At C32 and 8 m/s AODV tuned delivers all but 5 %, with a quarter of the messages.",
        "The delivery rate is above 0.95; with equal seeds, messages a node are under a quarter of the other's.",
        at_each(
            _AT_LARGEST,
            Bound("delivered of all", value(c.DELIVERY_RATE_ALL, agent=AODV_TUNED), Side.ABOVE, _AODV_DELIVERS),
            _messages_over(AODV_TUNED, AODV, _QUARTER),
        ),
    ),
    ClaimTest(
        "In smaller networks MFT-PubSub tuned delivers no less than with the thesis' profile.",
        "At every size but C32 and every speed, with equal seeds, its delivery rate is less than 0.005 lower.",
        _no_worse(MFT_TUNED, MFT),
    ),
    ClaimTest(
        "In smaller networks AODV tuned delivers no less than with the thesis' profile.",
        "At every size but C32 and every speed, with equal seeds, its delivery rate is less than 0.005 lower.",
        _no_worse(AODV_TUNED, AODV),
    ),
    ClaimTest(
        "Gossip saves messages at every size, and at C32 delivers no less than flooding.",
        "At 8 m/s, with equal seeds, messages a node are fewer; at C32 the delivery rate is less than 0.005 lower.",
        _gossip_saves,
    ),
)
STATIC_CLAIMS = (
    ClaimTest(
        "Where nothing moves, MFT-PubSub tuned delivers all at C16, and nothing migrates after the first minute.",
        "In the 140 s after the first minute, the delivery rate is above 0.999, and a run has less than one migration.",
        at_each(
            {CONFIG: ("C16",)},
            Bound("delivered of all", value(c.DELIVERY_RATE_ALL, agent=MFT_TUNED), Side.ABOVE, _STANDING_DELIVERS),
            Bound("migrations after the first minute", value(c.MIGRATIONS, agent=MFT_TUNED), Side.BELOW, 1.0),
        ),
    ),
)


ONLY, WITHOUT, TUNED = "only-", "without-", "tuned"
_SHOWN = (c.DELIVERY_RATE_ALL, c.MESSAGES_PER_NODE, c.DELAY_MEAN_S)


def change_plans(measured: Measurements, protocol: str) -> Iterator[Plan]:
    """For each metric two figures over sizes: each change alone, and each left out, beside both profiles."""
    for metric in _SHOWN:
        for prefix, words in ((ONLY, "each change alone"), (WITHOUT, "each change left out")):
            lines = [
                Line(agent.removeprefix(prefix), {AGENT: agent})
                for agent in measured.agents
                if agent.startswith(prefix) or agent in _profiles(measured)
            ]
            name = slug(f"{protocol}-{prefix}{metric}")
            yield Plan(name, f"{protocol.upper()}, {words}: {measured.title(metric)}", metric, CONFIG, lines)


def change_tables(protocol: str, measured: Measurements) -> Mapping[str, str]:
    """A table a size, with a row for both profiles, and then one for each change: alone, and left out."""
    parts = (f"## {config}\n\n{_table(measured, config)}" for config in measured.values(CONFIG))
    return {f"{protocol}-changes.md": "\n".join(parts)}


def _table(measured: Measurements, config: str) -> str:
    titles = [measured.title(metric) for metric in _SHOWN]
    head = ["change", *(f"{title}, alone" for title in titles), *(f"{title}, left out" for title in titles)]
    profiles = _profiles(measured)
    rows = [[name, *_cells(measured, config, name), *[""] * len(_SHOWN)] for name in profiles]
    rows += [
        [change, *_cells(measured, config, ONLY + change), *_cells(measured, config, WITHOUT + change)]
        for change in dict.fromkeys(agent.removeprefix(ONLY).removeprefix(WITHOUT) for agent in measured.agents)
        if change not in profiles
    ]
    return markdown_table(head, rows)


def _profiles(measured: Measurements) -> list[str]:
    return [agent for agent in measured.agents if not agent.startswith((ONLY, WITHOUT))]


def _cells(measured: Measurements, config: str, agent: str) -> list[str]:
    return [measured.cell(metric, config=config, agent=agent) for metric in _SHOWN]


_METRICS = (c.DELIVERY_RATE_ALL, c.MESSAGES_PER_NODE, c.DELAY_MEAN_S, c.HOPS_MEAN, c.ENERGY_PER_NODE_MJ)
_SHORT = {"time_limit": "120", "publish_until": "80"}
"""Of quick runs, in s: enough for a tree and for routes."""


def moving_plans(measured: Measurements) -> Iterator[Plan]:
    """Each metric over sizes at the thesis' speed, and over speeds at the largest size."""
    speed, config = cut(measured, SPEED, CUT_SPEED), cut(measured, CONFIG, LARGEST)
    for metric in _METRICS:
        name, title = slug(metric), measured.title(metric)
        by_size, by_speed = agent_lines(measured, {SPEED: speed}), agent_lines(measured, {CONFIG: config})
        yield Plan(f"{name}-by-size", f"{title} at {speed} m/s", metric, CONFIG, by_size)
        yield Plan(f"{name}-by-speed", f"{title} at {config}", metric, SPEED, by_speed)


STUDY = Study(
    name="tuned",
    title="Protocols made for a slow channel",
    source="docs/tuned.md",
    sweeps=(
        StudySweep(
            "tuned",
            moving_plans,
            MOVING_CLAIMS,
            quick={"config": "C2,C8", "speed": "2,8", **_SHORT},
            quick_seeds=2,
        ),
        StudySweep(
            "tuned-static",
            # The migrations, too: there are some all the same.
            plans_over(CONFIG, (*_METRICS, c.MIGRATIONS), "static-{metric}", "{title}, nothing moves"),
            STATIC_CLAIMS,
            quick={"config": "C16", **_SHORT},
            quick_seeds=2,
        ),
        *(
            StudySweep(
                f"tuned-{protocol}-changes",
                partial(change_plans, protocol=protocol),
                tables=partial(change_tables, protocol),
                quick_seeds=1,
            )
            for protocol in ("mft", "aodv")
        ),
    ),
    notes=(
        "The delivery rate is that over all that was wanted, which is the same denominator for every protocol. How the "
        "tuned profiles are derived is said in docs/tuned.md. In the static sweep the first minute is left out. "
        "Runs take 200 s, or 120 s for the ablations, where the thesis has 700 s: the study has to end within an hour.",
    ),
)
