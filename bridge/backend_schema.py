"""The schema of what a back-end answers: Hello, Step and Totals, each value with its type and range."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any, NoReturn

from roambus.bridge.backend import (
    DEATHS,
    Delivery,
    Failure,
    Framing,
    Hello,
    LocalNode,
    Move,
    NodeInfo,
    Overhearing,
    Step,
    Totals,
)
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import BROADCAST
from roambus.python_protocol.simtime import SimTime, format_time

SLOWEST, FASTEST = 0.5, 2.0
"""The rates of clocks that a crystal, however bad, can have."""
MOST_BYTES = 65535
MOST_NODES = 65535
GREATEST = 2**63 - 1
"""The greatest count."""
FARTHEST_M = 1e9


class AnswerError(ValueError):
    """An answer that does not fit the schema; the message says which."""


def check_hello(hello: Any) -> None:
    """Raise AnswerError for a Hello that a run cannot begin with."""
    _is(hello, Hello, "open returned")
    _text(hello.simulator, "its name for itself")
    _whole(hello.time_limit, "its time limit", 1, GREATEST)
    _whole(hello.processing_delay, "its processing delay", 0, hello.time_limit)
    nodes = _list(hello.nodes, "its Hello's nodes")
    if not 0 < len(nodes) <= MOST_NODES:
        _refuse(f"its Hello has {len(nodes)} nodes")
    for node, info in enumerate(nodes):
        _is(info, NodeInfo, f"its Hello has for node {node}")
        _whole(info.start, f"the start of node {node}", 0, GREATEST)
        _number(info.clock_rate, f"the clock rate of node {node}", SLOWEST, FASTEST)
    if hello.framing is not None:
        _is(hello.framing, Framing, "its framing is")
        for name, value in hello.framing._asdict().items():
            _whole(value, f"{name} of its framing", 0, GREATEST if name == "bits_per_second" else MOST_BYTES)
    if hello.own is not None:
        _is(hello.own, LocalNode, "its own node is")
        Schema(len(nodes), hello.time_limit).check_node(hello.own.node, "its own node is")
        _whole(hello.own.since, "the start of its own node", 0, GREATEST)
    for name in ("take_note", "steer"):
        if (given := getattr(hello, name)) is not None and not callable(given):
            _refuse(f"{name} is {given!r:.40}, which cannot be called")


class Schema:
    """That of answers to a run with so many nodes and this time limit."""

    def __init__(self, nodes: int, limit: SimTime) -> None:
        self._nodes, self._limit = nodes, limit
        self._last_moves: dict[int, SimTime] = {}
        """The time of each node's last move."""

    def check_step(self, step: Any) -> None:
        """Raise AnswerError for a Step with anything that cannot be."""
        _is(step, Step, "advance returned")
        if type(step.now) is not int:
            _refuse(f"a Step is at {step.now!r:.40}, which is no time in ns")
        for delivery in _list(step.deliveries, "its deliveries"):
            _is(delivery, Delivery, "it delivers")
            self._check_delivery(delivery)
        for failure in _list(step.failures, "its failures"):
            self._check_failure(failure)
        for node in _list(step.deaths, "its deaths"):
            self.check_node(node, "it tells of the death of")
        self._check_moves(step.moves, GREATEST)
        for overhearing in _list(step.overheard, "what it overhears"):
            _is(overhearing, Overhearing, "it overhears")
            receiver, sender, destination, message, rssi, lqi = overhearing
            self._check_delivery(Delivery(receiver, sender, message, rssi, lqi))
            self.check_node(destination, "it overhears a frame for")

    def _check_delivery(self, delivery: Delivery) -> None:
        receiver, sender, message, rssi, lqi = delivery
        if not (self._has(receiver) and self._has(sender)):
            _refuse(f"it delivers from node {sender!r:.20} to node {receiver!r:.20}")
        if not isinstance(message, Message):
            _refuse(f"it delivers {message!r:.40}, which is no message")
        _number(rssi, "the signal of a delivery")
        _number(lqi, "the quality of a delivery")

    def _check_failure(self, failure: Any) -> None:
        _is(failure, Failure, "it tells of the failure")
        if not self._has(failure.node):
            _refuse(f"a transmission of node {failure.node!r:.20} failed")
        if failure.destination != BROADCAST:
            self.check_node(failure.destination, "a transmission failed to")
        if not isinstance(failure.message, Message):
            _refuse(f"{failure.message!r:.40} failed, which is no message")
        _text(failure.reason, "the reason of a failure")

    def check_totals(self, totals: Any) -> None:
        """Raise AnswerError for Totals that no trace can hold."""
        _is(totals, Totals, "close returned")
        if not isinstance(totals.counts, dict):
            _refuse(f"its counts are {totals.counts!r:.40}, and not by name")
        for name, values in totals.counts.items():
            _text(name, "the name of a count")
            most = self._limit if name == DEATHS else GREATEST
            for value in self._each(values, f"the count {name}"):
                _whole(value, f"the count {name}", 0, most)
        if len(_list(totals.energy_mj, "its energy_mj")):
            for value in self._each(totals.energy_mj, "its energy_mj"):
                _number(value, "the energy of a node", 0)
        self._last_moves.clear()  # all ways come once more, from their beginning
        self._check_moves(totals.moves, self._limit)

    def _each(self, values: Any, what: str) -> Sequence[Any]:
        if len(_list(values, what)) != self._nodes:
            _refuse(f"{what} has {len(values)} values for {self._nodes} nodes")
        found: Sequence[Any] = values
        return found

    def _check_moves(self, moves: Any, latest: SimTime) -> None:
        for move in _list(moves, "its moves"):
            _is(move, Move, "it moves")
            self.check_node(move.node, "it moves")
            _whole(move.time, f"the time of a move of node {move.node}", 0, latest)
            for place in (move.x, move.y):
                _number(place, f"the place of node {move.node}", -FARTHEST_M, FARTHEST_M)
            if move.time < self._last_moves.setdefault(move.node, move.time):
                _refuse(f"node {move.node} moves back to {format_time(move.time)}")
            self._last_moves[move.node] = move.time

    def _has(self, node: Any) -> bool:
        return type(node) is int and 0 <= node < self._nodes

    def check_node(self, node: Any, what: str) -> None:
        """Raise AnswerError for anything but the number of a node."""
        if not self._has(node):
            _refuse(f"{what} node {node!r:.20}, and the nodes are 0 to {self._nodes - 1}")


