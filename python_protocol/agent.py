"""Agents: the process of one node, which is what a protocol is written as.

An agent is told events and answers with actions: time comes with each event, randomness from the generator that it
was given, and there is no I/O and no other clock. The same events give the same actions, which is what makes a run
repeatable and an agent testable.

`handle` is the boundary to whoever runs the agent, a back-end or a test. It calls the handlers that the class has under
`@on` and `@on_timer` (`process`), and returns what they collected.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Mapping
from random import Random
from typing import Any, ClassVar

from roambus.python_protocol.actions import Action
from roambus.python_protocol.events import Event, Received
from roambus.python_protocol.listing import Listing
from roambus.python_protocol.messages.message import MessageSet
from roambus.python_protocol.messages.names import Names
from roambus.python_protocol.parameters import Parameters
from roambus.python_protocol.process import Process, heard_by
from roambus.python_protocol.refusals import check_answer
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.simtime import SimTime


class Agent(Process):
    """Base of every protocol; a subclass has handlers, and names its parameters and what else it sends."""

    parameters: Any
    """What can be set, as a subclass declares it: `parameters: GossipParameters`."""
    parameters_type: ClassVar[type[Any]] = Parameters
    """The class of the parameters, which follows from that declaration."""
    messages: ClassVar[MessageSet] = MessageSet(())
    """Everything that the agent sends: the messages that it handles, and others that a subclass lists here."""
    needs_sites: ClassVar[bool] = False
    """Whether the scenario must give sites (the event `Sited`)."""

    def __init_subclass__(cls, **about: Any) -> None:
        super().__init_subclass__(**about)
        cls.messages = MessageSet([*cls.messages, *heard_by(cls)])
        declared = inspect.get_annotations(cls).get("parameters")
        if declared is not None:
            cls.parameters_type = _class_of(declared, cls.__module__)

    def __init__(self, node: NodeId, roles: Role, parameters: Any, random: Random) -> None:
        """`random` is seeded from the run's seed and the node; there must be no other source of chance."""
        super().__init__()
        self.node = node
        self.roles = roles
        self.parameters = parameters
        self.random = random

    def handle(self, event: Event, now: SimTime) -> Iterable[Action]:
        """Reacts to an event at simulator time `now`; the actions take effect in their order."""
        if type(event) is Received:  # nearly all events: the same as `tell`, in one step
            if (handler := self.handlers.get(type(message := event.message))) is not None:
                if (answer := handler(self, message, event.sender, now)) is not None:
                    check_answer(handler, answer)
            elif (handler := self.handlers.get(Received)) and (answer := handler(self, event, now)) is not None:
                check_answer(handler, answer)
        else:
            self.tell(event, now)
        if not (collected := self._actions):
            return ()
        actions = collected.copy()  # the same as `take`
        collected.clear()
        return actions

    def listings(self, names: Names) -> Mapping[str, Listing]:  # not all agents have any
        """The tables of the agent's state that a transcript can show, by name: "table" for the routing table."""
        return {}


def _class_of(annotation: Any, module: str) -> Any:
    """The class that an annotation names, which is a text where annotations are not evaluated."""
    return getattr(sys.modules[module], annotation) if isinstance(annotation, str) else annotation
