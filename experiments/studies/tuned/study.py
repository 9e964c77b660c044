"""The study of what holds on a slow channel: delivery, delay and messages over size and speed, and the ablations.

What the tuned profiles are to achieve, each with one precise reading that was fixed before the whole runs.

Delivery is that of all pairs that were wanted. Only runs of equal seeds are compared.

The ablations: what each change of a tuned profile does alone, and what its lack does, as figures and a table.

Where the study cuts through its sweeps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

import pandas as pd

from roambus.bridge.runs.layout import AGENT
from roambus.experiments.claims import ClaimTest, Part, Side, make_part
from roambus.experiments.figures.figure import Line, Plan, agent_lines, cut
from roambus.experiments.measurements import Measurements, by_seed, format_mean, markdown_table
from roambus.experiments.studies.study import Study, StudySweep
from roambus.spark.aggregation.aggregate import HALF_WIDTH, MEAN
from roambus.spark.metrics import catalogue as c

CONFIG, SPEED = "config", "speed"
"""The axes: sizes, and speeds in m/s."""
LARGEST, CUT_SPEED = "C32", "8"
"""The size of figures over speed, and the speed (m/s) of those over size, which is that of the thesis' figures."""


MFT, MFT_TUNED, AODV, AODV_TUNED = "mft", "mft-tuned", "aodv", "aodv-tuned"
FLOODING, GOSSIP = "flooding", "gossip"

_MFT_DELIVERS, _AODV_DELIVERS, _STANDING_DELIVERS = 0.99, 0.95, 0.999
_MFT_DELAY_S, _MFT_MESSAGES = 1.0, 1500.0
_QUARTER = 0.25
_AS_GOOD = -0.005
"""A delivery rate that is less than half a point lower is not worse."""


def _at(measured: Measurements, agent: str, metric: str, config: str, speed: str = CUT_SPEED) -> pd.Series[float]:
    return by_seed(measured, metric, agent=agent, **{CONFIG: config, SPEED: speed})


def _mft_holds(measured: Measurements) -> Iterator[Part]:
    for label, metric, side, threshold in (
        ("delivered of all", c.DELIVERY_RATE_ALL, Side.ABOVE, _MFT_DELIVERS),
        ("mean delay (s)", c.DELAY_MEAN_S, Side.BELOW, _MFT_DELAY_S),
        ("messages a node", c.MESSAGES_PER_NODE, Side.BELOW, _MFT_MESSAGES),
    ):
        yield make_part(label, _at(measured, MFT_TUNED, metric, LARGEST), side, threshold)


def _mft_beats_flooding(measured: Measurements) -> Iterator[Part]:
    tuned, flooding = (_at(measured, agent, c.MESSAGES_PER_NODE, LARGEST) for agent in (MFT_TUNED, FLOODING))
    yield make_part("messages a node, mft-tuned minus flooding", tuned - flooding, Side.BELOW)


def _aodv_holds(measured: Measurements) -> Iterator[Part]:
    yield make_part(
        "delivered of all", _at(measured, AODV_TUNED, c.DELIVERY_RATE_ALL, LARGEST), Side.ABOVE, _AODV_DELIVERS
    )
    tuned, usual = (_at(measured, agent, c.MESSAGES_PER_NODE, LARGEST) for agent in (AODV_TUNED, AODV))
    yield make_part("messages a node, aodv-tuned over aodv", tuned / usual, Side.BELOW, _QUARTER)


def _no_worse(agents: Sequence[tuple[str, str]], measured: Measurements) -> Iterator[Part]:
    for (tuned, usual), config in ((pair, one) for pair in agents for one in measured.values(CONFIG) if one != LARGEST):
        for speed in measured.values(SPEED):
            better, worse = (_at(measured, agent, c.DELIVERY_RATE_ALL, config, speed) for agent in (tuned, usual))
            label = f"{config}, {speed} m/s: delivered of all, {tuned} minus {usual}"
            yield make_part(label, better - worse, Side.ABOVE, _AS_GOOD)


def _mft_is_no_worse(measured: Measurements) -> Iterable[Part]:
    return _no_worse([(MFT_TUNED, MFT)], measured)


def _aodv_is_no_worse(measured: Measurements) -> Iterable[Part]:
    return _no_worse([(AODV_TUNED, AODV)], measured)


def _gossip_saves(measured: Measurements) -> Iterator[Part]:
    for config in measured.values(CONFIG):
        gossip, flooding = (_at(measured, agent, c.MESSAGES_PER_NODE, config) for agent in (GOSSIP, FLOODING))
        yield make_part(f"{config}: messages a node, gossip minus flooding", gossip - flooding, Side.BELOW)
    gossip, flooding = (_at(measured, agent, c.DELIVERY_RATE_ALL, LARGEST) for agent in (GOSSIP, FLOODING))
    yield make_part("C32: delivered of all, gossip minus flooding", gossip - flooding, Side.ABOVE, _AS_GOOD)


def _mft_stands(measured: Measurements) -> Iterator[Part]:
    rate = by_seed(measured, c.DELIVERY_RATE_ALL, agent=MFT_TUNED, **{CONFIG: "C16"})
    yield make_part("delivered of all", rate, Side.ABOVE, _STANDING_DELIVERS)
    migrations = by_seed(measured, c.MIGRATIONS, agent=MFT_TUNED, **{CONFIG: "C16"})
    yield make_part("migrations after the first minute", migrations, Side.BELOW, 1.0)


