"""The connection between a conductor and the nodes of a live run: questions, answers, keys, and clocks.

The conductor asks and a node answers, by its ROUTER to the conductor's DEALER. A message is a JSON object with binary
data behind it; the number of a question comes back in its answer, so that a late answer is not taken for another one.
CURVE encrypts both ways, and each side proves that it has the secret of its key (ZeroMQ's RFC 26); a node admits one
key. A connection without answers means other keys, no connection means no node.

No clock is set. The conductor asks for a node's time several times and takes the fastest answer, whose error is at most
half of its round trip (Cristian, "Probabilistic clock synchronization", 1989).
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from itertools import count
from types import MappingProxyType
from typing import Any

import zmq
from zmq.utils.monitor import recv_monitor_message

from roambus.bridge.backends.castalia.endpoint import CurveKeys
from roambus.bridge.backends.castalia.zeromq import Admission, make_identities_unpredictable
from roambus.bridge.errors import AgentError, BackendError, RoambusError, UserError
from roambus.bridge.live.air import Attend
from roambus.bridge.live.answers import invalid_field
from roambus.python_protocol.vocabulary import MILLISECOND, NodeId

PROTOCOL = 1
"""The version of what conductor and nodes say to each other."""
MOST_BYTES = 64 * 2**20
"""No message is longer."""
REACH_S = 5.0
"""How long a node may take to answer: it is on the air meanwhile, and answers between two events of its agent."""
BEAT_S = 0.25
"""Time between two requests for a node's state."""
PROBES = 20
"""Readings of a clock for a comparison; the best of 20 is hardly better than the best of ten."""
MOST_ERROR = 5 * MILLISECOND
"""Clocks that cannot be compared better make delays that mean nothing, which are some milliseconds a hop."""

HANDSHAKE_MS = 2000
"""A connection that has not shown a key by then is closed: strangers hold no descriptors."""

Answer = tuple[dict[str, Any], bytes]
"""The fields of an answer, and what comes behind them."""


def pack(fields: Mapping[str, Any], *blobs: bytes) -> list[bytes]:
    """A message as the parts that ZeroMQ sends."""
    return [json.dumps(fields).encode(), *blobs]


def unpack(parts: Sequence[bytes]) -> tuple[dict[str, Any], list[bytes]]:
    """The fields and what comes behind them; raises ValueError for what is not a message."""
    try:
        fields = json.loads(parts[0])
    except (IndexError, RecursionError):
        raise ValueError("no message") from None
    if not isinstance(fields, dict):
        raise ValueError("no message")
    return fields, list(parts[1:])


# The node's end


class Listener(Attend):
    """The node's end: it hears what a conductor asks, and has `answer` answer.

    It is heard in the same wait as the air, so that a node has one thread and an agent is never interrupted.
    """

    def __init__(self, endpoint: str, keys: CurveKeys, answer: Callable[[dict[str, Any], list[bytes]], Answer]) -> None:
        """Binds the socket; raises UserError if the address is in use, or not this machine's."""
        self._answer = answer
        with ExitStack() as stack:
            make_identities_unpredictable()
            context = stack.enter_context(zmq.Context(1))
            self._admission = Admission(context, keys)
            stack.callback(self._admission.questions.close)
            self._socket = stack.enter_context(context.socket(zmq.ROUTER))
            self._socket.curve_secretkey = keys.server_secret.encode()
            self._socket.curve_publickey = keys.server_public.encode()
            self._socket.curve_server = True
            self._socket.setsockopt(zmq.ZAP_DOMAIN, b"roambus")
            _configure(self._socket)
            try:
                self._socket.bind(endpoint)
            except zmq.ZMQError as error:
                raise UserError(f"{endpoint}: cannot hear a conductor there: {error}") from None
            self._resources = stack.pop_all()

    def descriptors(self) -> Sequence[int]:
        """ZeroMQ's. They say only once that something has changed, so that `hear` has to take all that there is."""
        return [int(one.getsockopt(zmq.FD)) for one in (self._socket, self._admission.questions)]

    def hear(self) -> None:
        """Answers everything that was asked; what is not a question is dropped, and nobody is waited for."""
        while int(self._admission.questions.getsockopt(zmq.EVENTS)) & zmq.POLLIN:
            self._admission.answer()
        while int(self._socket.getsockopt(zmq.EVENTS)) & zmq.POLLIN:
            who, *parts = self._socket.recv_multipart()
            with suppress(ValueError, zmq.Again):
                fields, blob = self._answer(*unpack(parts))
                self._socket.send_multipart([who, *pack(fields, blob)], zmq.DONTWAIT)

    def wait(self, seconds: float) -> None:
        """Waits for a question, not longer than that."""
        zmq.select([self._socket, self._admission.questions], [], [], seconds)

    def close(self) -> None:
        """Ends the connection; an answer that was given just now still goes out."""
        self._resources.close()


