"""What a mobility model is: settings with their keys, and the way-points that follow from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self

from roambus.bridge.keys import EVERY_NODE, keys_of
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.settings import Range, Setting
from roambus.python_protocol.simtime import SimTime

if TYPE_CHECKING:  # the command line lists models, and does not wait for NumPy
    import numpy as np

PREFIX = f"SN.{EVERY_NODE}.MobilityManager."
UPDATE, SPEED = PREFIX + "updateInterval", PREFIX + "speed"
UPDATES = "between two updates of the node's place in the channel"
SPEEDS = Range(above=0, at_most=1e4)


class WayPoint(NamedTuple):
    """The node is at (x, y) metres at `time_s`."""

    time_s: float
    x: float
    y: float


class NodesOfIni(Protocol):
    """The questions of a model to an ini; every method raises UserError, with the line of the key."""

    def build(self, settings: type[Any], node: NodeId, **others: Any) -> Any:
        """Return settings with the node's values of their keys."""

    def point(self, x: Setting, y: Setting, node: NodeId) -> tuple[float, float]:
        """Return the node's values of two keys, which must lie in the field."""

    def refuse(self, wrong: object, key: Setting, problem: str, node: NodeId) -> None:
        """Report a problem of the node's key if it is wrong."""

    def way(self, node: NodeId) -> tuple[WayPoint, ...]:
        """Return the node's way in its movement file."""


@dataclass(frozen=True, slots=True)
class Mobility:
    """A mobility model. This one stays where it starts."""

    FURTHER_KEYS: ClassVar[tuple[Setting, ...]] = ()
    """Keys beside those of its fields."""

    @property
    def update_interval(self) -> SimTime:
        """The time between two updates of the node's place in the channel; 0 for a node that stays."""
        return 0

    @classmethod
    def keys(cls) -> tuple[Setting, ...]:
        """Return all keys of the model."""
        return (*keys_of(cls), *cls.FURTHER_KEYS)

    @classmethod
    def read(cls, ini: NodesOfIni, node: NodeId) -> Self:
        """Return the model of a node as the ini has it; raise UserError."""
        built: Self = ini.build(cls, node)
        return built

    def onward(self, start: WayPoint, field_m: tuple[float, float], random: np.random.Generator) -> Iterator[WayPoint]:
        """Return the way-points after the start, endless unless the node comes to rest."""
        del start, field_m, random
        return iter(())
