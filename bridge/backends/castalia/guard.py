"""Guards the host's socket: whoever is not the run's simulator is shown out, and can use nothing up.

libzmq accepts everybody, and has no call that ends the connection of one peer. But its monitor names the file
descriptor of each connection, and a connection that is shut down by its descriptor ends like any other.

- Until the simulator has said hello nobody knows which connection is its own. Whoever waits longest is shown out when
  too many wait, and all are when they fill the memory. A simulator connects and says hello in one go.
- From then on there is one connection. A thread shows everybody else out as they come, whatever the host is doing.
"""

from __future__ import annotations

import os
import resource
import socket
from contextlib import suppress
from threading import Event, Thread
from typing import Any

import zmq
from zmq.utils.monitor import recv_monitor_message

from roambus.bridge.process import peak_memory_mib

TICK_MS = 100
"""A wait looks so often whether something has changed."""
SHARE = 4
"""One in so many of the file descriptors that the process may have is for those that wait."""
FLOOD_MIB = 512
"""So much memory is for what they say, which libzmq keeps until a message is whole."""

_EVENTS = zmq.EVENT_LISTENING | zmq.EVENT_ACCEPTED | zmq.EVENT_DISCONNECTED | zmq.EVENT_MONITOR_STOPPED


class Guard:
    """Knows the connections of a socket by its monitor; made before the socket is bound."""

    def __init__(self, guarded: zmq.Socket[bytes], most: int | None = None) -> None:
        """At `most` so many may wait; by itself, as many as their share of the file descriptors."""
        self.left = Event()
        """It is set as soon as the simulator's connection has ended."""
        self._guarded = guarded
        self.monitor = guarded.get_monitor_socket(_EVENTS)
        """It can be read when there is something to `look` at."""
        self._address: Any = None
        self._here: dict[int, None] = {}
        """The descriptors of all connections, in the order in which they came."""
        self._most = most or resource.getrlimit(resource.RLIMIT_NOFILE)[0] // SHARE
        self._memory_mib = peak_memory_mib()
        self._simulator: int | None = None
        self._thread: Thread | None = None

    def look(self) -> None:
        """Takes note of those who came and went, and shows out who is too many. Only before `keep_only`."""
        while self.monitor.poll(0):
            self._note(recv_monitor_message(self.monitor))
        for descriptor in list(self._here)[: max(0, len(self._here) - self._most)]:
            self._show_out(descriptor)
        if peak_memory_mib() > self._memory_mib + FLOOD_MIB:
            self._memory_mib = peak_memory_mib()
            self._show_out_all()

    def keep_only(self, descriptor: int) -> None:
        """Shows everybody out but the simulator, whose connection this is, now and from now on."""
        self.look()
        self._simulator = descriptor
        self._here.pop(descriptor, None)
        self._show_out_all()
        self._thread = Thread(target=self._watch, name="guard", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Ends the guard."""
        self._guarded.disable_monitor()
        if self._thread is not None:
            self._thread.join()
        self.monitor.close()

    def _watch(self) -> None:
        while True:
            event = recv_monitor_message(self.monitor)
            if event["event"] == zmq.EVENT_MONITOR_STOPPED:
                return
            self._note(event)
            if event["event"] == zmq.EVENT_ACCEPTED:
                self._show_out(event["value"])
            elif event["event"] == zmq.EVENT_DISCONNECTED and event["value"] == self._simulator:
                self._simulator = None
                self.left.set()

    def _note(self, event: Any) -> None:
        descriptor = event["value"]
        match event["event"]:
            case zmq.EVENT_LISTENING:
                self._address = _address(descriptor)
            case zmq.EVENT_ACCEPTED:
                self._here[descriptor] = None
            case zmq.EVENT_DISCONNECTED:
                self._here.pop(descriptor, None)

    def _show_out_all(self) -> None:
        for descriptor in list(self._here):
            self._show_out(descriptor)

    def _show_out(self, descriptor: int) -> None:
        """Shuts the connection down, unless it has ended and its descriptor is something else by now."""
        self._here.pop(descriptor, None)
        with suppress(OSError), socket.socket(fileno=os.dup(descriptor)) as connection:
            if connection.getsockname() == self._address:
                connection.shutdown(socket.SHUT_RDWR)


def _address(listener: int) -> Any:
    """The address that the connections of this listening socket have at our end."""
    with socket.socket(fileno=os.dup(listener)) as listening:
        return listening.getsockname()
