"""The one name that an author of agents or a reader of results imports; `roambus --help` has the commands.

Agents are written with `Agent` and `on` (docs/reference/agents.md). `results` returns DataFrames
(docs/guide/compare.md):

    import roambus

    results = roambus.results("results/thesis")
    results.points("messages_per_node", against="speed", where={"config": "C16"})
    results.paired("messages_per_node", "mft", "aodv", against="speed")

Your own metric is a function of a `Run` under `metric` (docs/reference/metrics.md). `run` and `sweep` take an agent by
name, file or class:

    results = roambus.sweep("field", agents=["flooding", MyAgent], settings={"nodes": [10, 20]}, seeds=3)

Importing pandas and SciPy takes more than a second, and pytest imports this in every project. So each name is imported
on first use. A module that an agent needs imports neither.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if (Path(__file__).parent / "bridge").is_symlink():
    # In a checkout the parts are loaded from their real folders: breakpoints, coverage and tracebacks name the files
    # that the tree shows. The links are for type checkers.
    __path__.insert(0, str(Path(__file__).resolve().parents[1]))

if Path(sys.argv[0]).name == "roambus" and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    # The command reads all of its modules first, which takes half a second. Ctrl-C then ends it at once and without a
    # word, as there is nothing to be cleaned up; Python would show in what line of an import. `main` takes over.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

if TYPE_CHECKING:  # where each name comes from, for type checkers and for `homes`
    from roambus.bridge.system.errors import AgentError, BackendError, RoambusError, UserError
    from roambus.dataframes import Results, results
    from roambus.experiments.walls import wall_losses
    from roambus.notebook import FinishedRun, run, sweep
    from roambus.paused import PausedRun, paused_run
    from roambus.python_protocol.actions import Action, CancelTimer, Deliver, GoTo, Halt, Note, Send, SetTimer
    from roambus.python_protocol.agent import Agent, Jitter, Listing, Process, Recent, on, on_timer
    from roambus.python_protocol.events import (
        NO_LINK,
        Arrived,
        Attach,
        Crashed,
        Detach,
        Event,
        Overheard,
        Publish,
        Received,
        Recovered,
        Rewired,
        SendFailed,
        Sent,
        Started,
        Stopped,
        Subscribe,
        TimerFired,
        TimerKey,
        Unsubscribe,
    )
    from roambus.python_protocol.filters import Constraint, Filter, Notification, NotificationId, Operator, Value
    from roambus.python_protocol.messages.fields import I64, U8, U16, U32, Integer, LongBytes, LongTuple, Names, bit
    from roambus.python_protocol.messages.message import Message, MessageSet
    from roambus.python_protocol.messages.octets import DecodeError, Reader, Writer
    from roambus.python_protocol.roles import BROADCAST, NodeId, Role
    from roambus.python_protocol.settings import Parameters, parameter
    from roambus.python_protocol.simtime import (
        MICROSECOND,
        MILLISECOND,
        NANOSECOND,
        SECOND,
        SimTime,
        from_seconds,
        to_seconds,
    )
    from roambus.python_protocol.trace_rows import DROP, KEEP, MIGRATE, RELEASE, REPLAY, ROUTE, STORE, node_list
    from roambus.spark.metrics.metric import Kind, Metric, Scale, metric
    from roambus.spark.metrics.run import Run, once

    __version__: str

__all__ = [
    "BROADCAST",
    "DROP",
    "I64",
    "KEEP",
    "MICROSECOND",
    "MIGRATE",
    "MILLISECOND",
    "NANOSECOND",
    "NO_LINK",
    "RELEASE",
    "REPLAY",
    "ROUTE",
    "SECOND",
    "STORE",
    "U8",
    "U16",
    "U32",
    "Action",
    "Agent",
    "AgentError",
    "Arrived",
    "Attach",
    "BackendError",
    "CancelTimer",
    "Constraint",
    "Crashed",
    "DecodeError",
    "Deliver",
    "Detach",
    "Event",
    "Filter",
    "FinishedRun",
    "GoTo",
    "Halt",
    "Integer",
    "Jitter",
    "Kind",
    "Listing",
    "LongBytes",
    "LongTuple",
    "Message",
    "MessageSet",
    "Metric",
    "Names",
    "NodeId",
    "Note",
    "Notification",
    "NotificationId",
    "Operator",
    "Overheard",
    "Parameters",
    "PausedRun",
    "Process",
    "Publish",
    "Reader",
    "Received",
    "Recent",
    "Recovered",
    "Results",
    "Rewired",
    "RoambusError",
    "Role",
    "Run",
    "Scale",
    "Send",
    "SendFailed",
    "Sent",
    "SetTimer",
    "SimTime",
    "Started",
    "Stopped",
    "Subscribe",
    "TimerFired",
    "TimerKey",
    "Unsubscribe",
    "UserError",
    "Value",
    "Writer",
    "__version__",
    "bit",
    "from_seconds",
    "metric",
    "node_list",
    "on",
    "on_timer",
    "once",
    "parameter",
    "paused_run",
    "results",
    "run",
    "sweep",
    "to_seconds",
    "wall_losses",
]


@cache
def homes() -> Mapping[str, str]:
    """Return the module of each name above."""
    import ast

    imports = (node for node in ast.walk(ast.parse(Path(__file__).read_bytes())) if isinstance(node, ast.ImportFrom))
    return {name.name: node.module for node in imports if node.module for name in node.names if name.name in __all__}


def __getattr__(name: str) -> Any:
    """Import a name on first use."""
    if name in __all__ and name in homes():
        value = getattr(import_module(homes()[name]), name)
    elif name == "__version__":
        from importlib.metadata import version

        value = version("roambus")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value  # so that it is looked up once
    return value


def __dir__() -> list[str]:
    """Return the public names, also those not imported yet, for completion."""
    return sorted({*globals(), *__all__})
