"""The runs that every agent must bear: the same nodes on ideal links, on the radio, and with large frames."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from roambus.bridge.ini import parse_scenario
from roambus.bridge.scenario.scenario import Scenario
from roambus.experiments.shipped import TEMPLATES
from roambus.experiments.templates.render import Values, render

TEMPLATE = Path(__file__).with_name("vet.ini.j2")
SEED = 1


@dataclass(frozen=True, slots=True)
class Scene:
    """A run: its back-end, and the payload of the first publisher in bytes; the two others' are `step` larger each."""

    name: str
    backend: str
    payload: int
    step: int

    def scenario(self, agent: str, parameters: str, *, sites: bool) -> Scenario:
        """The scenario of this scene; raises UserError."""
        run: Values = {"seed": SEED, "agent": agent, "agent_parameters": parameters}
        text = render(TEMPLATE, {**run, "sites": sites, "payload": self.payload, "step": self.step})
        return parse_scenario(text, TEMPLATE, TEMPLATES)


SCENES = (
    Scene("on ideal links", "ideal", 20, 0),
    Scene("on the radio", "radio", 20, 0),
    Scene("with frames at the size limit", "radio", 930, 40),
)
"""A notification with a payload of 930 to 1010 bytes makes frames of about 1024, the most that the radio sends."""
