"""The agents of a sweep, replaced on the command line: `--agents "mft,aodv profile=tuned,./mine.py rate=2"`.

Each agent is a name, module:Class or file.py[:Class], with its parameters after blanks, as in transcripts. A name that
the sweep has for one of its own agents means that one, and parameters are then set beside those that it has there.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from roambus.bridge.errors import UserError
from roambus.experiments.sweeps.sweep import AgentChoice, Sweep, validate

_OPTION = "--agents"
_NO_FOLDER_NAME = re.compile(r"[^\w.+-]")


def with_agents(sweep: Sweep, text: str) -> Sweep:
    """The sweep with the agents that the text names in place of its own; raises UserError."""
    chosen = [_choice(sweep, *item.split()) for item in _items(text)]
    labels = [choice.label for choice in chosen]
    for label in labels:
        if labels.count(label) > 1:
            raise UserError(f"{_OPTION}: {label} is there twice")
    changed = dataclasses.replace(sweep, agents=tuple(chosen))
    validate(changed)
    return changed


def _items(text: str) -> Iterator[str]:
    for item in text.split(","):
        if not item.strip():
            raise UserError(f'{_OPTION} "{text}": write agents with commas between, such as mft,./mine.py')
        yield item


def _choice(sweep: Sweep, name: str, *settings: str) -> AgentChoice:
    own = next((choice for choice in sweep.agents if choice.label == name), AgentChoice(_label(name), name))
    if not settings:
        return own
    given = dict(_parameters(name, settings))
    label = "+".join([own.label, *(_NO_FOLDER_NAME.sub("-", f"{key}-{value}") for key, value in given.items())])
    return AgentChoice(label, own.agent, tuple(sorted({**dict(own.parameters), **given}.items())))


def _label(agent: str) -> str:
    """What results call an agent: its name, or that of its file or class."""
    if agent.endswith(".py"):
        return Path(agent).stem
    return agent.rpartition(":")[2]


def _parameters(name: str, settings: Sequence[str]) -> Iterator[tuple[str, str]]:
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not (key and equals):
            raise UserError(f"{_OPTION}: {name} {setting}: write parameters as NAME=VALUE, with blanks between")
        yield key, value
