"""Says what a new agent can be called, and what else follows from its name."""

from __future__ import annotations

import importlib.util
import keyword
import re
import sys
from dataclasses import dataclass

from roambus.bridge.agents.registry import agent_names
from roambus.bridge.errors import UserError

LONGEST = 40

_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class AgentName:
    """The name of an agent, and of the distribution that brings it: "my-gossip"."""

    name: str

    @property
    def package(self) -> str:
        """The Python package: "my_gossip"."""
        return self.name.replace("-", "_")

    @property
    def class_name(self) -> str:
        """The agent's class: "MyGossip"."""
        return "".join(word.capitalize() for word in self.name.split("-"))

    @property
    def message_type(self) -> str:
        """What traces call its message: "MY-GOSSIP"."""
        return self.name.upper()


def read_name(text: str) -> AgentName:
    """Raises UserError for a name that is none, or that something else has already."""
    if _NAME.fullmatch(text) is None or len(text) > LONGEST:
        rule = f"small letters and digits, a letter first, - between words, at most {LONGEST}"
        raise UserError(f"{text!r} is no name for an agent: {rule}, such as my-gossip")
    name = AgentName(text)
    if text in agent_names():
        raise UserError(f"there is an agent {text!r} already: choose another name (roambus list agents has them)")
    if _is_taken(name.package):
        raise UserError(f"{name.package!r} is a word or a package of Python's here already: choose another name")
    return name


def _is_taken(package: str) -> bool:
    if keyword.iskeyword(package) or package in sys.stdlib_module_names:
        return True
    try:
        return importlib.util.find_spec(package) is not None
    except (ImportError, ValueError):  # a package that is there, but broken
        return True