def _configure(socket: Any) -> None:
    """What both ends have: bounds on what may wait to be sent, and on how long a message is."""
    options = {
        zmq.LINGER: 300,
        zmq.IPV6: 1,
        zmq.MAXMSGSIZE: MOST_BYTES,
        zmq.HANDSHAKE_IVL: HANDSHAKE_MS,
        zmq.BACKLOG: 64,
    }
    for option, value in options.items():
        socket.setsockopt(option, value)


# The conductor's end


@dataclass(slots=True)
class Clock:
    """A node's clock against the conductor's: what it shows more, and by how much that can be wrong, in ns."""

    offset: int = 0
    error: int = 2**62

    def look(self, asked: int, told: int, heard: int) -> None:
        """Takes an answer into account; `asked` and `heard` are the conductor's times, and `told` is the node's."""
        if (heard - asked) // 2 < self.error:
            self.error, self.offset = (heard - asked) // 2, told - (asked + heard) // 2


@dataclass(slots=True)
class Peer:
    """A node as its conductor knows it: how it is asked, and what it has said."""

    node: NodeId
    endpoint: str
    socket: Any
    monitor: Any
    """It tells whether there is a connection at all."""
    session: str = ""
    """The session of the process that has answered last."""
    state: str = ""
    clock: Clock = field(default_factory=Clock)
    incarnation: int = 0
    """How often the node was started again during the run."""
    heard_at: float = 0.0
    """When it answered last, by the monotonic clock of this machine."""
    is_down: bool = False
    counts: dict[str, int] = field(default_factory=dict)
    """What its last process has counted, once that has left the air."""

    is_connected: bool = False
    """Whether there ever was a connection."""

    def lost_connection(self) -> bool:
        """Take note of the connection's events; whether it broke since this was asked last."""
        is_lost = False
        while self.monitor.poll(0):
            is_open = recv_monitor_message(self.monitor)["event"] == zmq.EVENT_CONNECTED
            self.is_connected |= is_open
            is_lost |= not is_open
        return is_lost

    @property
    def name(self) -> str:
        """The node, and on another machine its address, for messages."""
        return f"node {self.node} ({self.endpoint})" if self.endpoint.startswith("tcp") else f"node {self.node}"


class UnreachableError(BackendError):
    """A node does not answer: the message names it, and says whether it is not there or has other keys."""


