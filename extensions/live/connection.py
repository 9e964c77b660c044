"""The connection between a conductor and live nodes: questions, answers, keys and clocks.

The conductor's DEALER asks, the node's ROUTER answers: JSON objects with binary data. Answers repeat the question's
number, which reveals late ones. CURVE encrypts and authenticates both ends (ZeroMQ RFC 26); a node admits one key.

No clock is set. The fastest of several clock readings counts; its error is at most half its round trip (Cristian,
"Probabilistic clock synchronization", 1989).
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

from roambus.bridge.backends.castalia.zeromq import Admission, CurveKeys, make_identities_unpredictable
from roambus.bridge.system.errors import AgentError, BackendError, RoambusError, UserError
from roambus.extensions.live.answers import invalid_field
from roambus.extensions.live.udp_backend import Attend
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import MILLISECOND

PROTOCOL = 1
"""The version of the protocol between conductor and nodes."""
MOST_BYTES = 64 * 2**20
"""No message is longer."""
REACH_S = 5.0
"""Time to answer, between two events of an agent."""
BEAT_S = 0.25
"""Time between two state requests."""
PROBES = 20
"""Clock readings for a comparison; the best of 20 is hardly better."""
MOST_ERROR = 5 * MILLISECOND
"""A larger clock error makes delays, some milliseconds a hop, meaningless."""

HANDSHAKE_MS = 2000
"""Connections without a key by then are closed: strangers hold no descriptors."""

Answer = tuple[dict[str, Any], bytes]
"""An answer's fields, and the data behind them."""


def pack(fields: Mapping[str, Any], *blobs: bytes) -> list[bytes]:
    """The ZeroMQ parts of a message."""
    return [json.dumps(fields).encode(), *blobs]


def unpack(parts: Sequence[bytes]) -> tuple[dict[str, Any], list[bytes]]:
    """The fields and the data behind them; raises ValueError for a malformed message."""
    try:
        fields = json.loads(parts[0])
    except (IndexError, RecursionError):
        raise ValueError("no message") from None
    if not isinstance(fields, dict):
        raise ValueError("no message")
    return fields, list(parts[1:])


# The node's end


class Listener(Attend):
    """The node's end: it passes questions to `answer`.

    It shares the air's wait: one thread, and no interrupted agent.
    """

    def __init__(self, endpoint: str, keys: CurveKeys, answer: Callable[[dict[str, Any], list[bytes]], Answer]) -> None:
        """Bind the socket; raises UserError for an address in use or foreign."""
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
        """ZeroMQ's, which are edge-triggered: `hear` has to take everything."""
        return [int(socket.getsockopt(zmq.FD)) for socket in (self._socket, self._admission.questions)]

    def hear(self) -> None:
        """Answer all questions and drop other messages, without waiting."""
        while int(self._admission.questions.getsockopt(zmq.EVENTS)) & zmq.POLLIN:
            self._admission.answer()
        while int(self._socket.getsockopt(zmq.EVENTS)) & zmq.POLLIN:
            who, *parts = self._socket.recv_multipart()
            with suppress(ValueError, zmq.Again):
                fields, blob = self._answer(*unpack(parts))
                self._socket.send_multipart([who, *pack(fields, blob)], zmq.DONTWAIT)

    def wait(self, seconds: float) -> None:
        """Wait at most so long for a question."""
        zmq.select([self._socket, self._admission.questions], [], [], seconds)

    def close(self) -> None:
        """Close the connection; a pending answer still goes out."""
        self._resources.close()


def _configure(socket: Any) -> None:
    """Bound the queue and the message length, at both ends."""
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
    """A node's clock offset from the conductor's, and its error, in ns."""

    offset: int = 0
    error: int = 2**62

    def look(self, asked: int, answered: int, heard: int) -> None:
        """Use an answer: `asked` and `heard` are conductor times, `told` is the node's."""
        if (heard - asked) // 2 < self.error:
            self.error, self.offset = (heard - asked) // 2, answered - (asked + heard) // 2


