"""The names of the trace rows that agents write by `Note`, and how a row lists nodes.

They stand here and not in `roambus.bridge.trace.schema`, which takes them from here, because agents run without what
analyses the trace.
"""

from __future__ import annotations

from collections.abc import Iterable

from roambus.python_protocol.roles import NodeId

ROUTE = "route"
"""The protocol begins to deliver a notification to the subscribers listed in `detail`, blanks between them."""
DROP = "drop"
"""A packet or notification is given up, and `detail` says why."""
MIGRATE = "migrate"
"""The node has another parent, which is `peer`, or it has none any more."""
STORE = "store"
"""A broker stores a notification for subscriber `peer`."""
REPLAY = "replay"
"""A broker sends a stored notification towards subscriber `peer`."""
CACHE = "cache"
"""A broker caches a notification that it did not have."""
FORGET = "forget"
"""A notification leaves a broker's cache, and `detail` says why."""
ANSWER = "answer"
"""A notification reaches a node that asked for what was published before; `detail` is the number of the request."""
OVERLAY = "overlay"
"""The node's neighbours in an overlay network are others; `detail` is what it knows of them, in the agent's words."""
SERVE = "serve"
"""A server answers a request of type `message_type` of `peer`: all that it sends at this instant is the answer."""

LIST_SEPARATOR = " "
"""What stands between the node ids of a list in `detail`."""


def node_list(nodes: Iterable[NodeId]) -> str:
    """The nodes as a row's `detail` lists them."""
    return LIST_SEPARATOR.join(map(str, nodes))