def _refuse(problem: str) -> NoReturn:
    raise AnswerError(problem)


def _is(value: Any, kind: type[Any], what: str) -> None:
    if not isinstance(value, kind):
        _refuse(f"{what} {value!r:.80}, which is no {kind.__name__}")


def _list(values: Any, what: str) -> Sequence[Any]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable) or not hasattr(values, "__len__"):
        _refuse(f"{what} are {values!r:.40}, which is no list")
    found: Sequence[Any] = values  # type: ignore[assignment]  # arrays of NumPy are lists, too
    return found


def _text(value: Any, what: str) -> None:
    if not isinstance(value, str) or not value.isprintable() or not value:
        _refuse(f"{what} is {value!a:.40}, which is no printable text")


def _whole(value: Any, what: str, least: int, most: int) -> None:
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_whole or not least <= int(value) <= most:
        _refuse(f"{what} is {value!r:.40}, which is no whole number from {least} to {most}")


def _number(value: Any, what: str, least: float = -math.inf, most: float = math.inf) -> None:
    is_number = isinstance(value, int | float) or hasattr(value, "__float__")
    if not is_number or isinstance(value, bool | str) or not (math.isfinite(value) and least <= value <= most):
        within = f" from {least:g} to {most:g}" if (least, most) != (-math.inf, math.inf) else ""
        _refuse(f"{what} is {value!r:.40}, which is no number{within}")
