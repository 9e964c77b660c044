"""The study of LoRa meshes: delivery, delay, airtime and energy over nodes, load, modem, movement and interest.

One thing varies at a time around a base: a hundred static nodes with LongFast on 10 km x 10 km. Nodes and load vary
together, for the question of when managed flooding collapses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from roambus.bridge.runs.layout import AGENT
from roambus.experiments.claims import ClaimTest
from roambus.experiments.figures.figure import Line, Plan, agent_lines, slug
from roambus.experiments.measurements import Measurements, point_table_file
from roambus.experiments.studies.study import Study, StudySweep
from roambus.extensions.lora.study import claims as c
from roambus.extensions.lora.study.metrics import AIRTIME_S, LORA, TRANSMISSIONS, UTILISATION
from roambus.spark.metrics.catalogue import DELAY_MEAN_S, DELIVERY_RATE_ALL, ENERGY_PER_NODE_MJ, HOPS_MEAN

_SHOWN = {
    "delivery": DELIVERY_RATE_ALL,
    "delay": DELAY_MEAN_S,
    "airtime": AIRTIME_S,
    "utilisation": UTILISATION,
    "energy": ENERGY_PER_NODE_MJ,
}
"""The metrics of figures by the words in their names."""
_TABLED = (*_SHOWN.values(), TRANSMISSIONS, HOPS_MEAN)
Plans = Callable[[Measurements], Iterator[Plan]]
_PER_MINUTE = "notifications a minute"


def field_plans(measured: Measurements) -> Iterator[Plan]:
    """Plan each metric over the nodes at each load, and each agent's delivery over the load."""
    yield from over_axis("load", c.NODES, c.LOAD)(measured)
    for agent in measured.agents:
        title = f"{measured.heading(DELIVERY_RATE_ALL)}: {measured.agent_name(agent)}"
        lines = [Line(f"{nodes} nodes", {AGENT: agent, c.NODES: nodes}) for nodes in measured.values(c.NODES)]
        yield Plan(f"delivery-{slug(agent)}", title, DELIVERY_RATE_ALL, c.LOAD, lines, x_title=_PER_MINUTE)


def over_axis(name: str, axis: str, cut: str = "", x_title: str = "") -> Plans:
    """Return a function that plans each metric over an axis, for each value of another one if there is a cut."""

    def plans(measured: Measurements) -> Iterator[Plan]:
        for value in measured.values(cut) if cut else ("",):
            end, at = (f"-{slug(value)}", f": {measured.at(cut, value)}") if cut else ("", "")
            lines = agent_lines(measured, {cut: value} if cut else {})
            for word, metric in _SHOWN.items():
                yield Plan(
                    f"{word}-{name}{end}", f"{measured.heading(metric)}{at}", metric, axis, lines, x_title=x_title
                )

    return plans


def _sweep(name: str, plans: Plans, claims: Sequence[ClaimTest], **quick: str) -> StudySweep:
    """Return a sweep with the metrics and the table of all; in the quick version runs are short, with two seeds."""
    short = {"publish_until": "300", "time_limit": "400"} if "time_limit" not in quick else {}
    return StudySweep(
        name,
        plans,
        claims,
        extra=LORA,
        tables=point_table_file(f"{name}.md", _TABLED),
        quick={**short, **quick},
        quick_seeds=2,
    )


_WARM = {"warm_up": "1000", "publish_start": "1000", "publish_until": "1300", "time_limit": "1400"}

STUDY = Study(
    name="lora",
    title="Meshes over LoRa",
    source="extensions/lora",
    sweeps=(
        _sweep("lora", field_plans, c.CLAIMS, nodes="30,100", load="1,10"),
        _sweep("lora-more", over_axis("over-load", c.LOAD, x_title=_PER_MINUTE), c.MORE_CLAIMS, load="3,30"),
        _sweep("lora-agents", over_axis("agents", c.LOAD, x_title=_PER_MINUTE), c.AGENT_CLAIMS, load="1,10", **_WARM),
        _sweep("lora-presets", over_axis("modem", c.MODEM, c.LOAD), c.PRESET_CLAIMS, load="1,30"),
        _sweep("lora-speed", over_axis("speed", c.MOVEMENT), c.SPEED_CLAIMS, **_WARM),
        _sweep("lora-hops", over_axis("side", c.SIDE, x_title="side of the field (m)"), c.HOP_CLAIMS),
        _sweep(
            "lora-interest",
            over_axis("interest", c.INTEREST, x_title="share of the nodes that want it"),
            c.INTEREST_CLAIMS,
            interest="0.03,1",
            **_WARM,
        ),
    ),
    notes=(
        "Nodes stand anywhere in a square of 10 km. Each publishes, and wants everything that others publish. The base "
        "is a hundred static nodes with Meshtastic's modem LongFast, an SX1262 at 14 dBm, channel activity detection, "
        "and Hata's path loss of a small city with a shadowing of 6 dB; a frame of a notification is on the air for "
        "0.6 s. Agents other than managed flooding have the times of LoRa, scaled by airtime.",
    ),
)
