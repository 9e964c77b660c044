"""What a search is about, as labels by which what was kept of one can be told from what was kept of another."""

from __future__ import annotations

import inspect
from dataclasses import fields
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from roambus.bridge.agents.registry import agent_sources
from roambus.bridge.errors import UserError
from roambus.bridge.runs.code import code_hash
from roambus.experiments.exploring.exploration import Exploration
from roambus.experiments.exploring.scenario_file import Question

Labels = dict[str, str]

_MEANINGS = {
    "scenario": "another scenario, or other options",
    "agent": "an agent with other code",
    "properties": "properties with other code",
    "roambus": "another version of roambus",
}


def labels_of(exploration: Exploration) -> Labels:
    """The labels of a search; raises OSError."""
    beginning = exploration.beginning
    properties = {Path(inspect.getfile(one.check)) for one in beginning.question.must}
    own = sorted(Path(__file__).parent.glob("*.py"))
    overrides = sorted(beginning.overrides.parameters.items())
    return {
        "scenario": _hash(_text(beginning.question), beginning.overrides.agent, overrides, exploration.search.manner),
        "agent": code_hash(agent_sources(beginning.plan.agent_class)).hex(),
        "properties": _hash(*(file.read_bytes() for file in sorted(properties))),
        "roambus": _hash(version("roambus"), *(file.read_bytes() for file in own)),
    }


def check_labels(path: Path, kept: object, ours: Labels) -> None:
    """Raises UserError if what is kept at `path` is about something else."""
    found = kept if isinstance(kept, dict) else {}
    for name, label in ours.items():
        if found.get(name) != label:
            raise UserError(f"{path}: this was kept of {_MEANINGS[name]}; give another folder, or remove it")


def _text(question: Question) -> str:
    """All that a question says, but where its file lies, and comments."""
    head = [line.partition("#")[0].rstrip() for line in question.head]
    may = [text for _, text in question.may]
    names = [one.name for one in question.must]
    others = {one.name: getattr(question, one.name) for one in fields(question)}
    plain = {name: value for name, value in others.items() if name not in ("path", "head", "may", "must")}
    return repr(([line for line in head if line], may, names, sorted(plain.items())))


def _hash(*parts: object) -> str:
    digest = sha256()
    for part in parts:
        digest.update(sha256(part if isinstance(part, bytes) else repr(part).encode()).digest())
    return digest.hexdigest()
