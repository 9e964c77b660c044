"""A model of the embedded radio: a settings class that declares its keys, and names the module that computes.

Entry points name the classes (`models`).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

from roambus.bridge.keys import keys_of
from roambus.python_protocol.settings import Setting


class KeysOfIni(Protocol):
    """The questions of a model to an ini; every method raises UserError, with the line of the key."""

    def build(self, settings: type[Any]) -> Any:
        """Return settings with the values of their keys."""

    def file(self, key: Setting) -> Path:
        """Return the file that a key names."""

    def refuse(self, wrong: object, path: str, problem: str) -> None:
        """Report a problem of the key at a path if it is wrong."""


@dataclass(frozen=True, slots=True)
class Model:
    """The settings of all models: none."""

    MODULE: ClassVar[str]
    """The module that computes it."""
    FURTHER_KEYS: ClassVar[tuple[Setting, ...]] = ()
    """Keys beside those of its fields, such as a file's."""

    @classmethod
    def keys(cls) -> tuple[Setting, ...]:
        """Return all keys of the model."""
        return (*keys_of(cls), *cls.FURTHER_KEYS)

    @classmethod
    def read(cls, ini: KeysOfIni) -> Self:
        """Return the model as the ini has it; raise UserError."""
        built: Self = ini.build(cls)
        return built
