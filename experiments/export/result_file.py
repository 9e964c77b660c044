"""The syntax of OMNeT++'s result files (its simulation manual, appendix "Result File Formats").

Files are of version 2, which OMNeT++ 4 to 6 read. There iteration variables are attributes of the run among others:
whoever reads takes those for iteration variables whose names OMNeT++ itself does not use. An axis of such a name gets a
prefix.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from roambus.bridge.runs.layout import SEED
from roambus.experiments.export.runs import levels
from roambus.spark.aggregation.traces import Trace

NETWORK = "SN"
VERSION = 2

_OMNETPPS_OWN = {
    *("configname", "datetime", "experiment", "inifile", "iterationvars", "iterationvars2", "measurement", "network"),
    *("processid", "repetition", "replication", "resultdir", "runnumber", "seedset"),
}
_AXIS_PREFIX = "axis_"

_ESCAPES = str.maketrans({'"': '\\"', "\\": "\\\\"})


_PLAIN = re.compile(r"[\w.$:+-]+")
"""A word that needs no quotes."""


def quoted(text: str) -> str:
    """The text as one word of a line; what cannot be printed becomes a question mark, for tools pass it on raw."""
    printable = "".join(char if char.isprintable() else "?" for char in text)
    return f'"{printable.translate(_ESCAPES)}"'


def node_module(node: int) -> str:
    """What OMNeT++ calls a node."""
    return f"{NETWORK}.node[{node}]"


def run_header(trace: Trace) -> Iterator[str]:
    """The version, the run and what it is: its place in the sweep, with agent and axes as iteration variables."""
    variables = {
        f"{_AXIS_PREFIX}{name}" if name in _OMNETPPS_OWN else name: value for name, value in levels(trace).items()
    }
    seed = variables.pop(SEED)
    values = ", ".join(f"${name}={value}" for name, value in variables.items())
    yield f"version {VERSION}\n"
    yield f"run {quoted(f'{run_label(trace)}-{trace.key[:12]}')}\n"
    named = {"configname": "General", "experiment": "General", "inifile": "run.ini", "network": NETWORK}
    place = {"iterationvars": values, "iterationvars2": f"{values}, $repetition={seed}", "measurement": values}
    yield from attributes({**named, **place, "replication": f"#{seed}", "repetition": seed, "seedset": seed})
    yield from attributes(variables)
    yield "\n"


def run_label(trace: Trace) -> str:
    """The run's place as one word: what its files are called."""
    return trace.run.replace("/", ",")


def attributes(values: Mapping[str, str]) -> Iterator[str]:
    """Lines that say more of what the line before them declares."""
    for name, value in values.items():
        yield f"attr {name if _PLAIN.fullmatch(name) else quoted(name)} {quoted(value)}\n"