@dataclass(slots=True)
class Peer:
    """A node as its conductor knows it."""

    node: NodeId
    endpoint: str
    socket: Any
    monitor: Any
    """Reports the connection's state."""
    session: str = ""
    """The session of the last answer."""
    state: str = ""
    clock: Clock = field(default_factory=Clock)
    incarnation: int = 0
    """Restarts of the node during the run."""
    heard_at: float = 0.0
    """The last answer's time by this machine's monotonic clock."""
    is_down: bool = False
    """Whether its process has died, and no other one is in the run."""
    is_silent: bool = False
    """Whether it has not answered for a while; it may go on."""
    counts: dict[str, int] = field(default_factory=dict)
    """The counts of its last process, once off the air."""

    is_connected: bool = False
    """Whether there ever was a connection."""

    def lost_connection(self) -> bool:
        """Return whether the connection broke since the last call."""
        is_lost = False
        while self.monitor.poll(0):
            is_open = recv_monitor_message(self.monitor)["event"] == zmq.EVENT_CONNECTED
            self.is_connected |= is_open
            is_lost |= not is_open
        return is_lost

    @property
    def is_there(self) -> bool:
        """Whether it answers."""
        return not (self.is_down or self.is_silent)

    @property
    def name(self) -> str:
        """The node's name in messages, with its address on another machine."""
        return f"node {self.node} ({self.endpoint})" if self.endpoint.startswith("tcp") else f"node {self.node}"


class UnreachableError(BackendError):
    """A named node does not answer: it is absent or has other keys."""


class Peers:
    """The connections to all nodes, as a context manager.

    The conductor interprets the answers and keeps the state in each `Peer`.
    """

    def __init__(self, endpoints: Sequence[str], keys: CurveKeys) -> None:
        """Begin to connect to all; the first question shows whether they are there."""
        self._token, self._numbers, self._next_beat = secrets.token_hex(8), count(), 0.0
        with ExitStack() as stack:
            context = stack.enter_context(zmq.Context(1))
            self.all = [_connected(stack, context, node, endpoint, keys) for node, endpoint in enumerate(endpoints)]
            self._resources = stack.pop_all()

    def __enter__(self) -> Peers:
        return self

    def __exit__(self, *_: object) -> None:
        """Take all nodes off the air, however the run ended."""
        with suppress(zmq.ZMQError):
            for peer in self.all:
                self.ask(peer, "end")
        self._resources.close()

    def ask(
        self, peer: Peer, what: str, fields: Mapping[str, Any] = MappingProxyType({}), blobs: Sequence[bytes] = ()
    ) -> int:
        """Ask a node; return the number of the question."""
        number = next(self._numbers)
        with suppress(zmq.Again):  # so much waits for a node that is gone that one question more makes no difference
            question = {"ask": what, "conductor": self._token, "number": number, **fields}
            peer.socket.send_multipart(pack(question, *blobs), zmq.DONTWAIT)
        return number

    def hear(self, peer: Peer) -> Answer | None:
        """A pending answer; raises RoambusError for a refusal or an invalid answer."""
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
        """The answers of these nodes, asked at once; raises UnreachableError for late ones.

        Polls all others, so that they do not assume a dead conductor.
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
        """Ask all nodes for their state, if it is time."""
        if time.monotonic() >= self._next_beat:
            self._next_beat = time.monotonic() + BEAT_S
            for peer in self.all:
                self.ask(peer, "status")

    def compare_clocks(self, peers: Sequence[Peer]) -> None:
        """Compare clocks, one node at a time; raises BackendError if inaccurate."""
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
    """A poller for answers of these nodes."""
    poller = zmq.Poller()
    for peer in peers:
        poller.register(peer.socket, zmq.POLLIN)
    return poller


def error_of(code: int, text: str) -> RoambusError:
    """A node's error as the conductor's, with the same exit code."""
    if code == AgentError.exit_code:
        return AgentError(text, 0, 0, "")
    return UserError(text) if code == UserError.exit_code else BackendError(text)


def _connected(
    stack: ExitStack, context: zmq.Context[zmq.Socket[bytes]], node: NodeId, endpoint: str, keys: CurveKeys
) -> Peer:
    """A node to which connecting is retried until it succeeds."""
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
    """The error for silent nodes: names the first and counts the others."""
    first = peers[0]
    first.lost_connection()
    more = f"; so {'is' if len(peers) == 2 else 'are'} {len(peers) - 1} more" if len(peers) > 1 else ""
    if first.is_connected and not first.session:
        return UnreachableError(
            f"{first.name} refuses the connection: its file of machines has other keys, or it is not a node{more}"
        )
    return UnreachableError(f"{first.name} is unreachable: it has not answered for {within_s:g} s{more}")
