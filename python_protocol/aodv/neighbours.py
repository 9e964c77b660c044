"""The neighbours of a node: who was heard when (RFC 3561, section 6.9), and whose requests to ignore (6.8)."""

from __future__ import annotations

from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


class Neighbours:
    """A neighbour is watched for `watch_period` ns after its hello, and lost after `hello_timeout` ns of silence."""

    def __init__(self, hello_timeout: SimTime, watch_period: SimTime, blacklist_timeout: SimTime) -> None:
        self._hello_timeout = hello_timeout
        self._watch_period = watch_period
        self._blacklist_timeout = blacklist_timeout
        self._said_hello: dict[NodeId, SimTime] = {}
        self.heard: dict[NodeId, SimTime] = {}
        """When those that are watched were last heard."""
        self.blacklisted: dict[NodeId, SimTime] = {}
        """Until when RREQs from a neighbour are to be ignored; for some that may be over."""

    def hello(self, neighbour: NodeId, now: SimTime) -> None:
        """A hello came: from now on the neighbour is watched."""
        self.heard[neighbour] = self._said_hello[neighbour] = now

    def hear(self, neighbour: NodeId, now: SimTime) -> None:
        """Any other frame came: it counts as a sign of life of a neighbour that is watched."""
        if neighbour in self.heard:
            self.heard[neighbour] = now

    def forget(self, neighbour: NodeId) -> None:
        """The neighbour is lost: it is watched again after its next hello."""
        self.heard.pop(neighbour, None)

    def lost(self, now: SimTime) -> list[NodeId]:
        """Takes out the neighbours that have been silent for too long, in the order of their ids."""
        silent = sorted(node for node, heard in self.heard.items() if heard + self._hello_timeout <= now)
        for neighbour in silent:
            del self.heard[neighbour]
        # Section 6.9: only who said hello "within the past DELETE_PERIOD" is missed; others may have nothing to send.
        return [neighbour for neighbour in silent if self._said_hello[neighbour] + self._watch_period > now]

    def blacklist(self, neighbour: NodeId, now: SimTime) -> None:
        """A RREP did not reach the neighbour: its RREQs are ignored for a while."""
        self.blacklisted[neighbour] = now + self._blacklist_timeout
