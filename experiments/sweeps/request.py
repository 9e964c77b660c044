"""What a user asks for: a sweep, template or study by name, with settings, agents, seeds and parameters of their own.

The command line and the Python interface both build a `Request`. It is read once, into a `Sweep`; whatever makes runs
knows only that.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from roambus.bridge.agents import silently
from roambus.experiments.inventory import TEMPLATE_SUFFIX
from roambus.experiments.sweeps.selection import (
    is_template,
    override,
    same_labels,
    sweep_of,
    with_agents,
    with_parameters,
)
from roambus.experiments.sweeps.sweep import AgentChoice, Sweep, first_seeds
from roambus.experiments.sweeps.sweep_file import read_sweep
from roambus.experiments.templates.template import find_template

_NO_AGENT = "no agent is named: beacon runs, which sends without delivering anything (name yours with --agents)"
_NOT_IN_A_FOLDER = re.compile(r"[^\w.+-]+")


@dataclass(frozen=True, slots=True)
class Request:
    """The name of a sweep, template or study, or its path; the rest chooses or replaces what that has."""

    name: str
    settings: Mapping[str, str] = field(default_factory=dict)
    """Values of variables, and named settings; several have commas between."""
    agents: str | Sequence[str] | None = None
    """As in `with_agents`."""
    seeds: int | str | None = None
    """How many, or a range such as 3..12."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    """Values of agents' parameters, as AGENT.NAME or NAME."""
    remark: Callable[[str], None] = silently
    """Says what the user may not expect."""

    @property
    def stem(self) -> str:
        """The name without folder and suffix."""
        return Path(self.name.removesuffix(TEMPLATE_SUFFIX)).stem

    def sweep(self) -> Sweep:
        """Return the sweep of that name, or a template's; raise UserError."""
        return self.of_template("roambus sweep") if is_template(self.name) else self.of(read_sweep(self.name))

    def of(self, sweep: Sweep, small: Mapping[str, str] | None = None, small_seeds: int | None = None) -> Sweep:
        """Return the requested part of a sweep; `small` and `small_seeds` are defaults. Raise UserError."""
        seeds = first_seeds(sweep, small_seeds) if self.seeds is None else self.seeds
        chosen = override(sweep, {**(small or {}), **self.settings}, seeds)
        if self.agents is not None:
            own, chosen = chosen, with_agents(chosen, self.agents)
            for line in same_labels(own, chosen):
                self.remark(line)
        return with_parameters(chosen, self.parameters)

    def of_template(self, source: str) -> Sweep:
        """Return the template's sweep, with an axis for each setting; `source` is for messages. Raise UserError."""
        if self.agents is None:
            self.remark(_NO_AGENT)
        axes = {name: text.split(",") for name, text in self.settings.items()}
        sweep = sweep_of(source, find_template(self.name), AgentChoice("beacon", "beacon"), axes)
        return dataclasses.replace(self, settings={}).of(dataclasses.replace(sweep, name=self.stem))

    def single(self, source: str, agent: str, seed: int) -> Sweep:
        """Return a sweep of one run: settings are axes of one value, and the agent gets a name for folders."""
        label = _NOT_IN_A_FOLDER.sub("-", agent).strip("-")
        choice = AgentChoice(label, agent, tuple(sorted(self.parameters.items())))
        settings = {name: [text] for name, text in self.settings.items()}
        return sweep_of(source, find_template(self.name), choice, settings, seed)
