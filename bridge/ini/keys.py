"""All keys that a rendered ini may hold, gathered from the modules of the scenario that declare them.

Every key that is in no table here, and is no option by which OMNeT++ reports, is an error: nothing that a user writes
is without a meaning.
"""

from __future__ import annotations

from roambus.bridge.keys.key import Key
from roambus.bridge.scenario import application, channel, ideal, mac, measured, mobility, network, node, radio

SHARED: dict[str, tuple[Key, ...]] = {
    "The run and its network": network.KEYS,
    "The wireless channel": channel.KEYS,
    "Measured links": measured.KEYS,
    "Ideal links": ideal.KEYS,
}
"""The keys that stand once in an ini, by what they are about."""

PER_NODE: dict[str, tuple[Key, ...]] = {
    "Nodes": node.KEYS,
    "The radio": radio.KEYS,
    "The MAC and the routing": mac.KEYS,
    "Mobility": mobility.KEYS,
    "The application": application.KEYS,
}
"""The keys that every node has."""

PER_MANAGER: dict[str, tuple[Key, ...]] = mobility.MANAGER_KEYS
"""The keys that a node has besides, by its mobility manager."""

IGNORED_OPTIONS = frozenset(
    {
        "cmdenv-autoflush",
        "cmdenv-event-banners",
        "cmdenv-express-mode",
        "cmdenv-interactive",
        "cmdenv-log-prefix",
        "cmdenv-output-file",
        "cmdenv-performance-display",
        "cmdenv-redirect-output",
        "cmdenv-status-frequency",
        "cmdenv-stop-batch-on-error",
        "debug-on-errors",
        "description",
        "eventlog-file",
        "experiment-label",
        "fname-append-host",
        "load-libs",
        "measurement-label",
        "ned-path",
        "output-scalar-file",
        "output-scalar-file-append",
        "output-scalar-precision",
        "output-vector-file",
        "output-vector-file-append",
        "output-vector-precision",
        "print-undisposed",
        "record-eventlog",
        "replication-label",
        "result-dir",
        "user-interface",
        "warnings",
    }
)
"""Options of OMNeT++ that say how it reports, not what happens."""

IGNORED_OBJECT_OPTIONS = frozenset(
    {
        "bin-recording",
        "cmdenv-log-level",
        "module-eventlog-recording",
        "param-record-as-scalar",
        "result-recording-modes",
        "scalar-recording",
        "statistic-recording",
        "vector-buffer",
        "vector-record-eventnumbers",
        "vector-recording",
        "vector-recording-intervals",
    }
)
"""Options of OMNeT++ that end a path, such as `**.vector-recording`, and say how it reports."""
