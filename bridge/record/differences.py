"""Tells a person how what the host says differs from what a record has."""

from __future__ import annotations

from itertools import zip_longest

from roambus.bridge.wire.wire_pb2 import Reply, Send, ToSimulator, Welcome
from roambus.python_protocol.messages.bytes import DecodeError
from roambus.python_protocol.messages.message import MessageSet
from roambus.python_protocol.roles import BROADCAST
from roambus.python_protocol.simtime import format_time


def describe_difference(recorded: ToSimulator, now: ToSimulator, messages: MessageSet) -> tuple[str, str]:
    """The first thing that differs, as it was recorded and as it is now; `messages` decode the payloads."""
    match recorded.WhichOneof("body"), now.WhichOneof("body"):
        case "reply", "reply":
            return _replies(recorded.reply, now.reply, messages)
        case "welcome", "welcome":
            return _wake_up(recorded.welcome), _wake_up(now.welcome)
        case "failed", _:
            return f"the agent raised: {recorded.failed.reason}", "it did not raise"
        case kind, other:
            return f"{kind}", f"{other}"


def _replies(recorded: Reply, now: Reply, messages: MessageSet) -> tuple[str, str]:
    for before, after in zip_longest(recorded.sends, now.sends):
        if before != after:
            return _send(before, messages), _send(after, messages)
    return _wake_up(recorded), _wake_up(now)


def _send(send: Send | None, messages: MessageSet) -> str:
    if send is None:
        return "nothing more is sent"
    to = "all" if send.destination == BROADCAST else f"node {send.destination}"
    return f"node {send.node} sends to {to} at {format_time(send.time)}: {_message(send.payload, messages)}"


def _message(payload: bytes, messages: MessageSet) -> str:
    try:
        return str(messages.decode(payload))
    except DecodeError:
        return f"{len(payload)} bytes that are no message of this agent, {payload.hex(' ', -4)}"


def _wake_up(answer: Reply | Welcome) -> str:
    if not answer.HasField("wake_up"):
        return "nothing is due any more"
    return f"something is due next at {format_time(answer.wake_up)}"
