"""What a trace says of itself: the metadata of its file tell what it is a trace of, without any other file.

Each key begins with `roambus.`. Texts stand as they are, all else as JSON. The same run has the same metadata wherever
and whenever it is made: they hold no time, no name of a machine, and no folder.

A reader can come from another version: keys that are not known are passed over, and without all that are known nothing
is said at all, in place of half. `settings` has every variable, also those with their defaults: defaults change with
versions.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

RUN_KEY = "roambus.run_key"
"""The name of the run's key (`roambus.bridge.runs.identity`)."""
WARM_UP = "roambus.warm_up_s"
"""The name of the time (s) before which nothing counts in metrics; without it all counts."""
NO_TEMPLATE = "none: made from an ini"
"""Stands in place of the template's name."""
LIVE_RUNS = "live"
"""Stands in place of the back-end's name in traces of live runs, whose nodes have one each."""
LONGEST = 65536
"""A value of more characters is left out, and its place says so."""
_PREFIX = "roambus."


@dataclass(frozen=True, slots=True)
class About:
    """What a trace is a trace of; each field is a key of the metadata, and a type is that of its JSON."""

    agent: str
    """As the run was given it; of an agent in a file, the name of the file."""
    parameters: dict[str, str]
    """Every parameter of the agent with its value, as an ini has it."""
    node_parameters: dict[str, dict[str, str]]
    """By number, the nodes that have other values, and these."""
    template: str
    settings: dict[str, Any]
    """Every variable of the template with its value; values of files are their names."""
    seed: int
    level: str
    backend: str
    simulator: str
    """What the back-end calls itself; of Castalia with the release of OMNeT++."""
    version: str
    """That of roambus, and the commit if it was run from a repository."""

    def metadata(self) -> dict[str, str]:
        """What the file holds."""
        return {f"{_PREFIX}{one.name}": _bounded(getattr(self, one.name)) for one in fields(self)}

    def describe(self) -> str:
        """Three lines for people, in which nothing stands that a terminal would not print: a trace can be foreign."""
        others = f"; {len(self.node_parameters)} nodes have others" if self.node_parameters else ""
        simulator = "" if self.simulator == self.backend else f" ({self.simulator})"
        lines = (
            f"agent {self.agent}: {_listed(self.parameters)}{others}",
            f"template {self.template}: {_listed(self.settings)}",
            f"seed {self.seed}, level {self.level}, back-end {self.backend}{simulator}, made by {self.version}",
        )
        return "\n".join(line if line.isprintable() else ascii(line) for line in lines)


def _listed(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items()) or "nothing to set"


def _bounded(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    if len(text) <= LONGEST:
        return text
    left_out = f"{len(text)} characters"
    return f"left out: {left_out}" if isinstance(value, str) else json.dumps({"left out": left_out})


def read_metadata(metadata: Mapping[str, str]) -> About | None:
    """What the metadata of a file say; None if they do not, as those of an earlier version.

    Raises ValueError for what no trace has there: a file can be a stranger's.
    """
    values: dict[str, Any] = {}
    for one in fields(About):
        text = metadata.get(f"{_PREFIX}{one.name}")
        if text is None:
            return None
        if len(text) > LONGEST:
            raise ValueError(f"its {one.name} is longer than any")
        values[one.name] = text if one.type == "str" else _parsed(one.name, text, int if one.type == "int" else dict)
    return About(**values)


def _parsed(name: str, text: str, kind: type[Any]) -> Any:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if type(value) is not kind:
        raise ValueError(f"its {name} is none")
    return value
