"""Carriers that tests make and speak to."""

from random import Random

from roambus.python_protocol.actions import Send
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import Received
from roambus.python_protocol.filters import Notification, NotificationId
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.settings import Parameters
from roambus.python_protocol.simtime import SimTime

NEWS = Notification(NotificationId(7, 1), (("topic", "news"),), 10)


def make(kind: type[Agent], parameters: Parameters | None = None) -> Agent:
    return kind(0, Role.NONE, parameters or kind.parameters_type(), Random(1))


def hear(agent: Agent, message: Message, sender: NodeId = 3, now: SimTime = 0) -> list[object]:
    return list(agent.handle(Received(sender, message, -70.0, 20.0), now))


def sent(agent: Agent, message: Message, sender: NodeId = 3, now: SimTime = 0) -> list[Message]:
    """The messages that a message causes."""
    return [action.message for action in hear(agent, message, sender, now) if isinstance(action, Send)]
