"""The evaluation of MFT-PubSub against AODV, section 4.5 of the thesis: figures 4.4 to 4.8 with intervals.

Figures are over sizes at 8 m/s and over speeds at C16, as in the thesis; a sweep without one is cut at its last, and
the title says so. Figure 4.4 has two rates: of the attempted (the thesis), and of the expected, which is the same for
every protocol. In a quick study publishing ends at the same share of the run.
"""

from __future__ import annotations

from collections.abc import Iterator
from string import ascii_lowercase

from roambus.bridge.runs.layout import AGENT
from roambus.experiments.figures.figure import Line, Plan, agent_lines, cut, slug
from roambus.experiments.measurements import Measurements
from roambus.experiments.studies.study import Study, StudySweep
from roambus.experiments.studies.thesis.claims import (
    CONFIG,
    FURTHER_CLAIMS,
    SPEED,
    STAND_INS,
    THESIS_CLAIMS,
    THESIS_CONFIG,
    THESIS_SPEED,
)
from roambus.experiments.studies.thesis.metrics import ACKNOWLEDGING
from roambus.spark.metrics import catalogue

_ROLES = {
    "brokers": catalogue.MESSAGES_PER_BROKER,
    "subscribers": catalogue.MESSAGES_PER_SUBSCRIBER,
    "publishers": catalogue.MESSAGES_PER_PUBLISHER,
}


def thesis_plans(measured: Measurements) -> Iterator[Plan]:
    """Figures 4.4 to 4.8, then messages by role and energy, which the thesis lacks."""
    speed, config = cut(measured, SPEED, THESIS_SPEED), cut(measured, CONFIG, THESIS_CONFIG)
    at_speed = f"at {speed} m/s" + ("" if speed == THESIS_SPEED else f" (in the thesis: {THESIS_SPEED} m/s)")
    at_config = f"at {config}" + ("" if config == THESIS_CONFIG else f" (in the thesis: {THESIS_CONFIG})")
    by_config, by_speed = agent_lines(measured, {SPEED: speed}), agent_lines(measured, {CONFIG: config})
    yield from _delivery_rates(measured, catalogue.DELIVERY_RATE_THESIS, "")
    yield from _delivery_rates(measured, catalogue.DELIVERY_RATE_ALL, "-all")
    for number, metric, at, x, lines in (
        ("4.5a", catalogue.DELIVERED, at_speed, CONFIG, by_config),
        ("4.5b", catalogue.DELIVERED, at_config, SPEED, by_speed),
        ("4.6", catalogue.DELAY_MEAN_S, at_speed, CONFIG, by_config),
        ("4.7a", catalogue.HOPS_MEAN, at_speed, CONFIG, by_config),
        ("4.7b", catalogue.HOPS_MAX, at_speed, CONFIG, by_config),
        ("4.8", catalogue.MESSAGES_PER_NODE, at_speed, CONFIG, by_config),
    ):
        yield Plan(f"figure-{number}", f"Figure {number}: {measured.title(metric)} {at}", metric, x, lines)
    for agent in measured.agents:  # a panel for each, and in it a line for each role
        lines = [Line(role, {AGENT: agent, SPEED: speed}, metric) for role, metric in _ROLES.items()]
        title = f"Messages per node by role, {measured.agent_name(agent)}, {at_speed}"
        yield Plan(f"messages-by-role-{slug(agent)}", title, catalogue.MESSAGES_PER_NODE, CONFIG, lines)
    yield Plan("energy-per-node", f"Energy per node {at_speed}", catalogue.ENERGY_PER_NODE_MJ, CONFIG, by_config)


def _delivery_rates(measured: Measurements, metric: str, suffix: str) -> Iterator[Plan]:
    for letter, agent in zip(ascii_lowercase, measured.agents, strict=False):
        number = f"Figure 4.4{letter}" if letter in "ab" else "As figure 4.4"
        title = f"{number}: {measured.title(metric)}, {measured.agent_name(agent)}"
        lines = [Line(f"{speed} m/s", {AGENT: agent, SPEED: speed}) for speed in measured.values(SPEED)]
        yield Plan(f"figure-4.4{letter}{suffix}", title, metric, CONFIG, lines)


# Publishing ends at 143 s: the thesis' 500 of 700 s, in proportion.
_QUICK = {"config": "C2,C4,C8", "speed": "2,8", "time_limit": "200", "publish_until": "143"}
_NOTE = (
    "Numbers are the thesis' own. Figure 4.4 comes twice: delivered of what the protocol began to deliver, as in "
    "the thesis, and delivered of all that was wanted, which is the same denominator for every protocol."
)

_TITLE = "MFT-PubSub and AODV, side by side"

STUDY = Study(
    name="thesis",
    title=_TITLE,
    source="the thesis",
    sweeps=(
        StudySweep(
            "thesis",
            thesis_plans,
            THESIS_CLAIMS,
            alike=("thesis-bare", "flooding"),
            stand_ins=STAND_INS,
            quick={AGENT: "mft,aodv", **_QUICK},
            quick_seeds=3,
        ),
    ),
    notes=(_NOTE,),
)
ACKNOWLEDGED = Study(
    name="thesis-acknowledged",
    source="the thesis",
    sweeps=(
        StudySweep(
            "thesis-acknowledged",
            thesis_plans,
            (*THESIS_CLAIMS, *FURTHER_CLAIMS),
            extra=ACKNOWLEDGING,
            quick=_QUICK,
            quick_seeds=3,
        ),
    ),
    notes=(_NOTE, "The MAC is IEEE 802.15.4, which acknowledges unicasts; no protocol retransmits by itself."),
)
"""The same evaluation on IEEE 802.15.4, whose MAC acknowledges unicasts: what it retransmits and gives up, too."""