class Peers:
    """All nodes of a run; as a context manager it leaves no connection behind.

    It only asks and listens. The conductor interprets the answers, and keeps the state in each `Peer`.
    """

    def __init__(self, endpoints: Sequence[str], keys: CurveKeys) -> None:
        """Begins to connect to all of them; whether anybody is there shows in the first question."""
        self._token, self._numbers, self._next_beat = secrets.token_hex(8), count(), 0.0
        with ExitStack() as stack:
            context = stack.enter_context(zmq.Context(1))
            self.all = [_connected(stack, context, node, one, keys) for node, one in enumerate(endpoints)]
            self._resources = stack.pop_all()

    def __enter__(self) -> Peers:
        return self

    def __exit__(self, *_: object) -> None:
        """Has all nodes leave the air, whatever has ended the run."""
        with suppress(zmq.ZMQError):
            for peer in self.all:
                self.ask(peer, "end")
        self._resources.close()

    def ask(
        self, peer: Peer, what: str, fields: Mapping[str, Any] = MappingProxyType({}), blobs: Sequence[bytes] = ()
    ) -> int:
        """Asks a node, and returns the number by which the answer is known."""
        number = next(self._numbers)
        with suppress(zmq.Again):  # so much waits for a node that is gone that one question more makes no difference
            question = {"ask": what, "conductor": self._token, "number": number, **fields}
            peer.socket.send_multipart(pack(question, *blobs), zmq.DONTWAIT)
        return number

    def hear(self, peer: Peer) -> Answer | None:
        """An answer that is there; raises RoambusError for a refusal, and for what is no answer of this node."""
        try:
            fields, blobs = unpack(peer.socket.recv_multipart(zmq.DONTWAIT))
        except zmq.Again:
            return None
        except ValueError:
            raise BackendError(f"{peer.name} sent an invalid answer") from None
        if (wrong := invalid_field(fields)) is not None:
            raise BackendError(f"{peer.name} sent an invalid answer: {wrong[:64]!r} is missing or wrong")
        if fields["node"] != peer.node:
            raise UserError(f"{peer.name} says that it is node {fields['node']}: look at its --id")
        if "refused" in fields:
            raise error_of(fields["code"], f"{peer.name}: {fields['refused']}")
        return fields, blobs[0] if blobs else b""

    def ask_all(
        self,
        what: str,
        fields: Callable[[Peer], Mapping[str, Any]],
        within_s: float,
        peers: Sequence[Peer],
        blobs: Sequence[bytes] = (),
    ) -> dict[NodeId, Answer]:
        """The answers of these nodes, who are all asked at once; raises UnreachableError for who gives none in time.

        Meanwhile it asks all others for their state, so that they do not assume that the conductor is dead.
        """
        waiting = {peer.node: (peer, self.ask(peer, what, fields(peer), blobs)) for peer in peers}
        answers: dict[NodeId, Answer] = {}
        give_up = time.monotonic() + within_s
        poller = poller_of(peers)
        while waiting:
            self.beat()
            is_late = time.monotonic() > give_up  # what came while this process stood still is heard all the same
            poller.poll(0 if is_late else 50)
            for peer, number in list(waiting.values()):
                while peer.node in waiting and (heard := self.hear(peer)) is not None:
                    if heard[0]["number"] == number:
                        answers[peer.node] = heard
                        del waiting[peer.node]
            if is_late and waiting:
                raise _unreachable([peer for peer, _ in waiting.values()], within_s)
            for peer, _ in waiting.values():
                if peer.session and peer.lost_connection():
                    raise UnreachableError(f"{peer.name} is gone: its process ended before it had answered {what!r}")
        return answers

    def ask_one(self, what: str, fields: Mapping[str, Any], peer: Peer) -> Answer:
        """The answer of one node."""
        return self.ask_all(what, lambda _: fields, REACH_S, [peer])[peer.node]

    def beat(self) -> None:
        """Asks all nodes for their state if it is time; who hears the answers takes note of them."""
        if time.monotonic() >= self._next_beat:
            self._next_beat = time.monotonic() + BEAT_S
            for peer in self.all:
                self.ask(peer, "status")

    def compare_clocks(self, peers: Sequence[Peer]) -> None:
        """Compares the clocks of these nodes; raises BackendError for one with which that is not possible.

        It is one node after the other, so that no answer waits for another one to be read.
        """
        for peer in peers:
            peer.clock = Clock()
            for _ in range(PROBES):
                asked = time.monotonic_ns()
                answer, _ = self.ask_one("status", {}, peer)
                peer.clock.look(asked, answer["clock"], time.monotonic_ns())
            if peer.clock.error > MOST_ERROR:
                raise BackendError(
                    f"{peer.name}: its clock cannot be compared better than to {peer.clock.error / 1e6:.1f} ms, and "
                    f"{MOST_ERROR / 1e6:g} ms are allowed: the network, or a machine, is too slow"
                )


def poller_of(peers: Sequence[Peer]) -> zmq.Poller:
    """What waits for an answer of any of these nodes."""
    poller = zmq.Poller()
    for peer in peers:
        poller.register(peer.socket, zmq.POLLIN)
    return poller


def error_of(code: int, text: str) -> RoambusError:
    """The error of a node as one of the conductor's, with the same exit code: whose mistake it is stays the same."""
    if code == AgentError.exit_code:
        return AgentError(text, 0, 0, "")
    return UserError(text) if code == UserError.exit_code else BackendError(text)


def _connected(
    stack: ExitStack, context: zmq.Context[zmq.Socket[bytes]], node: NodeId, endpoint: str, keys: CurveKeys
) -> Peer:
    """A node to which a connection is made, again and again until there is one."""
    made = stack.enter_context(context.socket(zmq.DEALER))
    made.curve_serverkey = keys.server_public.encode()
    made.curve_publickey = keys.client_public.encode()
    made.curve_secretkey = keys.client_secret.encode()
    made.setsockopt(zmq.RECONNECT_IVL, 50)
    made.setsockopt(zmq.RECONNECT_IVL_MAX, 500)
    _configure(made)
    monitor = made.get_monitor_socket(zmq.EVENT_CONNECTED | zmq.EVENT_DISCONNECTED)
    stack.callback(monitor.close)
    stack.callback(made.disable_monitor)
    made.connect(endpoint)
    return Peer(node, endpoint, made, monitor)


def _unreachable(peers: Sequence[Peer], within_s: float) -> UnreachableError:
    """The error for nodes that have not answered: the first is named, and the others are counted."""
    first = peers[0]
    first.lost_connection()
    more = f"; so {'is' if len(peers) == 2 else 'are'} {len(peers) - 1} more" if len(peers) > 1 else ""
    if first.is_connected and not first.session:
        return UnreachableError(
            f"{first.name} refuses the connection: its file of machines has other keys, or it is not a node{more}"
        )
    return UnreachableError(f"{first.name} is unreachable: it has not answered for {within_s:g} s{more}")
