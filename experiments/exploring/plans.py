"""What can be done in a world, and what a command comes to in it: worked out once for each world."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from roambus.bridge.transcript.commands import Command
from roambus.experiments.exploring.doing import do
from roambus.experiments.exploring.nodes import Nodes
from roambus.experiments.exploring.numbering import Numbering
from roambus.experiments.exploring.parts import Worlds, used
from roambus.experiments.exploring.rules import Do, Rules, Step
from roambus.experiments.exploring.symmetry import automorphisms, representatives
from roambus.experiments.exploring.world import World
from roambus.python_protocol.roles import NodeId


class Plan(NamedTuple):
    """What a command comes to in one world: the next world, the numbers of the events that are told, and the step."""

    world: int
    before: tuple[tuple[NodeId, int], ...]
    after: tuple[tuple[NodeId, int], ...]
    step: int
    cuts: bool
    """Whether links may have gone."""
    when_quiet: bool
    """Whether it may be given only while nothing is under way."""


class Plans:
    """Knows the commands of each world."""

    def __init__(self, rules: Rules, nodes: Nodes, worlds: Worlds, steps: Numbering[Step]) -> None:
        self._rules = rules
        self._nodes = nodes
        self._worlds = worlds
        self._steps = steps
        self._known: dict[int, list[Plan]] = {}

    def of(self, number: int) -> list[Plan]:
        """What can be done in the world of that number."""
        found = self._known.get(number)
        if found is None:
            world = self._worlds[number]
            allowed = (place for place in range(len(self._rules.may)) if world.left[place])
            found = [self.plan(number, one, place) for place in allowed for one in self._options(place, world)]
            self._known[number] = found
        return found

    def plan(self, number: int, command: Command, may: int | None) -> Plan:
        """What a command comes to, which the line at that place allows, or no line has to."""
        world, number_of = self._worlds[number], self._nodes.events.number
        told = do(command, world, self._rules.brokers)
        after = replace(told.world if may is None else used(told.world, may), calm=0)
        if not self._rules.history:
            after = replace(after, published=())
        return Plan(
            self._worlds.number(after),
            tuple((node, number_of(event)) for node, event in told.before),
            tuple((node, number_of(event)) for node, event in told.after),
            self._steps.number(Do(command, -1 if may is None else may)),
            not world.edges <= after.edges,
            may is not None and self._rules.may[may].when_quiet,
        )

    def _options(self, place: int, world: World) -> Iterable[Command]:
        """The commands that a line allows; of alike ones at the beginning only one."""
        options = self._rules.may[place].options(world)
        if not self._rules.alike or world.left != tuple(one.times for one in self._rules.may):
            return options
        return representatives(options, automorphisms(world, self._rules.alike))
