"""Checks an agent's class before it is run, so that a mistake is told by its name and not by a traceback in a run."""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from roambus.bridge.errors import UserError
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.parameters import describe_parameters


def check_agent(reference: str, agent: type[Agent]) -> None:
    """Raises UserError, saying what to do, if its parameters cannot be used."""
    parameters: Any = agent.parameters_type
    if not (isinstance(parameters, type) and is_dataclass(parameters)):
        name = getattr(parameters, "__name__", "NAME")
        raise UserError(
            f"agent {reference!r}: {name} is no class of parameters: write class {name}(Parameters), "
            f"with Parameters from roambus"
        )
    for field in fields(parameters):
        if field.default is MISSING:
            hint = f"write {field.name}: TYPE = parameter(DEFAULT, ...)"
            raise UserError(f"agent {reference!r}: parameter {field.name} has no default: {hint}")
    try:
        parameters()
        describe_parameters(parameters)
    except (ArithmeticError, TypeError, ValueError) as error:
        raise UserError(f"agent {reference!r}: the defaults of {parameters.__name__} do not work: {error}") from None