MOVING_CLAIMS = (
    ClaimTest(
        "At C32 and 8 m/s MFT-PubSub tuned delivers all but 1 %, within a second, with 1,500 messages a node.",
        "The delivery rate is above 0.99, the mean delay below 1 s, and messages a node are below 1,500.",
        _mft_holds,
    ),
    ClaimTest(
        "At C32 and 8 m/s MFT-PubSub tuned needs fewer messages than flooding.",
        "With equal seeds, its messages a node are fewer.",
        _mft_beats_flooding,
    ),
    ClaimTest(
        "At C32 and 8 m/s AODV tuned delivers all but 5 %, with a quarter of the messages.",
        "The delivery rate is above 0.95; with equal seeds, messages a node are under a quarter of the other's.",
        _aodv_holds,
    ),
    ClaimTest(
        "In smaller networks MFT-PubSub tuned delivers no less than with the thesis' profile.",
        "At every size but C32 and every speed, with equal seeds, its delivery rate is less than 0.005 lower.",
        _mft_is_no_worse,
    ),
    ClaimTest(
        "In smaller networks AODV tuned delivers no less than with the thesis' profile.",
        "At every size but C32 and every speed, with equal seeds, its delivery rate is less than 0.005 lower.",
        _aodv_is_no_worse,
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
        "Without the first minute, the delivery rate is above 0.999, and a run has less than one migration.",
        _mft_stands,
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
            name = f"{protocol}-{prefix.removesuffix('-')}-{metric}".replace("_", "-")
            yield Plan(name, f"{protocol.upper()}, {words}: {measured.title(metric)}", metric, CONFIG, lines)


def change_table(measured: Measurements) -> str:
    """A table a size, with a row for both profiles, and then one for each change: alone, and left out."""
    return "\n".join(f"## {config}\n\n{_table(measured, config)}" for config in measured.values(CONFIG))


def _table(measured: Measurements, config: str) -> str:
    titles = [measured.title(metric) for metric in _SHOWN]
    head = ["change", *(f"{title}, alone" for title in titles), *(f"{title}, left out" for title in titles)]
    rows = [[name, *_cells(measured, config, name), *[""] * len(_SHOWN)] for name in _profiles(measured)]
    for change in _changes(measured):
        alone, left_out = (_cells(measured, config, prefix + change) for prefix in (ONLY, WITHOUT))
        rows.append([change, *alone, *left_out])
    return markdown_table(head, rows)


def _profiles(measured: Measurements) -> list[str]:
    return [agent for agent in measured.agents if not agent.startswith((ONLY, WITHOUT))]


def _changes(measured: Measurements) -> list[str]:
    names = (agent.removeprefix(ONLY).removeprefix(WITHOUT) for agent in measured.agents)
    return [name for name in dict.fromkeys(names) if name not in _profiles(measured)]


def _cells(measured: Measurements, config: str, agent: str) -> Iterator[str]:
    """A text for each metric, empty where nothing was measured."""
    for metric in _SHOWN:
        point = measured.point(metric, **{CONFIG: config, AGENT: agent})
        yield "".join(format_mean(*pair) for pair in zip(point[MEAN], point[HALF_WIDTH], strict=True))


def tables_of(protocol: str, measured: Measurements) -> Mapping[str, str]:
    """The table as a file beside the figures."""
    return {f"{protocol}-changes.md": change_table(measured)}


_METRICS = (c.DELIVERY_RATE_ALL, c.MESSAGES_PER_NODE, c.DELAY_MEAN_S, c.HOPS_MEAN, c.ENERGY_PER_NODE_MJ)
_SHORT = {"time_limit": "120", "publish_until": "80"}
"""Of quick runs, in s: enough for a tree and for routes."""


def moving_plans(measured: Measurements) -> Iterator[Plan]:
    """Each metric over sizes at the thesis' speed, and over speeds at the largest size."""
    speed, config = cut(measured, SPEED, CUT_SPEED), cut(measured, CONFIG, LARGEST)
    for metric in _METRICS:
        name, title = metric.replace("_", "-"), measured.title(metric)
        by_size, by_speed = agent_lines(measured, {SPEED: speed}), agent_lines(measured, {CONFIG: config})
        yield Plan(f"{name}-by-size", f"{title} at {speed} m/s", metric, CONFIG, by_size)
        yield Plan(f"{name}-by-speed", f"{title} at {config}", metric, SPEED, by_speed)


def static_plans(measured: Measurements) -> Iterator[Plan]:
    """Each metric over sizes where nothing moves, and the migrations that there are all the same."""
    for metric in (*_METRICS, c.MIGRATIONS):
        name, title = metric.replace("_", "-"), measured.title(metric)
        yield Plan(f"static-{name}", f"{title}, nothing moves", metric, CONFIG, agent_lines(measured, {}))


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
            static_plans,
            STATIC_CLAIMS,
            quick={"config": "C16", **_SHORT},
            quick_seeds=2,
        ),
        *(
            StudySweep(
                f"tuned-{protocol}-changes",
                partial(change_plans, protocol=protocol),
                tables=partial(tables_of, protocol),
                quick={"config": "C16", **_SHORT},
                quick_seeds=2,
            )
            for protocol in ("mft", "aodv")
        ),
    ),
    notes=(
        "The delivery rate is that over all that was wanted, which is the same denominator for every protocol. How the "
        "tuned profiles are derived is said in docs/tuned.md. In the static sweep the first minute is left out.",
    ),
)
